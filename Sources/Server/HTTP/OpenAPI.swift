// SPDX-License-Identifier: Apache-2.0
import API
import Host
import JSON
import NodeKit

/// The calls as OpenAPI 3.1 describes them (spec.openapis.org/oas/v3.1.0), made from their declarations.
enum OpenAPI {
    /// One JSON document.
    static func description(_ table: CallTable, isReadOnly: Bool) -> String {
        let calls = table.calls.filter { !(isReadOnly && $0.isChange) }
        var paths = Dictionary(uniqueKeysWithValues: calls.map { ("/api/\($0.name)", path($0)) })
        paths["/api/\(HostCall.events.name)"] = events
        let document: [String: JSON] = [
            "openapi": .string("3.1.0"),
            "info": .object([
                "title": .string("voicegraph"), "version": .string(hostVersion),
                "description": .string("What may be asked of a host, and what it tells."),
            ]),
            "security": .list([.object(["token": .list([])])]), "paths": .object(paths),
            "components": .object([
                "securitySchemes": .object([
                    "token": .object(["type": .string("http"), "scheme": .string("bearer")])
                ]),
                "schemas": .object(["Error": error]),
            ]),
        ]
        return JSON.object(document).text
    }

    private static func path(_ call: HostCall) -> JSON {
        var operation: [String: JSON] = [
            "operationId": .string(call.name), "summary": .string(call.doc), "x-right": .string(call.right.rawValue),
            "responses": .object([
                "200": answer(call),
                "400": refusal("the arguments are wrong, or the host cannot do it"),
                "401": refusal("the token is missing"), "403": refusal("not allowed here"),
                "405": refusal("another method"), "408": refusal("too slow"), "413": refusal("too long"),
                "415": refusal("the body is no JSON"), "429": refusal("too many calls are under way"),
            ]),
        ]
        if call.isChange {
            operation["requestBody"] = .object([
                "required": .bool(call.arguments.contains(where: \.required)),
                "content": .object(["application/json": .object(["schema": object(call.arguments)])]),
            ])
        } else {
            operation["parameters"] = query(call.arguments)
        }
        return .object([call.isChange ? "post" : "get": .object(operation)])
    }

    /// What goes on: a line of JSON after another.
    private static let events = JSON.object([
        "get": .object([
            "operationId": .string(HostCall.events.name), "summary": .string(HostCall.events.doc),
            "x-right": .string(Right.visitor.rawValue), "parameters": query(HostCall.events.arguments),
            "responses": .object([
                "200": .object([
                    "description": .string("lines of JSON: first the answer to the call, then events; some are empty"),
                    "content": .object(["application/jsonl": .object([:])]),
                ]),
                "400": refusal("the arguments are wrong"), "401": refusal("the token is missing"),
                "403": refusal("not allowed here"), "405": refusal("another method"),
                "429": refusal("too many are told"),
            ]),
        ])
    ])

    private static func query(_ arguments: [Setting]) -> JSON {
        .list(
            arguments.map { argument in
                .object([
                    "name": .string(argument.key), "in": .string("query"), "required": .bool(argument.required),
                    "description": .string(argument.doc), "schema": SettingSchema.calls.schema(argument),
                ])
            })
    }

    private static func object(_ arguments: [Setting]) -> JSON {
        var fields: [String: JSON] = [
            "type": .string("object"), "additionalProperties": .bool(false),
            "properties": .object(SettingSchema.calls.properties(arguments)),
        ]
        let required = arguments.filter(\.required).map { JSON.string($0.key) }
        if !required.isEmpty { fields["required"] = .list(required) }
        return .object(fields)
    }

    private static func answer(_ call: HostCall) -> JSON {
        var properties = Dictionary(uniqueKeysWithValues: call.results.map { ($0.name, result($0)) })
        properties["ok"] = .object(["const": .bool(true)])
        return .object([
            "description": .string(call.doc),
            "content": json(
                .object([
                    "type": .string("object"), "required": .list([.string("ok")]), "properties": .object(properties),
                ])),
        ])
    }

    private static func result(_ field: Field) -> JSON {
        var fields: [String: JSON] = ["description": .string(field.doc)]
        let type: String? =
            switch field.kind {
            case VG_BOOL: "boolean"
            case VG_INTEGER: "integer"
            case VG_NUMBER: "number"
            case VG_STRING: "string"
            case VG_LIST: "array"
            case VG_TABLE: "object"
            default: nil
            }
        if let type { fields["type"] = .string(type) }
        return .object(fields)
    }

    private static func refusal(_ why: String) -> JSON {
        .object([
            "description": .string(why), "content": json(.object(["$ref": .string("#/components/schemas/Error")])),
        ])
    }

    private static func json(_ schema: JSON) -> JSON { .object(["application/json": .object(["schema": schema])]) }

    private static let error: JSON = {
        let text = JSON.object(["type": .string("string")])
        return .object([
            "type": .string("object"), "required": .list([.string("ok"), .string("error")]),
            "properties": .object([
                "ok": .object(["const": .bool(false)]),
                "error": .object([
                    "type": .string("object"), "required": .list([.string("message"), .string("hint")]),
                    "properties": .object([
                        "message": text, "hint": text, "diagnostics": .object(["type": .string("array")]), "kind": text,
                    ]),
                ]),
            ]),
        ])
    }()
}
