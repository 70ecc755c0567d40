// SPDX-License-Identifier: Apache-2.0
import JSON
import NodeKit

/// What endpoints and those before them say of why they do not answer, in the forms of OpenAI, vLLM, FastAPI, Gemini, Ollama
/// and others, as plain text, or as a page.
enum ChatError {
    /// Letters that are told.
    private static let most = 200

    /// The reason in a body; nil: it says none.
    static func reason(in body: [UInt8]) -> String? {
        let text = trimmed(String(decoding: body, as: UTF8.self))
        if let object = try? JSON(body) { return reason(in: object).map(shown) }
        if text.hasPrefix("<") { return title(of: text).map(shown) }
        // Half of an object says nothing to people.
        if text.isEmpty || text.hasPrefix("{") || text.hasPrefix("[") { return nil }
        return shown(text)
    }

    /// The reason in an object that is no answer.
    static func reason(in object: JSON) -> String? { words(object).map(shown) }

    /// What an object says of an error that it is about; nil: it is about none.
    static func error(in object: JSON) -> String? {
        guard let error = object["error"], error != .null else { return nil }
        return shown(words(error) ?? error.text)
    }

    /// Where words for people stand, in this order.
    private static let keys = [
        "error", "message", "detail", "details", "error_description", "msg", "errors", "reason", "title",
        "error_message",
    ]

    private static func words(_ json: JSON, depth: Int = 0) -> String? {
        if depth > 4 { return nil }
        switch json {
        case .string(let text): return trimmed(text).isEmpty ? nil : text
        case .list(let items):
            let all = items.prefix(3).compactMap { words($0, depth: depth + 1) }
            return all.isEmpty ? nil : all.joined(separator: "; ")
        case .object:
            for key in keys {
                guard let value = json[key], let found = words(value, depth: depth + 1) else { continue }
                // FastAPI says of which field that is.
                let place = (json["loc"]?.items ?? []).map { $0.string ?? $0.text }
                return place.isEmpty ? found : "\(place.joined(separator: ".")): \(found)"
            }
            return nil
        default: return nil
        }
    }

    /// The title of a page, or its first heading.
    private static func title(of page: String) -> String? {
        let letters = Array(page.prefix(4096))
        let small = letters.map { $0.lowercased().first ?? " " }
        for name in ["title", "h1"] {
            guard let start = place(of: Array("<\(name)"), in: small, from: 0),
                let open = small[start...].firstIndex(of: ">"),
                let end = place(of: Array("</\(name)"), in: small, from: open)
            else { continue }
            var text = ""
            var isTag = false
            for letter in letters[(open + 1)..<end] {
                if letter == "<" { isTag = true }
                if !isTag { text.append(letter) }
                if letter == ">" { isTag = false }
            }
            if !trimmed(text).isEmpty { return text }
        }
        return nil
    }

    private static func place(of word: [Character], in text: [Character], from start: Int) -> Int? {
        guard text.count >= word.count, start <= text.count - word.count else { return nil }
        return (start...(text.count - word.count)).first { text[$0..<$0 + word.count].elementsEqual(word) }
    }

    /// In one line, and not too long.
    private static func shown(_ text: String) -> String {
        let line = text.unicodeScalars.split { $0.properties.isWhitespace || $0.value < 32 || $0 == "\u{FFFD}" }
            .map { String($0) }.joined(separator: " ")
        return line.count <= most ? line : line.prefix(most - 3) + "..."
    }
}
