// SPDX-License-Identifier: Apache-2.0

/// What a request is about: a path, and what is asked of it.
struct Target: Equatable {
    /// From the first '/', decoded.
    var path: String
    /// In the order of the text; a key may stand several times.
    var query: [(key: String, value: String)] = []

    /// Reads the target of a request in origin form (RFC 9112, 3.2.1); nil: it is none, or holds what no path has.
    init?(_ uri: String) {
        guard uri.hasPrefix("/"), uri.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else { return nil }
        let parts = uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let path = Self.decoded(parts[0], plusIsSpace: false),
            !path.unicodeScalars.contains(where: { $0.value < 32 || $0.value == 127 || $0 == "\\" }),
            !path.split(separator: "/").contains(where: { $0 == "." || $0 == ".." })
        else { return nil }
        self.path = path
        guard parts.count > 1 else { return }
        for item in parts[1].split(separator: "&") {
            let pair = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let key = Self.decoded(pair[0], plusIsSpace: true),
                let value = Self.decoded(pair.count > 1 ? pair[1] : "", plusIsSpace: true)
            else { return nil }
            query.append((key, value))
        }
    }

    /// What stands under a key first.
    subscript(key: String) -> String? { query.first { $0.key == key }?.value }

    static func == (one: Target, other: Target) -> Bool {
        one.path == other.path && one.query.elementsEqual(other.query) { $0 == $1 }
    }

    /// Percent encoding undone (RFC 3986, 2.1); nil: it is broken, or no UTF-8.
    private static func decoded(_ text: Substring, plusIsSpace: Bool) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard rest.count >= 2, let value = UInt8(String(rest.prefix(2)) ?? "", radix: 16) else { return nil }
                rest = rest.dropFirst(2)
                bytes.append(value)
            } else {
                bytes.append(plusIsSpace && byte == UInt8(ascii: "+") ? 32 : byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
