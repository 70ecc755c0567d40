// SPDX-License-Identifier: Apache-2.0
import CNode

/// What says what a file or a call may give under a name: `Setting` itself, or a `Key` that it is read by as well.
public protocol SettingDeclaration: Sendable {
    /// What it is checked against.
    var setting: Setting { get }
}

extension Setting: SettingDeclaration {
    /// Itself.
    public var setting: Setting { self }
}

/// A setting, or an argument of an action, declared once: its name, default and range stand here and nowhere else.
///
///     static let tail = Key.number("tail_ms", "how long an echo lasts", default: 250, in: 20...1000, unit: "ms")
///
/// stands among the descriptor's `settings`, and is read by `try settings[Self.tail]`.
public struct Key<Value: Sendable>: SettingDeclaration {
    /// What files and calls are checked against.
    public var setting: Setting
    /// What is read where nothing is given; nil: it has to be given.
    private let usual: Value?
    private let read: @Sendable (SettingValue, Setting) throws(NodeError) -> Value

    init(
        _ setting: Setting, usual: Value?,
        _ read: @escaping @Sendable (SettingValue, Setting) throws(NodeError) -> Value
    ) {
        self.setting = setting
        self.usual = usual
        self.read = read
    }

    /// The name.
    public var name: String { setting.key }

    /// What `value` stands for; nil: nothing is given. It is checked though a host has done so: not every host reads files.
    public func value(of value: SettingValue?) throws(NodeError) -> Value {
        if let value { return try read(value, setting) }
        guard let usual else { throw NodeError("\(name) is missing", key: name) }
        return usual
    }

    /// The same, as one that has to be given.
    public func required<Wrapped>() -> Key<Wrapped> where Value == Wrapped? {
        var setting = setting
        setting.required = true
        return Key<Wrapped>(setting, usual: nil) { [read] value, setting throws(NodeError) in
            guard let value = try read(value, setting) else {
                throw NodeError("\(setting.key) is missing", key: setting.key)
            }
            return value
        }
    }

    /// The same, as another node says what it is for.
    public func described(_ doc: String) -> Key {
        var key = self
        key.setting.doc = doc
        return key
    }

    /// The same, as one that may be left out: of a setting, what an action takes in its place.
    public func optional() -> Key<Value?> {
        var setting = setting
        setting.required = false
        setting.defaultText = nil
        setting.isLive = false
        return Key<Value?>(setting, usual: .some(nil)) { [read] value, setting throws(NodeError) in
            try read(value, setting)
        }
    }
}

extension Settings {
    /// What is given under a key, or its default. Throws where it is nothing that the key allows, or is missing.
    public subscript<Value>(key: Key<Value>) -> Value {
        get throws(NodeError) { try key.value(of: values[key.name]) }
    }

    /// Whether something is given under a key.
    public func gives(_ key: some SettingDeclaration) -> Bool { values[key.setting.key] != nil }
}

extension Key where Value == Double {
    /// A number within `range`; nil: any that is finite.
    public static func number(
        _ name: String, _ doc: String, default usual: Double, in range: ClosedRange<Double>? = nil, unit: String? = nil,
        live isLive: Bool = false
    ) -> Key {
        let setting = Setting(
            name, VG_SET_NUMBER, doc, default: numberText(usual), range: range, unit: unit, live: isLive)
        return Key(setting, usual: usual, readNumber)
    }
}

extension Key where Value == Double? {
    /// A number within `range` that may be left out; nil: any that is finite.
    public static func number(
        _ name: String, _ doc: String, in range: ClosedRange<Double>? = nil, unit: String? = nil,
        live isLive: Bool = false
    ) -> Key {
        let setting = Setting(name, VG_SET_NUMBER, doc, range: range, unit: unit, live: isLive)
        return Key(setting, usual: .some(nil)) { value, setting throws(NodeError) in try readNumber(value, setting) }
    }
}

extension Key where Value == Int {
    /// A whole number within `range`; nil: any.
    public static func integer(
        _ name: String, _ doc: String, default usual: Int, in range: ClosedRange<Int>? = nil, unit: String? = nil,
        live isLive: Bool = false
    ) -> Key {
        let setting = Setting(
            name, VG_SET_INTEGER, doc, default: "\(usual)", range: range.map(doubles), unit: unit, live: isLive)
        return Key(setting, usual: usual, readInteger)
    }
}

