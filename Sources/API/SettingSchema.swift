// SPDX-License-Identifier: Apache-2.0
import Config
import JSON
import NodeKit

/// What settings and arguments take, as JSON schema says it (json-schema.org): for calls, and for graph files.
public struct SettingSchema: Sendable {
    /// What may stand in place of any value.
    private let instead: [JSON]

    /// Of the arguments of calls.
    public static let calls = SettingSchema(instead: [])
    /// Of graph files, in which a text with a variable may stand for anything.
    public static let files = SettingSchema(instead: [
        .object(["type": .string("string"), "pattern": .string("\\$\\{")])
    ])

    /// A text.
    public static let text = JSON.object(["type": .string("string")])

    /// A list of such items.
    public static func list(of items: JSON) -> JSON { .object(["type": .string("array"), "items": items]) }

    /// Something of one of these types.
    public static func either(_ types: String...) -> JSON {
        .object(["type": types.count == 1 ? .string(types[0]) : .list(types.map(JSON.string))])
    }

    /// A number within a range.
    public static func number(_ type: String, _ range: ClosedRange<Double>?) -> JSON {
        var fields: [String: JSON] = ["type": .string(type)]
        if let range {
            (fields["minimum"], fields["maximum"]) = (.number(range.lowerBound), .number(range.upperBound))
        }
        return .object(fields)
    }

    /// What may stand for a value: one of these, or what stands in place of any value.
    public func alternatives(_ kinds: [JSON]) -> [String: JSON] {
        let all = kinds + instead
        return all.count == 1 ? all[0].fields : ["anyOf": .list(all)]
    }

    /// Settings by their keys.
    public func properties(_ settings: [Setting]) -> [String: JSON] {
        Dictionary(settings.map { ($0.key, schema($0)) }, uniquingKeysWith: { first, _ in first })
    }

    /// What one takes, with its doc and its default.
    public func schema(_ setting: Setting) -> JSON {
        let unit = setting.unit.map { $0.isEmpty ? "" : " (\($0))" } ?? ""
        var fields: [String: JSON] = ["description": .string(setting.doc + unit)]
        if let text = setting.defaultText, !text.isEmpty { fields["default"] = JSON(SettingValue(argument: text)) }
        return .object(fields.merging(values(setting)) { $1 })
    }

    private func values(_ setting: Setting) -> [String: JSON] {
        let isWord = !setting.choices.isEmpty && setting.kind != VG_SET_VALUE
        // A text may have a variable in it anyway.
        let word =
            isWord ? JSON.object(alternatives([.object(["enum": .list(setting.choices.map(JSON.string))])])) : Self.text
        switch setting.kind {
        case VG_SET_BOOL: return alternatives([Self.either("boolean")])
        case VG_SET_INTEGER: return alternatives([Self.number("integer", setting.range)])
        case VG_SET_NUMBER: return alternatives([Self.number("number", setting.range)])
        case VG_SET_STRING, VG_SET_PATH: return word.fields
        case VG_SET_STRINGS: return ["anyOf": .list([word, Self.list(of: word)])]
        case VG_SET_TABLE: return ["type": .string("object")]
        default: return anything(setting)
        }
    }

    /// What a key takes that may be of more than one kind.
    private func anything(_ setting: Setting) -> [String: JSON] {
        if setting.choices.isEmpty, setting.range == nil {
            return instead.isEmpty ? [:] : Self.either("boolean", "number", "string").fields
        }
        var kinds: [JSON] = []
        if !setting.choices.isEmpty {
            kinds.append(.object(["enum": .list(setting.choices.map { JSON(SettingValue(argument: $0)) })]))
        } else {
            kinds.append(Self.either("boolean", "string"))
        }
        if setting.range != nil {
            let isWhole = setting.defaultText.flatMap { Int($0) } != nil
            kinds.append(Self.number(isWhole ? "integer" : "number", setting.range))
        }
        return alternatives(kinds)
    }
}
