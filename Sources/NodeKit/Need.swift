// SPDX-License-Identifier: Apache-2.0

/// Models that nodes of a type use; see `vg_need`.
public struct Need: Sendable, Equatable {
    /// Their names in `voicegraph models list`.
    public var models: [String]
    /// The setting that asks for them.
    public var setting: String
    /// By this value.
    public var value: String
    /// Whether they are used with another value, or none, too, where they are installed.
    public var isBetter: Bool
    /// Whether a node that needs them gets a process of its own, as with `isolate`.
    public var isAlone: Bool

    /// Describes it.
    public init(
        _ models: [String], setting: String = "", value: String = "", better isBetter: Bool = false,
        alone isAlone: Bool = false
    ) {
        self.models = models
        self.setting = setting
        self.value = value
        self.isBetter = isBetter
        self.isAlone = isAlone
    }

    /// Models that a case of a choice asks for.
    public init<Choice: RawRepresentable<String>>(
        _ models: [String], _ key: Key<Choice>, _ choice: Choice, better isBetter: Bool = false,
        alone isAlone: Bool = false
    ) {
        self.init(models, setting: key.name, value: choice.rawValue, better: isBetter, alone: isAlone)
    }

    /// Whether a node needs them; nil: it does not use them. `given`: the setting's value as text; nil: it has none. [any]
    public func isNeeded(_ given: String?) -> Bool? {
        given == value ? true : isBetter && [nil, "auto"].contains(given) ? false : nil
    }
}
