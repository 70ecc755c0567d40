// SPDX-License-Identifier: Apache-2.0
import CNode

/// A setting's value as the file gives it.
public enum SettingValue: Sendable, Equatable {
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case list([SettingValue])
    case table([String: SettingValue])

    /// Copies a C value.
    public init(_ value: vg_value) {
        let items = UnsafeBufferPointer(start: value.items, count: value.items == nil ? 0 : Int(value.count))
        switch value.kind {
        case VG_BOOL: self = .bool(value.boolean)
        case VG_INTEGER: self = .integer(value.integer)
        case VG_NUMBER: self = .number(value.number)
        case VG_STRING: self = .string(value.string.map { String(cString: $0) } ?? "")
        case VG_LIST: self = .list(items.map { SettingValue($0.value) })
        case VG_TABLE:
            let pairs = items.map { ($0.key.map { String(cString: $0) } ?? "", SettingValue($0.value)) }
            self = .table(Dictionary(pairs, uniquingKeysWith: { $1 }))
        default: self = .list([])
        }
    }
}

/// The settings of one node. The host has checked kinds, ranges and choices against the descriptor already.
public struct Settings: Sendable {
    /// Every entry the file gives.
    public let values: [String: SettingValue]

    /// Wraps given entries.
    public init(_ values: [String: SettingValue] = [:]) { self.values = values }

    init(_ value: UnsafePointer<vg_value>?) {
        if let value, case .table(let table) = SettingValue(value.pointee) { self.init(table) } else { self.init() }
    }

    /// A string, if given.
    public func string(_ key: String) -> String? {
        if case .string(let text) = values[key] { text } else { nil }
    }

    /// A number, if given; integers count.
    public func number(_ key: String) -> Double? {
        switch values[key] {
        case .number(let number): number
        case .integer(let integer): Double(integer)
        default: nil
        }
    }

    /// An integer, if given.
    public func integer(_ key: String) -> Int? {
        if case .integer(let integer) = values[key] { Int(integer) } else { nil }
    }

    /// A boolean, if given.
    public func bool(_ key: String) -> Bool? {
        if case .bool(let bool) = values[key] { bool } else { nil }
    }

    /// Strings; a single one counts as a list of one.
    public func strings(_ key: String) -> [String] {
        switch values[key] {
        case .string(let text): [text]
        case .list(let items): items.compactMap { if case .string(let text) = $0 { text } else { nil } }
        default: []
        }
    }

    /// A table, if given.
    public func table(_ key: String) -> [String: SettingValue]? {
        if case .table(let table) = values[key] { table } else { nil }
    }
}
