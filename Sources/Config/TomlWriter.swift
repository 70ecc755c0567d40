// SPDX-License-Identifier: Apache-2.0
import GraphFile
import NodeKit

/// Values as TOML text (toml.io/en/v1.0.0).
enum TomlWriter {
    /// A value as it stands behind "=".
    static func value(_ value: SettingValue) -> String {
        switch value {
        case .bool(let flag): flag ? "true" : "false"
        case .integer(let integer): String(integer)
        case .number(let number): self.number(number)
        case .string(let text): string(text)
        case .list(let items): "[" + items.map(self.value).joined(separator: ", ") + "]"
        case .table(let table):
            table.isEmpty
                ? "{}"
                : "{ "
                    + table.sorted { $0.key < $1.key }.map { "\(key($0.key)) = \(self.value($0.value))" }
                    .joined(separator: ", ") + " }"
        }
    }

    /// A key, in quotes where it needs them.
    static func key(_ text: String) -> String {
        let isBare = !text.isEmpty && text.utf8.allSatisfy { $0 < 0x80 && isNameByte($0) }
        return isBare ? text : string(text)
    }

    /// A basic string.
    static func string(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            case "\r": result += "\\r"
            case _ where scalar.value < 32 || scalar.value == 127:
                let digits = String(scalar.value, radix: 16, uppercase: true)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            // What a file would take for a variable, or for a dollar sign that is none.
            case "$": result += text.contains("${") || text.contains("$$") ? "$$" : "$"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    private static func number(_ number: Double) -> String {
        if number.isNaN { return "nan" }
        if number.isInfinite { return number < 0 ? "-inf" : "inf" }
        return "\(number)"
    }

    /// Links as elements of `links`: what follows one another without a gain is one chain.
    static func links(_ links: [LinkDescription]) -> [String] {
        var elements: [String] = []
        var chain: [String] = []
        func endChain() {
            if !chain.isEmpty { elements.append(string(chain.joined(separator: " -> "))) }
            chain = []
        }
        for link in links {
            let more = link.entries
            if !more.isEmpty {
                endChain()
                let ends: [KeyedEntry] = [("from", .string("\(link.from)")), ("to", .string("\(link.to)"))]
                let fields = (ends + more).map { "\($0.key) = \(value($0.value))" }
                elements.append("{ \(fields.joined(separator: ", ")) }")
            } else if chain.last == "\(link.from)" {
                chain.append("\(link.to)")
            } else {
                endChain()
                chain = ["\(link.from)", "\(link.to)"]
            }
        }
        endChain()
        return elements
    }
}
