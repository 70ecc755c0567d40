// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What a key of a table takes: how the reference tells it, how it is read, and how it is written.
public struct TableValue<Value: Sendable & Equatable>: Sendable {
    /// Kind, range, unit and choices of a key that takes it.
    private let setting: Setting
    private let take: @Sendable (Entry, _ key: String) throws(Fault) -> Value
    let write: @Sendable (Value) -> SettingValue
    /// A second value with the first, as an including file has it with what it includes.
    let join: @Sendable (Value, Value) -> Value

    /// A value that `read` makes of an entry; `choices` are told as the file has them.
    public init(
        _ kind: vg_setting_kind, range: ClosedRange<Int>? = nil, unit: String? = nil, choices: [String] = [],
        write: @escaping @Sendable (Value) -> SettingValue,
        join: @escaping @Sendable (Value, Value) -> Value = { $1 },
        read: @escaping @Sendable (Entry, _ key: String) throws(Fault) -> Value
    ) {
        let numbers = range.map { Double($0.lowerBound)...Double($0.upperBound) }
        setting = Setting("", kind, "", range: numbers, unit: unit, choices: choices)
        (take, self.write, self.join) = (read, write, join)
    }

    /// Passes what an entry says to `set`; nil: done.
    package func read(_ entry: Entry, _ key: String, _ set: (Value) -> Void) -> Fault? {
        do throws(Fault) { set(try take(entry, key)) } catch { return error }
        return nil
    }

    /// What is told of a key that takes it.
    func setting(_ key: String, _ doc: String, default usual: String?) -> Setting {
        var setting = setting
        (setting.key, setting.doc, setting.defaultText) = (key, doc, usual)
        return setting
    }

    /// A value as a file has it; nil: it is no single one.
    func text(_ value: Value) -> String? {
        switch write(value) {
        case .bool(let flag): "\(flag)"
        case .integer(let number): "\(number)"
        case .number(let number): GraphFile.text(number)
        case .string(let text): "\"\(text)\""
        default: nil
        }
    }
}

extension TableValue where Value == Bool {
    /// True or false; `hint` is said of what is neither.
    public static func flag(hint: String = "") -> TableValue {
        TableValue(VG_SET_BOOL, write: SettingValue.bool) { entry, key throws(Fault) in
            if case .bool(let flag) = entry.reading { return flag }
            let unquoted = unquote(entry, .boolean)
            throw Fault("'\(key)' must be true or false, \(entry.mismatch)", hint: unquoted.isEmpty ? hint : unquoted)
        }
    }
}

extension TableValue where Value == Int {
    /// A whole number within `range`, in `unit`; what is counted has none, and is named where a number is refused.
    public static func whole(
        in range: ClosedRange<Int>, unit: String? = nil, counting things: String? = nil
    ) -> TableValue {
        TableValue(VG_SET_INTEGER, range: range, unit: unit, write: { .integer(Int64($0)) }) {
            entry, key throws(Fault) in
            if case .integer(let number) = entry.reading, range.contains(Int(clamping: number)) { return Int(number) }
            let isQuoted = if case .string = entry.value { entry.variable == nil } else { false }
            let measure = (unit ?? things).map { ", in \($0)" } ?? ""
            throw Fault(
                "'\(key)' cannot be \(entry.reading.literal)" + entry.origin,
                hint: "write a whole number from \(range.lowerBound) to \(range.upperBound)"
                    + (isQuoted ? " without quotes" : "") + measure)
        }
    }
}

extension TableValue where Value == String {
    /// A text that `fits`; `what` says what it must be, as in "a name".
    public static func text(
        _ what: String, hint: String, where fits: @escaping @Sendable (String) -> Bool
    ) -> TableValue {
        TableValue(VG_SET_STRING, write: SettingValue.string) { entry, key throws(Fault) in
            if case .string(let text) = entry.value, fits(text) { return text }
            throw Fault("'\(key)' must be \(what), \(entry.refusal)", hint: hint)
        }
    }

    /// The path of a file; `what` says which, as in "the path of an image".
    public static func path(_ what: String, hint: String) -> TableValue {
        text(what, hint: hint) { !$0.isEmpty && !$0.utf8.contains(0) }
    }

