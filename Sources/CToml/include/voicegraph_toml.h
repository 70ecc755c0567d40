/* SPDX-License-Identifier: Apache-2.0
 *
 * TOML text as a flat list of nodes with their places. Lines count from 1,
 * columns from 1 in bytes; ends are one past the last byte. Never throws,
 * never crashes, whatever the bytes. [any]
 */
#ifndef VOICEGRAPH_TOML_H
#define VOICEGRAPH_TOML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* VG_TOML_OTHER: dates and times, which graph files have no use for. */
typedef enum vg_toml_kind {
  VG_TOML_BOOL = 0, VG_TOML_INTEGER = 1, VG_TOML_NUMBER = 2, VG_TOML_STRING = 3,
  VG_TOML_LIST = 4, VG_TOML_TABLE = 5, VG_TOML_OTHER = 6
} vg_toml_kind;

typedef struct vg_toml_place {
  uint32_t line, column;
  size_t offset; /* of the byte from the start of the text */
} vg_toml_place;

typedef struct vg_toml_node {
  vg_toml_kind kind;
  int32_t parent;  /* index of the table or list that it is in; -1: the root itself */
  uint32_t first, count; /* the nodes in it stand together, in the order of the file */
  bool boolean;
  bool dotted; /* a table that was only made by a dotted key or header, such as `node` by [node.mic] */
  int64_t integer;
  double number;
  const char *key; /* NULL in lists; may hold NUL bytes, as may `string` */
  size_t key_length;
  const char *string;
  size_t string_length;
  vg_toml_place key_start, key_end, start, end;
} vg_toml_node;

typedef enum vg_toml_failure {
  VG_TOML_FINE = 0, VG_TOML_SYNTAX = 1, VG_TOML_TOO_LARGE = 2, VG_TOML_TOO_DEEP = 3, VG_TOML_NO_MEMORY = 4
} vg_toml_failure;

/* Node 0 is the root table. After a failure there are no nodes. */
typedef struct vg_toml_document {
  const vg_toml_node *nodes;
  uint32_t count;
  vg_toml_failure failure;
  const char *message; /* of VG_TOML_SYNTAX, as the parser words it */
  vg_toml_place place;
} vg_toml_document;

/* Bytes, and tables or lists within one another, that are accepted. */
#define VG_TOML_SIZE_LIMIT ((size_t)16 << 20)
#define VG_TOML_DEPTH_LIMIT 32

/* Parses text of `length` bytes. NULL: no memory. Free with vg_toml_free. */
const vg_toml_document *vg_toml_parse(const char *text, size_t length);
void vg_toml_free(const vg_toml_document *document);

#ifdef __cplusplus
}
#endif
#endif
