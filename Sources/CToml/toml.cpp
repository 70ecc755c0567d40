// SPDX-License-Identifier: Apache-2.0
#include "voicegraph_toml.h"

#define TOML_EXCEPTIONS 0
// Some assertions of the parser fail on texts that it then refuses properly, so
// that they must neither end the program nor, with NDEBUG, become promises.
#undef NDEBUG
#define TOML_ASSERT(expression) static_assert(true)
#define TOML_MAX_NESTED_VALUES VG_TOML_DEPTH_LIMIT
#include <toml++/toml.h>

#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace {

// The parser counts columns in code points. Places are asked for in the order
// of the file mostly, so that remembering the last answer keeps this linear.
class Places {
public:
  Places(const char *text, size_t length) : text_(text), length_(length) {
    starts_.push_back(0);
    for (size_t i = 0; i < length; i++)
      if (text[i] == '\n') starts_.push_back(i + 1);
    // A byte order mark is no column to the parser.
    if (length >= 3 && std::equal(text, text + 3, "\xEF\xBB\xBF")) starts_[0] = 3;
  }

  vg_toml_place at(const toml::source_position &position) {
    if (position.line == 0) return vg_toml_place{1, 1, 0};
    const size_t line = std::min<size_t>(position.line, starts_.size()) - 1;
    const size_t stop = line + 1 < starts_.size() ? starts_[line + 1] - 1 : length_;
    size_t point = 1, offset = starts_[line];
    if (line == line_ && position.column >= point_) point = point_, offset = offset_;
    while (point < position.column && offset < stop) {
      offset++;
      while (offset < stop && (static_cast<unsigned char>(text_[offset]) & 0xC0) == 0x80) offset++;
      point++;
    }
    line_ = line, point_ = point, offset_ = offset;
    const size_t first = line == 0 ? 0 : starts_[line];
    return vg_toml_place{static_cast<uint32_t>(line + 1), static_cast<uint32_t>(offset - first + 1), offset};
  }

private:
  const char *text_;
  size_t length_;
  std::vector<size_t> starts_;
  size_t line_ = 0, point_ = 1, offset_ = 0;
};

struct Document {
  vg_toml_document c{};
  std::vector<vg_toml_node> nodes;
  std::string message;
  toml::table root;
};

struct Child {
  const toml::key *key;
  const toml::node *value;
  const toml::source_position &place() const { return key ? key->source().begin : value->source().begin; }
};

// A dotted key nests without a bound of the parser's own, and freeing a deep
// tree would end the stack. Finds the first key with too many parts; correct
// for as long as the text is, and the parser stops where it is not.
const char *find_deep_key(const char *text, const char *end) {
  unsigned dots = 0;
  for (const char *p = text; p < end;) {
    const char c = *p;
    if (c == '"' || c == '\'') {
      const bool triple = end - p >= 3 && p[1] == c && p[2] == c;
      p += triple ? 3 : 1;
      while (p < end) {
        if (c == '"' && *p == '\\') {
          p += std::min<ptrdiff_t>(2, end - p);
        } else if (*p == c && (!triple || (end - p >= 3 && p[1] == c && p[2] == c))) {
          p += triple ? 3 : 1;
          // Up to two more quotes may belong to a multi-line string's end.
          while (triple && p < end && *p == c) p++;
          break;
        } else if (!triple && *p == '\n') {
          break;
        } else {
          p++;
        }
      }
      continue;
    }
    if (c == '#') {
      while (p < end && *p != '\n') p++;
      continue;
    }
    if (c == '.') {
      if (++dots > VG_TOML_DEPTH_LIMIT) return p;
    } else if (c == '\n' || c == '=' || c == '[' || c == ']' || c == '{' || c == '}' || c == ',') {
      dots = 0;
    }
    p++;
  }
  return nullptr;
}

