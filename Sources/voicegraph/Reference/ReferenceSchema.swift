// SPDX-License-Identifier: Apache-2.0
import Config
import Graph
import JSON
import NodeKit

/// The JSON schema of the graph file (json-schema.org, draft 7), from the same source as the reference.
extension ReferencePrinter {
    /// The schema, with the node types of this machine.
    func schema() -> String {
        let anyNode = JSON.object([
            "type": .string("object"), "required": .list([.string("type")]),
            "properties": .object(["type": .object(["enum": .list(catalog.names.map(JSON.string))])]),
            "allOf": .list(
                types.map { type in
                    .object([
                        "if": .object([
                            "properties": .object(["type": .object(["const": .string(type.name)])]),
                            "required": .list([.string("type")]),
                        ]), "then": node(type),
                    ])
                }),
        ])
        var link = table(.link)
        link["required"] = .list(["from", "to"].map(JSON.string))
        let links = JSON.object([
            "description": .string("what goes where: \"a -> b -> c\""),
            "anyOf": .list([
                Self.text, Self.list(of: .object(["anyOf": .list([Self.text, .object(link)])])),
            ]),
        ])
        var graph = table(.graph)
        graph["properties"] = .object((graph["properties"]?.fields ?? [:]).merging(["links": links]) { $1 })
        var file = table(tables.file)
        file["$schema"] = .string("http://json-schema.org/draft-07/schema#")
        file["title"] = .string("voicegraph: " + FileReference.summary)
        var properties = file["properties"]?.fields ?? [:]
        properties["graph"] = .object(graph)
        properties["node"] = .object(["type": .string("object"), "additionalProperties": anyNode])
        for kind in tables.kinds { properties[kind.table] = .object(table(FileTable(kind))) }
        file["properties"] = .object(properties)
        return JSON.object(file).text + "\n"
    }

    private func table(_ table: FileTable) -> [String: JSON] {
        [
            "type": .string("object"), "additionalProperties": .bool(false),
            "properties": .object(Self.properties(table.settings)),
        ]
    }

    private func node(_ type: NodeDescriptor) -> JSON {
        var properties = Self.properties(FileReference.commonKeys + type.settings)
        var patterns: [String: JSON] = [:]
        for parameter in type.layout.parameters + otherParameters(of: type) {
            let schema = Self.schema(parameter)
            properties[parameter.key] = schema
            // How many of them there are depends on a setting.
            if parameter.key.contains(where: \.isNumber) {
                let parts = parameter.key.split(omittingEmptySubsequences: false, whereSeparator: \.isNumber)
                patterns["^" + parts.joined(separator: "[0-9]+") + "$"] = schema
            }
        }
        properties["type"] = .object(["const": .string(type.name), "description": .string(type.summary)])
        // Parameters of a plugin that only the machine knows which runs it.
        let isOpen = type.settings.contains { $0.key == "params" && $0.kind == VG_SET_TABLE }
        var schema: [String: JSON] = [
            "description": .string(type.summary), "properties": .object(properties),
            "additionalProperties": isOpen ? Self.either("number", "boolean", "string") : .bool(false),
        ]
        if !patterns.isEmpty { schema["patternProperties"] = .object(patterns) }
        let required = type.settings.filter(\.required).map { JSON.string($0.key) }
        if !required.isEmpty { schema["required"] = .list(required) }
        return .object(schema)
    }

    /// The parameters that a node has whose settings are not the usual ones, as its type makes them.
    private func otherParameters(of type: NodeDescriptor) -> [Parameter] {
        guard let pointer = catalog.types[type.name]?.type, !type.settings.contains(where: \.required) else {
            return []
        }
        let known = Set(type.layout.parameters.map(\.key))
        let trials = type.settings.flatMap { setting -> [(String, SettingValue)] in
            switch setting.kind {
            case VG_SET_INTEGER:
                [2, 3].filter { setting.range?.contains($0) ?? false }.map { (setting.key, .integer(Int64($0))) }
            case VG_SET_BOOL: [(setting.key, .bool(true)), (setting.key, .bool(false))]
            case VG_SET_STRING: setting.choices.map { (setting.key, .string($0)) }
            default: []
            }
        }
        let nodes = trials.compactMap { key, value in
            try? NodeInstance(type: pointer, name: type.name, settings: Settings([key: value]))
        }
        return nodes.flatMap(\.parameters).filter { !known.contains($0.key) }
    }

