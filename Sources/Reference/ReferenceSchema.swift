// SPDX-License-Identifier: Apache-2.0
import API
import Config
import Graph
import GraphFile
import JSON
import NodeKit

/// The JSON schema of the graph file (json-schema.org, draft 7), from the same source as the reference.
extension ReferencePrinter {
    /// The schema, with the node types of this machine.
    package func schema() -> String {
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
                SettingSchema.text,
                SettingSchema.list(of: .object(["anyOf": .list([SettingSchema.text, .object(link)])])),
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
            "properties": .object(SettingSchema.files.properties(table.settings)),
        ]
    }

    private func node(_ type: NodeDescriptor) -> JSON {
        var properties = SettingSchema.files.properties(NodeKeys.settings + type.settings)
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
            "additionalProperties": isOpen ? SettingSchema.either("number", "boolean", "string") : .bool(false),
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

    private static func schema(_ parameter: Parameter) -> JSON {
        // A float's digits, as the listing has them.
        func bound(_ value: Float) -> Double { Double(Reference.number(Double(value))) ?? Double(value) }
        let range = bound(parameter.range.lowerBound)...bound(parameter.range.upperBound)
        func has(_ flag: Int) -> Bool { parameter.flags & UInt32(flag) != 0 }
        var kinds = [SettingSchema.number(has(VG_PARAM_STEPPED) || has(VG_PARAM_TOGGLE) ? "integer" : "number", range)]
        if has(VG_PARAM_TOGGLE) { kinds.append(SettingSchema.either("boolean")) }
        // By name: a switch, a point that has one, or a number with its unit.
        let words = (has(VG_PARAM_TOGGLE) ? ["on", "off"] : []) + parameter.points.map(\.label)
        if !words.isEmpty { kinds.append(.object(["enum": .list(words.map(JSON.string))])) }
        if !parameter.unit.isEmpty {
            let pattern = "^[-+]?[0-9.]+([eE][-+]?[0-9]+)? *[A-Za-z%]+$"
            kinds.append(.object(["type": .string("string"), "pattern": .string(pattern)]))
        }
        let unit = parameter.unit.isEmpty ? "" : " (\(parameter.unit))"
        let fields: [String: JSON] = [
            "description": .string(parameter.doc + unit), "default": .number(bound(parameter.defaultValue)),
        ]
        return .object(fields.merging(SettingSchema.files.alternatives(kinds)) { $1 })
    }
}
