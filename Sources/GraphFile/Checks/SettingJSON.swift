// SPDX-License-Identifier: Apache-2.0
import JSON
import NodeKit

extension JSON {
    /// A setting's value. A number without a fraction becomes a whole one, so that it is written without one.
    public init(_ value: SettingValue) {
        switch value {
        case .bool(let value): self = .bool(value)
        case .integer(let value): self = .integer(value)
        case .number(let value):
            // Not those that are written with an exponent.
            let isWhole = value.description.hasSuffix(".0")
            self = (isWhole ? Int64(exactly: value) : nil).map(JSON.integer) ?? .number(value)
        case .string(let value): self = .string(value)
        case .list(let items): self = .list(items.map { JSON($0) })
        case .table(let table): self = .object(table.mapValues { JSON($0) })
        }
    }

    /// As a setting's value; nil for null and what contains it.
    public var setting: SettingValue? {
        switch self {
        case .null: return nil
        case .bool(let value): return .bool(value)
        case .integer(let value): return .integer(value)
        case .number(let value): return .number(value)
        case .string(let value): return .string(value)
        case .list(let items):
            let values = items.compactMap(\.setting)
            return values.count == items.count ? .list(values) : nil
        case .object(let fields):
            let values = fields.compactMapValues(\.setting)
            return values.count == fields.count ? .table(values) : nil
        }
    }
}
