// SPDX-License-Identifier: Apache-2.0
import CToml
import Graph
import NodeKit

extension WebDescription {
    /// Sets what stands behind a key; nil: done.
    mutating func set(_ key: String, _ entry: Entry) -> DriverDescription.Fault? {
        let value = entry.value
        switch (key, ["read_only", "remote", "trust"].contains(key) ? entry.reading : value) {
        case ("listen", .string(let text)) where ListenAddress(text) != nil: listen = text
        case ("listen", .integer(let port)) where (0...65535).contains(port): listen = String(port)
        case ("listen", _):
            return .init(
                message: "'listen' must be an address", hint: "write \(ListenAddress.usage)")
        case ("read_only", .bool(let flag)): isReadOnly = flag
        case ("remote", .bool(let flag)): allowsRemote = flag
        case ("trust", .bool(let flag)): isTrusted = flag
        case ("read_only", _), ("remote", _), ("trust", _):
            return .init(
                message: "'\(key)' must be true or false, \(entry.mismatch)", hint: unquote(entry, .boolean))
        case ("origins", _):
            guard let texts = Self.texts(value), texts.allSatisfy(Self.isOrigin) else {
                return .init(
                    message: "'origins' must be a list of origins",
                    hint: "scheme, host and port, without a path: [\"https://example.org\"]")
            }
            origins = texts
        case ("names", _):
            guard let texts = Self.texts(value), texts.allSatisfy(Self.isName) else {
                return .init(
                    message: "'names' must be a list of host names", hint: "for example [\"voice.example.org\"]")
            }
            names = texts
        case ("actions", _):
            guard let texts = Self.texts(value), texts.allSatisfy({ $0.contains(".") && !$0.utf8.contains(0) }) else {
                return .init(
                    message: "'actions' must be a list of actions",
                    hint: "as NODE.ACTION: [\"take.start\", \"voice.*\"]")
            }
            actions = texts
        case ("tokens", .string(let path)) where !path.isEmpty && !path.utf8.contains(0): tokens = path
        case ("tokens", _):
            return .init(message: "'tokens' must be the path of a file", hint: "it is made if it is not there")
        case ("texts", .table(let table)):
            for (word, value) in table {
                guard case .string(let text) = value, text.utf8.count <= 1000 else {
                    return .init(message: "'\(word)' of 'texts' must be a text", hint: "of at most 1000 bytes")
                }
                texts[word] = text
            }
        case ("texts", _):
            return .init(message: "'texts' must be a table of texts", hint: "{ start = \"Ask me\" }")
        case ("theme", .string(let name)) where Self.themes.contains(name): theme = name
        case ("state", .string(let name)) where Self.states.contains(name): state = name
        case ("theme", _), ("state", _):
            let choices = key == "theme" ? Self.themes : Self.states
            let given = if case .string(let text) = value { text } else { "" }
            return .init(
                message: "'\(key)' must be \(choices.dropLast().joined(separator: ", ")) or \(choices.last ?? "")",
                hint: didYouMean(given, among: choices))
        case ("logo", .string(let path)) where !path.isEmpty && !path.utf8.contains(0): logo = path
        case ("logo", _):
            return .init(message: "'logo' must be the path of an image", hint: "SVG, PNG, JPEG or WebP")
        default:
            return FileTable.web.fault(of: key)
        }
        return nil
    }

    private static func texts(_ value: SettingValue) -> [String]? {
        switch value {
        case .string(let text): return [text]
        case .list(let items):
            let texts = items.compactMap { if case .string(let text) = $0 { text } else { nil } }
            return texts.count == items.count && texts.count <= 100 ? texts : nil
        default: return nil
        }
    }

    /// Scheme and host, perhaps a port (rfc-editor.org/rfc/rfc6454, 6.2).
    private static func isOrigin(_ text: String) -> Bool {
        guard let scheme = ["https://", "http://"].first(where: text.hasPrefix) else { return false }
        let parts = text.dropFirst(scheme.count).split(separator: ":", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), isName(String(parts[0])) else { return false }
        return parts.count == 1 || UInt16(parts[1]) != nil
    }

    private static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 253
            && text.utf8.allSatisfy { (48...57).contains($0) || (97...122).contains($0 | 32) || $0 == 45 || $0 == 46 }
    }
}

extension GraphReader {
    /// That the table is there is enough for the graph to be shown.
    mutating func readWeb(_ web: TomlDocument.Node, _ document: TomlDocument) {
        guard web.kind == VG_TOML_TABLE else {
            return report(
                "'web' must be a table", at: document.keyLocation(web), hint: "write [web] on a line of its own")
        }
        var described = description.web ?? WebDescription()
        for item in document.children(web) {
            let key = document.key(item)
            guard let entry = under(key, { $0.value(item, document) }) else { continue }
            if let fault = described.set(key, entry) {
                let isKnown = FileTable.web.keys.contains(key)
                report(fault.message, at: isKnown ? entry.valueLocation : entry.keyLocation, hint: fault.hint)
            }
        }
        description.web = described
    }
}