    /// One of some words.
    public static func choice(_ choices: [String]) -> TableValue {
        TableValue(VG_SET_STRING, choices: choices, write: SettingValue.string) { entry, key throws(Fault) in
            try entry.choice(of: choices, key)
        }
    }
}

extension Entry {
    /// The one of some words that it is.
    fileprivate func choice(of words: [String], _ key: String, hint: String = "") throws(Fault) -> String {
        let given = if case .string(let text) = value { text } else { "" }
        if words.contains(given) { return given }
        let quoted = words.map { "\"\($0)\"" }
        var suggester = Suggester()
        throw Fault(
            "'\(key)' must be \(enumerated(quoted, "or")), \(refusal)",
            hint: suggester.hint(given, among: words, otherwise: hint))
    }
}

extension TableValue where Value: RawRepresentable<String> & CaseIterable {
    /// One of the cases of an enumeration; `hint` is said of what is none and like none.
    public static func choice(hint: String) -> TableValue {
        let names = Value.allCases.map(\.rawValue)
        return TableValue(VG_SET_STRING, choices: names, write: { .string($0.rawValue) }) {
            entry, key throws(Fault) in
            // Each of the names is that of a case.
            Value(rawValue: try entry.choice(of: names, key, hint: hint))!
        }
    }

    /// One of the cases of an enumeration; `what` says what each is, as in "driver".
    public static func choice(of what: String) -> TableValue {
        let names = Value.allCases.map(\.rawValue)
        return TableValue(VG_SET_STRING, choices: names, write: { .string($0.rawValue) }) {
            entry, key throws(Fault) in
            let all = "one of \(names.joined(separator: ", "))"
            guard case .string(let text) = entry.value else {
                throw Fault("'\(key)' must be a string", hint: all)
            }
            if let value = Value(rawValue: text) { return value }
            var suggester = Suggester()
            throw Fault(
                "there is no \(what) '\(shortened(text))'",
                hint: suggester.hint(text, among: names, otherwise: all))
        }
    }
}

extension TableValue where Value == [String] {
    /// At most a hundred texts that each fit, or one alone; `what` says what they must be, as in "host names".
    public static func texts(
        _ what: String, hint: String, where fits: @escaping @Sendable (String) -> Bool
    ) -> TableValue {
        TableValue(VG_SET_STRINGS, write: { .list($0.map(SettingValue.string)) }) { entry, key throws(Fault) in
            let items = if case .list(let items) = entry.value { items } else { [entry.value] }
            let texts = items.compactMap { if case .string(let text) = $0, fits(text) { text } else { nil } }
            if texts.count == items.count, texts.count <= 100 { return texts }
            throw Fault("'\(key)' must be a list of \(what)", hint: hint)
        }
    }
}

extension TableValue where Value == Double {
    /// A number within `range`, in `unit`; `hint` is said of what is outside of it.
    public static func number(in range: ClosedRange<Int>, unit: String, hint: String) -> TableValue {
        TableValue(VG_SET_NUMBER, range: range, unit: unit, write: SettingValue.number) { entry, key throws(Fault) in
            guard let number = entry.reading.number else {
                throw Fault("'\(key)' must be a number, \(entry.mismatch)", hint: unquote(entry, .number, unit: unit))
            }
            guard number >= Double(range.lowerBound), number <= Double(range.upperBound) else {
                throw Fault(
                    "'\(key)' must be a number between \(range.lowerBound) and \(range.upperBound)", hint: hint)
            }
            return number
        }
    }
}

extension Entry {
    /// What is said of a value that is refused: "not 'word'", "not a whole number", or what the variable says.
    var refusal: String {
        guard variable == nil, case .string(let text) = value else { return mismatch }
        return "not '\(shortened(text))'"
    }

    /// After a value that is refused: the variable that it came from.
    var origin: String { variable.map { ", which ${\($0.name)} stands for" } ?? "" }
}

extension SettingValue {
    /// A value that is refused, as it was written.
    fileprivate var literal: String {
        switch self {
        case .integer(let number): "\(number)"
        case .number(let number): "\(number)"
        case .string(let text): "'\(shortened(text))'"
        case .bool(let value): "\(value)"
        case .list: "a list"
        case .table: "a table"
        }
    }
}
