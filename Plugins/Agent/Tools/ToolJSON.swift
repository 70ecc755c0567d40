// SPDX-License-Identifier: Apache-2.0
import JSON
import NodeKit

/// Actions as language models are told of functions.
extension Tools {
    /// Those that are there, as the field `tools` of a request has them.
    var functions: [JSON] {
        allowed.compactMap { tool in
            guard let action = declared(tool) else { return nil }
            let function: [String: JSON] = [
                "name": .string(tool.function), "description": .string(action.doc),
                "parameters": .object([
                    "type": .string("object"),
                    "properties": .object(
                        Dictionary(
                            action.arguments.map { ($0.key, JSON.object($0.schema)) }, uniquingKeysWith: { $1 })),
                    "required": .list(action.arguments.filter(\.required).map { .string($0.key) }),
                ]),
            ]
            return .object(["type": .string("function"), "function": .object(function)])
        }
    }

    /// The arguments of a call; nil: they are no object. None may be said as nothing, as null or as a text of that.
    private static func arguments(_ text: String) -> [String: JSON]? {
        let given = trimmed(text)
        if given.isEmpty { return [:] }
        switch try? JSON(given.utf8) {
        case .object(let fields)?: return fields
        case .null?: return [:]
        case .string(let text)? where ["", "null", "{}"].contains(trimmed(text)): return [:]
        default: return nil
        }
    }

    /// Does what a model asks for; what it is told of it, as JSON.
    func call(_ call: ChatCall, _ reply: Reply) -> JSON {
        let name = allowed.first { $0.function == call.name }?.name ?? call.name
        let result: CallResult
        if let fields = Self.arguments(call.arguments) {
            result = self.call(name, fields.compactMapValues(SettingValue.init), reply)
        } else {
            result = .failure(NodeError("the arguments are no JSON object"))
            tell(name, [:], result, reply)
        }
        switch result {
        case .success(let results): return .object(results.mapValues(\.json))
        case .failure(let error): return .object(["error": .string(error.description)])
        }
    }
}

extension Setting {
    /// As JSON Schema has it.
    fileprivate var schema: [String: JSON] {
        var schema: [String: JSON] = [
            "description": .string(unit.map { $0.isEmpty ? doc : "\(doc), in \($0)" } ?? doc)
        ]
        switch kind {
        case VG_SET_BOOL: schema["type"] = .string("boolean")
        case VG_SET_INTEGER: schema["type"] = .string("integer")
        case VG_SET_NUMBER: schema["type"] = .string("number")
        case VG_SET_STRINGS:
            schema["type"] = .string("array")
            schema["items"] = .object(["type": .string("string")])
        case VG_SET_TABLE: schema["type"] = .string("object")
        case VG_SET_VALUE: schema["type"] = .list(["string", "number", "boolean"].map { .string($0) })
        default: schema["type"] = .string("string")
        }
        if !choices.isEmpty, kind != VG_SET_VALUE { schema["enum"] = .list(choices.map { .string($0) }) }
        if let range {
            schema["minimum"] = .number(range.lowerBound)
            schema["maximum"] = .number(range.upperBound)
        }
        return schema
    }
}

extension SettingValue {
    /// nil: null is no value.
    fileprivate init?(_ json: JSON) {
        switch json {
        case .null: return nil
        case .bool(let value): self = .bool(value)
        case .integer(let value): self = .integer(value)
        case .number(let value): self = .number(value)
        case .string(let value): self = .string(value)
        case .list(let items): self = .list(items.compactMap(SettingValue.init))
        case .object(let fields): self = .table(fields.compactMapValues(SettingValue.init))
        }
    }

    fileprivate var json: JSON {
        switch self {
        case .bool(let value): .bool(value)
        case .integer(let value): .integer(value)
        case .number(let value): .number(value)
        case .string(let value): .string(value)
        case .list(let items): .list(items.map(\.json))
        case .table(let fields): .object(fields.mapValues(\.json))
        }
    }

    /// For people.
    var shown: String {
        switch self {
        case .string(let value): value
        default: json.text
        }
    }
}