void fill(vg_toml_node &out, const toml::node &value) {
  switch (value.type()) {
  case toml::node_type::boolean:
    out.kind = VG_TOML_BOOL;
    out.boolean = value.as_boolean()->get();
    break;
  case toml::node_type::integer:
    out.kind = VG_TOML_INTEGER;
    out.integer = value.as_integer()->get();
    out.number = static_cast<double>(out.integer);
    break;
  case toml::node_type::floating_point:
    out.kind = VG_TOML_NUMBER;
    out.number = value.as_floating_point()->get();
    break;
  case toml::node_type::string:
    out.kind = VG_TOML_STRING;
    out.string = value.as_string()->get().data();
    out.string_length = value.as_string()->get().size();
    break;
  case toml::node_type::array: out.kind = VG_TOML_LIST; break;
  case toml::node_type::table: out.kind = VG_TOML_TABLE; break;
  default: out.kind = VG_TOML_OTHER; break;
  }
}

std::vector<Child> children(const toml::node &value) {
  std::vector<Child> result;
  if (const toml::table *table = value.as_table()) {
    for (auto &&[key, inner] : *table) result.push_back({&key, &inner});
    std::stable_sort(result.begin(), result.end(), [](const Child &a, const Child &b) { return a.place() < b.place(); });
  } else if (const toml::array *array = value.as_array()) {
    for (const toml::node &inner : *array) result.push_back({nullptr, &inner});
  }
  return result;
}

// Breadth first, so that what is in one table stands together.
void flatten(Document &document, Places &places) {
  std::vector<const toml::node *> values{&document.root};
  document.nodes.emplace_back();
  document.nodes[0].parent = -1;
  document.nodes[0].kind = VG_TOML_TABLE;
  for (size_t index = 0; index < document.nodes.size(); index++) {
    const std::vector<Child> inner = children(*values[index]);
    document.nodes[index].first = static_cast<uint32_t>(document.nodes.size());
    document.nodes[index].count = static_cast<uint32_t>(inner.size());
    for (const Child &child : inner) {
      vg_toml_node out{};
      out.parent = static_cast<int32_t>(index);
      if (child.key) {
        out.key = child.key->str().data();
        out.key_length = child.key->str().size();
        out.key_start = places.at(child.key->source().begin);
        out.key_end = places.at(child.key->source().end);
      }
      fill(out, *child.value);
      out.start = places.at(child.value->source().begin);
      out.end = places.at(child.value->source().end);
      out.dotted = child.key && child.value->is_table() && child.value->source().begin == child.key->source().begin;
      document.nodes.push_back(out);
      values.push_back(child.value);
    }
  }
}

vg_toml_place place_of(const char *text, const char *spot) {
  vg_toml_place place{1, 1, static_cast<size_t>(spot - text)};
  for (const char *p = text; p < spot; p++) {
    if (*p == '\n') place.line++, place.column = 1;
    else place.column++;
  }
  return place;
}

void parse(Document &document, const char *text, size_t length) {
  vg_toml_document &c = document.c;
  if (length > VG_TOML_SIZE_LIMIT) {
    c.failure = VG_TOML_TOO_LARGE;
    c.place = vg_toml_place{1, 1, 0};
    return;
  }
  if (const char *spot = find_deep_key(text, text + length)) {
    c.failure = VG_TOML_TOO_DEEP;
    c.place = place_of(text, spot);
    return;
  }
  toml::parse_result result = toml::parse(std::string_view(text, length));
  Places places(text, length);
  if (!result) {
    c.failure = VG_TOML_SYNTAX;
    document.message = std::string(result.error().description());
    c.message = document.message.c_str();
    c.place = places.at(result.error().source().begin);
    return;
  }
  document.root = std::move(result).table();
  flatten(document, places);
  c.nodes = document.nodes.data();
  c.count = static_cast<uint32_t>(document.nodes.size());
}

} // namespace

const vg_toml_document *vg_toml_parse(const char *text, size_t length) {
  auto document = std::unique_ptr<Document>(new (std::nothrow) Document);
  if (!document) return nullptr;
  try {
    parse(*document, text, length);
  } catch (...) { // only memory can run out
    document->c = vg_toml_document{};
    document->c.failure = VG_TOML_NO_MEMORY;
  }
  // `c` is the first member, so that the pointer leads back to the whole.
  return &document.release()->c;
}

void vg_toml_free(const vg_toml_document *document) {
  delete reinterpret_cast<const Document *>(document);
}
