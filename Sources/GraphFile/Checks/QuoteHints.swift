// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit

/// A hint for something that was written in quotes, or as another kind of value, where a key wants a number, true or
/// false. What it says to write is accepted: it never leads to a hint that says the opposite.
package func unquote(_ entry: Entry, _ wanted: WantedKind, unit: String = "") -> String {
    if let variable = entry.variable {
        return "give the variable \(variable.name) another value, or the file another default"
    }
    if wanted == .boolean, let truth = truth(entry.value) { return "write \(truth)" }
    guard case .string(let string) = entry.value else { return "" }
    if let value = plainValue(string), wanted.accepts(value) { return "write it without quotes: \(text(value))" }
    guard wanted != .boolean, let (number, suffix) = numberWithUnit(string) else { return "" }
    let known = unit.isEmpty ? "" : ", in \(unit)"
    guard suffix.lowercased() == unit.lowercased(), wanted.accepts(number) else {
        if suffix == "%", unit == "dB", let percent = number.number, percent > 0 {
            let decibels = (200 * log10(percent / 100)).rounded() / 10
            return "\(text(number)) % of full scale are \(text(decibels)) dB"
        }
        return "write a number alone\(known)"
    }
    return "write the number alone\(known): \(text(number))"
}

/// A hint for text that was written without quotes. With `choices` only these are accepted.
func quote(_ entry: Entry, choices: [String] = []) -> String {
    let written: String
    switch entry.value {
    case .integer(let integer): written = "\(integer)"
    case .number(let number): written = text(number)
    case .bool(let bool): written = "\(bool)"
    default: return listing(choices)
    }
    return choices.isEmpty || choices.contains(written) ? "write it in quotes: \"\(written)\"" : listing(choices)
}

/// A number, true or false, as a file has them without quotes.
private func text(_ value: SettingValue) -> String {
    switch value {
    case .bool(let bool): "\(bool)"
    case .integer(let integer): "\(integer)"
    case .number(let number): text(number)
    default: ""
    }
}

extension SettingValue {
    /// A number, whole or not.
    package var number: Double? {
        switch self {
        case .integer(let integer): Double(integer)
        case .number(let number): number
        default: nil
        }
    }
}

/// What people write for true and false.
private func truth(_ value: SettingValue) -> Bool? {
    switch value {
    case .integer(0), .number(0): return false
    case .integer(1), .number(1): return true
    case .string(let string):
        let word = string.lowercased()
        // These two are right but for the quotes, which is another hint.
        if ["true", "false"].contains(string) { return nil }
        if ["yes", "on", "1", "true"].contains(word) { return true }
        return ["no", "off", "0", "false"].contains(word) ? false : nil
    default: return nil
    }
}

/// The number, true or false that a text shows, also with a comma or a typographic minus.
private func plainValue(_ string: String) -> SettingValue? {
    let string = trimmed(string)
    if string == "true" || string == "false" { return .bool(string == "true") }
    var plain = String(string.map { $0 == "\u{2212}" || $0 == "\u{2013}" ? "-" : $0 })
    if plain.count(where: { $0 == "," }) == 1, !plain.contains(".") { plain.replace(",", with: ".") }
    guard plain.utf8.allSatisfy({ (48...57).contains($0) || "+-.eE".utf8.contains($0) }) else { return nil }
    if let integer = Int64(plain) { return .integer(integer) }
    guard let number = Double(plain), number.isFinite else { return nil }
    return .number(number)
}

/// "-6 dB" in its two parts.
private func numberWithUnit(_ string: String) -> (SettingValue, String)? {
    let string = trimmed(string)
    let end = string.firstIndex { $0.isLetter && !"eE".contains($0) || $0 == "%" || $0 == " " } ?? string.endIndex
    guard let number = plainValue(String(string[..<end])) else { return nil }
    if case .bool = number { return nil }
    return (number, trimmed(string[end...]))
}
