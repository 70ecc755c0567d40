// SPDX-License-Identifier: Apache-2.0
import CNode

// What keys read, and how their defaults are written in a file.

func readNumber(_ value: SettingValue, _ setting: Setting) throws(NodeError) -> Double {
    let number: Double
    switch value {
    case .number(let given): number = given
    case .integer(let given): number = Double(given)
    default: throw fault(setting, "must be a number")
    }
    guard number.isFinite else { throw fault(setting, "must be a finite number") }
    return try within(setting, number, numberText(number))
}

func readInteger(_ value: SettingValue, _ setting: Setting) throws(NodeError) -> Int {
    guard case .integer(let given) = value else { throw fault(setting, "must be a whole number") }
    _ = try within(setting, Double(given), "\(given)")
    return Int(given)
}

func readFlag(_ value: SettingValue, _ setting: Setting) throws(NodeError) -> Bool {
    guard case .bool(let given) = value else { throw fault(setting, "must be true or false") }
    return given
}

func readText(_ value: SettingValue, _ setting: Setting) throws(NodeError) -> String {
    guard case .string(let given) = value else { throw fault(setting, "must be a text") }
    guard setting.choices.isEmpty || setting.choices.contains(given) else {
        throw fault(setting, "is \"\(shortened(given))\"", hint: "use " + alternatives(setting.choices))
    }
    return given
}

func readTexts(_ value: SettingValue, _ setting: Setting) throws(NodeError) -> [String] {
    let items = if case .list(let items) = value { items } else { [value] }
    var texts: [String] = []
    for item in items {
        guard case .string = item else { throw fault(setting, "must be a text, or a list of them") }
        let text = try readText(item, setting)
        texts.append(text)
    }
    return texts
}

private func within(_ setting: Setting, _ number: Double, _ text: String) throws(NodeError) -> Double {
    guard let range = setting.range, !range.contains(number) else { return number }
    let unit = setting.unit.map { " \($0)" } ?? ""
    let ends = "use \(numberText(range.lowerBound)) to \(numberText(range.upperBound))\(unit)"
    throw fault(setting, "is \(text)", hint: ends)
}

private func fault(_ setting: Setting, _ what: String, hint: String = "") -> NodeError {
    NodeError("\(setting.key) \(what)", hint: hint, key: setting.key)
}

/// "a", "a or b", "a, b or c".
private func alternatives(_ names: [String]) -> String {
    names.count < 2 ? names.joined() : names.dropLast().joined(separator: ", ") + " or " + names[names.count - 1]
}

/// A number as one writes it: whole ones without a point.
func numberText(_ number: Double) -> String {
    Int64(exactly: number).flatMap { abs($0) < 1_000_000_000_000 ? "\($0)" : nil } ?? "\(number)"
}

/// A text as a file has it.
func quoted(_ text: String) -> String {
    "\"" + text.flatMap { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" } + "\""
}

/// A value that is no list and no table, as a file has it.
func literal(_ value: SettingValue) -> String {
    switch value {
    case .bool(let bool): "\(bool)"
    case .integer(let integer): "\(integer)"
    case .number(let number): numberText(number)
    case .string(let text): quoted(text)
    case .list, .table: ""
    }
}

/// The bounds of whole numbers, as a setting has them.
func doubles(_ range: ClosedRange<Int>) -> ClosedRange<Double> {
    Double(range.lowerBound)...Double(range.upperBound)
}