    private static let text = JSON.object(["type": .string("string")])
    /// A string with a variable in it, which may stand for anything.
    private static let variable = JSON.object(["type": .string("string"), "pattern": .string("\\$\\{")])

    private static func list(of items: JSON) -> JSON { .object(["type": .string("array"), "items": items]) }

    private static func either(_ types: String...) -> JSON { .object(["type": .list(types.map(JSON.string))]) }

    private static func properties(_ settings: [Setting]) -> [String: JSON] {
        Dictionary(settings.map { ($0.key, schema($0)) }, uniquingKeysWith: { first, _ in first })
    }

    private static func number(_ type: String, _ range: ClosedRange<Double>?) -> JSON {
        var fields: [String: JSON] = ["type": .string(type)]
        if let range {
            (fields["minimum"], fields["maximum"]) = (.number(range.lowerBound), .number(range.upperBound))
        }
        return .object(fields)
    }

    private static func schema(_ parameter: Parameter) -> JSON {
        // A float's digits, as the listing has them.
        func bound(_ value: Float) -> Double { Double(voicegraph.number(Double(value))) ?? Double(value) }
        let range = bound(parameter.range.lowerBound)...bound(parameter.range.upperBound)
        func has(_ flag: Int) -> Bool { parameter.flags & UInt32(flag) != 0 }
        var kinds = [number(has(VG_PARAM_STEPPED) || has(VG_PARAM_TOGGLE) ? "integer" : "number", range), variable]
        if has(VG_PARAM_TOGGLE) { kinds.append(either("boolean")) }
        // By name: a switch, a point that has one, or a number with its unit.
        let words = (has(VG_PARAM_TOGGLE) ? ["on", "off"] : []) + parameter.points.map(\.label)
        if !words.isEmpty { kinds.append(.object(["enum": .list(words.map(JSON.string))])) }
        if !parameter.unit.isEmpty {
            let pattern = "^[-+]?[0-9.]+([eE][-+]?[0-9]+)? *[A-Za-z%]+$"
            kinds.append(.object(["type": .string("string"), "pattern": .string(pattern)]))
        }
        let unit = parameter.unit.isEmpty ? "" : " (\(parameter.unit))"
        return .object([
            "description": .string(parameter.doc + unit), "default": .number(bound(parameter.defaultValue)),
            "anyOf": .list(kinds),
        ])
    }

    private static func schema(_ setting: Setting) -> JSON {
        let unit = setting.unit.map { $0.isEmpty ? "" : " (\($0))" } ?? ""
        var fields: [String: JSON] = ["description": .string(setting.doc + unit)]
        if let text = setting.defaultText, !text.isEmpty { fields["default"] = JSON(SettingValue(argument: text)) }
        let word =
            setting.choices.isEmpty || setting.kind == VG_SET_VALUE
            ? text
            : JSON.object(["anyOf": .list([.object(["enum": .list(setting.choices.map(JSON.string))]), variable])])
        switch setting.kind {
        case VG_SET_BOOL: fields["anyOf"] = .list([either("boolean"), variable])
        case VG_SET_INTEGER: fields["anyOf"] = .list([number("integer", setting.range), variable])
        case VG_SET_NUMBER: fields["anyOf"] = .list([number("number", setting.range), variable])
        case VG_SET_STRING, VG_SET_PATH: fields["allOf"] = .list([word])
        case VG_SET_STRINGS: fields["anyOf"] = .list([word, list(of: word)])
        case VG_SET_TABLE: fields["type"] = .string("object")
        default: fields["anyOf"] = .list(anything(setting))
        }
        return .object(fields)
    }

    /// What a key takes that may be of more than one kind.
    private static func anything(_ setting: Setting) -> [JSON] {
        guard !setting.choices.isEmpty || setting.range != nil else { return [either("boolean", "number", "string")] }
        var kinds = [variable]
        if !setting.choices.isEmpty {
            kinds.append(.object(["enum": .list(setting.choices.map { JSON(SettingValue(argument: $0)) })]))
        } else {
            kinds.append(either("boolean", "string"))
        }
        if setting.range != nil {
            let isWhole = setting.defaultText.flatMap { Int($0) } != nil
            kinds.append(number(isWhole ? "integer" : "number", setting.range))
        }
        return kinds
    }
}
