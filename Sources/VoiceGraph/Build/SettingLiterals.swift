// SPDX-License-Identifier: Apache-2.0
import NodeKit

extension SettingValue: ExpressibleByBooleanLiteral {
    /// `true` or `false`.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension SettingValue: ExpressibleByIntegerLiteral {
    /// A whole number.
    public init(integerLiteral value: Int64) { self = .integer(value) }
}

extension SettingValue: ExpressibleByFloatLiteral {
    /// A number.
    public init(floatLiteral value: Double) { self = .number(value) }
}

extension SettingValue: ExpressibleByStringLiteral {
    /// A text.
    public init(stringLiteral value: String) { self = .string(value) }
}

extension SettingValue: ExpressibleByArrayLiteral {
    /// A list.
    public init(arrayLiteral elements: SettingValue...) { self = .list(elements) }
}

extension SettingValue: ExpressibleByDictionaryLiteral {
    /// A table; of two values for a key the later one counts.
    public init(dictionaryLiteral elements: (String, SettingValue)...) {
        self = .table(Dictionary(elements, uniquingKeysWith: { $1 }))
    }
}

/// What the types of nodes are given, as their tables have it; nil: nothing is said.
func said(_ value: Bool?) -> SettingValue? { value.map(SettingValue.bool) }
func said(_ value: Int?) -> SettingValue? { value.map { .integer(Int64($0)) } }
func said(_ value: Double?) -> SettingValue? { value.map(SettingValue.number) }
func said(_ value: String?) -> SettingValue? { value.map(SettingValue.string) }
func said(_ value: [String]?) -> SettingValue? { value.map { .list($0.map(SettingValue.string)) } }
func said(_ value: SettingValue?) -> SettingValue? { value }
func said<Choice: RawRepresentable<String>>(_ value: Choice?) -> SettingValue? {
    value.map { .string($0.rawValue) }
}
