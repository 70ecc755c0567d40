// SPDX-License-Identifier: Apache-2.0
import Host
import NodeKit

// What node types declare, as values that every encoding can take.

extension Setting {
    /// All of it; what is not said is left out.
    public var values: [String: SettingValue] {
        var values: [String: SettingValue] = [
            "key": .string(key), "kind": .string(kind.name), "required": .bool(required), "live": .bool(isLive),
            "choices": .list(choices.map(SettingValue.string)), "doc": .string(doc),
        ]
        if let defaultText { values["default"] = .string(defaultText) }
        if let range { (values["minimum"], values["maximum"]) = (.number(range.lowerBound), .number(range.upperBound)) }
        if let unit { values["unit"] = .string(unit) }
        return values
    }
}

extension SettingState {
    /// All that is declared of the setting, and its value.
    var values: [String: SettingValue] {
        var values = setting.values
        if let value { values["value"] = value }
        return values
    }
}

extension Parameter {
    /// All of it.
    public var values: [String: SettingValue] {
        var values: [String: SettingValue] = [
            "key": .string(key), "minimum": SettingValue(range.lowerBound), "maximum": SettingValue(range.upperBound),
            "default": SettingValue(defaultValue), "unit": .string(unit), "scale": .string(scaleName(scale)),
            "doc": .string(doc),
        ]
        if !label.isEmpty { values["label"] = .string(label) }
        if !points.isEmpty {
            values["points"] = .list(
                points.map { .table(["label": .string($0.label), "value": SettingValue($0.value)]) })
        }
        return values
    }
}

extension Field {
    /// All of it.
    public var values: [String: SettingValue] {
        var values: [String: SettingValue] = [
            "name": .string(name), "kind": .string(kind.name), "doc": .string(doc),
        ]
        if let unit { values["unit"] = .string(unit) }
        return values
    }
}

extension Action {
    /// All of it.
    public var values: [String: SettingValue] {
        [
            "name": .string(name), "doc": .string(doc), "urgent": .bool(isUrgent), "lasting": .bool(isLasting),
            "public": .bool(isPublic),
            "arguments": .list(arguments.map { .table($0.values) }),
            "results": .list(results.map { .table($0.values) }),
        ]
    }
}

extension EventType {
    /// All of it.
    public var values: [String: SettingValue] {
        var values: [String: SettingValue] = [
            "name": .string(name), "doc": .string(doc), "retained": .bool(isRetained), "public": .bool(isPublic),
            "fields": .list(fields.map { .table($0.values) }),
        ]
        if let role {
            let subject = if case .text = role { "text" } else { "take" }
            let stages: [EventRole.Stage: String] = [.partial: "partial", .whole: "whole", .withdrawn: "withdrawn"]
            values["role"] = .string(subject)
            values["stage"] = stages[role.stage].map { .string($0) }
        }
        return values
    }
}

extension Series {
    /// All of it.
    public var values: [String: SettingValue] {
        [
            "name": .string(name), "doc": .string(doc), "unit": .string(unit), "rate": .number(rate),
            "width": .integer(Int64(width)), "on_request": .bool(isOnRequest),
        ]
    }
}

extension vg_setting_kind {
    /// In a word, for people and programs.
    public var name: String {
        switch self {
        case VG_SET_BOOL: "boolean"
        case VG_SET_INTEGER: "integer"
        case VG_SET_NUMBER: "number"
        case VG_SET_STRING: "text"
        case VG_SET_PATH: "file"
        case VG_SET_STRINGS: "text or list of texts"
        case VG_SET_VALUE: "value"
        default: "table"
        }
    }
}

extension vg_value_kind {
    /// In a word, for people and programs.
    public var name: String {
        switch self {
        case VG_BOOL: "boolean"
        case VG_INTEGER: "integer"
        case VG_NUMBER: "number"
        case VG_STRING: "text"
        case VG_LIST: "list"
        case VG_ANY: "value"
        default: "table"
        }
    }
}

/// How the values of a parameter lie between its ends.
public func scaleName(_ scale: vg_scale) -> String {
    switch scale {
    case VG_LOGARITHMIC: "logarithmic"
    case VG_DECIBEL: "decibel"
    default: "linear"
    }
}