extension Key where Value == Int? {
    /// A whole number within `range` that may be left out; nil: any.
    public static func integer(
        _ name: String, _ doc: String, in range: ClosedRange<Int>? = nil, unit: String? = nil,
        live isLive: Bool = false,
        names reach: Setting.Reach? = nil
    ) -> Key {
        let setting = Setting(
            name, VG_SET_INTEGER, doc, range: range.map(doubles), unit: unit, live: isLive, names: reach)
        return Key(setting, usual: .some(nil)) { value, setting throws(NodeError) in try readInteger(value, setting) }
    }
}

extension Key where Value == Bool {
    /// True or false.
    public static func flag(_ name: String, _ doc: String, default usual: Bool, live isLive: Bool = false) -> Key {
        Key(Setting(name, VG_SET_BOOL, doc, default: "\(usual)", live: isLive), usual: usual, readFlag)
    }
}

extension Key where Value == Bool? {
    /// True or false, or neither.
    public static func flag(_ name: String, _ doc: String, live isLive: Bool = false) -> Key {
        Key(Setting(name, VG_SET_BOOL, doc, live: isLive), usual: .some(nil)) { value, setting throws(NodeError) in
            try readFlag(value, setting)
        }
    }
}

extension Key where Value == String {
    /// A text, one of `choices` if there are any.
    public static func text(
        _ name: String, _ doc: String, default usual: String, choices: [String] = [], live isLive: Bool = false,
        names reach: Setting.Reach? = nil
    ) -> Key {
        let setting = Setting(
            name, VG_SET_STRING, doc, default: quoted(usual), choices: choices, live: isLive,
            names: reach)
        return Key(setting, usual: usual, readText)
    }
}

extension Key where Value == String? {
    /// A text that may be left out, one of `choices` if there are any.
    public static func text(
        _ name: String, _ doc: String, choices: [String] = [], live isLive: Bool = false,
        names reach: Setting.Reach? = nil
    ) -> Key {
        let setting = Setting(name, VG_SET_STRING, doc, choices: choices, live: isLive, names: reach)
        return Key(setting, usual: .some(nil)) { value, setting throws(NodeError) in try readText(value, setting) }
    }

    /// A file or folder, by its path from the graph's folder, that may be left out.
    public static func path(_ name: String, _ doc: String) -> Key {
        Key(Setting(name, VG_SET_PATH, doc), usual: .some(nil)) { value, setting throws(NodeError) in
            try readText(value, setting)
        }
    }
}

extension Key where Value == [String] {
    /// Texts, of `choices` if there are any; a single one counts as a list of one. Without `default`, none.
    public static func texts(
        _ name: String, _ doc: String, default usual: [String]? = nil, choices: [String] = [],
        names reach: Setting.Reach? = nil
    ) -> Key {
        let setting = Setting(
            name, VG_SET_STRINGS, doc, default: usual.map { "[" + $0.map(quoted).joined(separator: ", ") + "]" },
            choices: choices, names: reach)
        return Key(setting, usual: usual ?? [], readTexts)
    }

    /// The same, at least one of them.
    public static func someTexts(_ name: String, _ doc: String, names reach: Setting.Reach? = nil) -> Key {
        Key(Setting(name, VG_SET_STRINGS, doc, required: true, names: reach), usual: nil, readTexts)
    }
}

extension Key where Value: RawRepresentable<String> & CaseIterable {
    /// One of the cases of an enumeration, by the text that stands for it.
    public static func choice(
        _ name: String, _ doc: String, default usual: Value, live isLive: Bool = false
    ) -> Key {
        let setting = Setting(
            name, VG_SET_STRING, doc, default: quoted(usual.rawValue),
            choices: Value.allCases.map(\.rawValue), live: isLive)
        return Key(setting, usual: usual) { value, setting throws(NodeError) in
            // It is among the choices, which are those of the cases.
            Value(rawValue: try readText(value, setting))!
        }
    }
}

extension Key {
    /// The same without a usual one.
    public static func choice<Choice>(_ name: String, _ doc: String) -> Key
    where Value == Choice?, Choice: RawRepresentable<String> & CaseIterable {
        let setting = Setting(name, VG_SET_STRING, doc, choices: Choice.allCases.map(\.rawValue))
        return Key(setting, usual: .some(nil)) { value, setting throws(NodeError) in
            Choice(rawValue: try readText(value, setting))
        }
    }
}

extension Key where Value == SettingValue? {
    /// Whatever can be written, for what the node checks itself.
    public static func value(
        _ name: String, _ doc: String, default usual: SettingValue? = nil, choices: [String] = [],
        live isLive: Bool = false, names reach: Setting.Reach? = nil
    ) -> Key {
        let setting = Setting(
            name, VG_SET_VALUE, doc, default: usual.map(literal), choices: choices, live: isLive, names: reach)
        return Key(setting, usual: .some(usual)) { value, _ throws(NodeError) in value }
    }
}
