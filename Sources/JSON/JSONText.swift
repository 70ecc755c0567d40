// SPDX-License-Identifier: Apache-2.0

/// JSON as text, for lines that other programs read.
public enum JSONText {
    /// A string in quotes. Characters that some readers of lines or terminals take for more than text are escaped too.
    public static func string(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            default:
                let value = scalar.value
                if value < 32 || (0x7F...0x9F).contains(value) || value == 0x2028 || value == 0x2029 {
                    let hex = String(value, radix: 16)
                    result += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
                } else {
                    result.unicodeScalars.append(scalar)
                }
            }
        }
        return result + "\""
    }

    /// An object of fields whose values are JSON already, in this order.
    public static func object(_ fields: [(String, String)]) -> String {
        "{" + fields.map { string($0.0) + ":" + $0.1 }.joined(separator: ",") + "}"
    }

    /// A number: the shortest text that reads back as the same, whole numbers without a fraction; null if JSON cannot
    /// hold it. `text` is the number's own description where it came from another type.
    public static func number(_ value: Double, _ text: String? = nil) -> String {
        guard value.isFinite else { return "null" }
        let text = text ?? value.description
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}
