// SPDX-License-Identifier: Apache-2.0
import Glibc
import Graph
import Host
import JSON

/// What clients may call, on a host.
struct Calls: Sendable {
    let host: Host
    /// What the server tells of itself in `status`, as JSON.
    let aboutServer: @Sendable () -> String

    /// Their names, and how each is written.
    static let usage: [String: String] = [
        "status": "status takes nothing", "nodes": "nodes takes nothing", "timings": "timings takes nothing",
        "dropouts": "dropouts takes nothing",
        "save": "save takes nothing",
        "set": "set takes node, parameter and value, a number in the range that nodes tells",
        "get": "get takes node and perhaps parameter", "say": "say takes text and perhaps node",
        "send": "send takes node, port and one of text and number",
        "add": "add takes node, an object of name, type and settings", "remove": "remove takes node",
        "link": "link takes link, as in a file, and perhaps gain_db", "unlink": "unlink takes link, as in a file",
        "bypass": "bypass takes node and perhaps on, true or false",
        "mute": "mute takes node and perhaps on, true or false", "reload": "reload takes perhaps path",
        "preset": "preset takes node and preset, a label or URI",
        "property": "property takes node, key and perhaps value",
        "events": "events takes perhaps only, a list of names",
    ]

    /// Does what is asked; returns the answer.
    func answer(_ request: Request) async -> String {
        var request = request
        do {
            let fields = try await perform(&request)
            return JSONText.object([("id", request.id.text), ("ok", "true")] + fields)
        } catch {
            return CallError(error).answer(request.id, to: request.call)
        }
    }

    private func perform(_ request: inout Request) async throws -> [(String, String)] {
        switch request.call {
        case "status":
            try request.end()
            guard let status = await host.status else { throw HostError("no graph is playing") }
            return [
                ("status", EventJSON.encode(status, event: "status", pid: getpid())), ("control", aboutServer()),
            ]
        case "nodes":
            try request.end()
            return await nodes()
        case "timings":
            try request.end()
            return [
                ("timings", JSONText.object(await host.timings.map { ($0.node, EventJSON.value(.table($0.fields))) }))
            ]
        case "dropouts":
            try request.end()
            return [("dropouts", EventJSON.value(.list(await host.dropouts.map { .table($0.fields) })))]
        case "set", "get", "say", "send", "preset", "property", "save": return try await turn(&request)
        case "add", "remove", "link", "unlink", "bypass", "mute", "reload": return try await edit(&request)
        default:
            var suggester = Suggester()
            throw CallError(
                "there is no call '\(request.call)'",
                hint: suggester.hint(
                    request.call, among: Self.usage.keys,
                    otherwise: "calls: \(Self.usage.keys.sorted().joined(separator: ", "))"))
        }
    }

    private func nodes() async -> [(String, String)] {
        let description = await host.description ?? GraphDescription()
        let parameters = await host.parameters
        let degraded = await host.status?.degraded ?? [:]
        let nodes = description.nodes.map { node in
            var fields = [
                ("name", JSONText.string(node.name)), ("type", JSONText.string(node.type)),
                ("bypass", node.bypass ? "true" : "false"), ("mute", node.mute ? "true" : "false"),
                ("settings", EventJSON.value(.table(node.entries.mapValues(\.value)))),
                ("parameters", "[" + (parameters[node.name] ?? []).map(\.json).joined(separator: ",") + "]"),
            ]
            if let reason = degraded[node.name] { fields.append(("degraded", JSONText.string(reason))) }
            return JSONText.object(fields)
        }
        let links = description.links.map {
            JSONText.object([
                ("from", JSONText.string($0.from.description)), ("to", JSONText.string($0.to.description)),
                ("gain_db", EventJSON.number($0.gainDB)),
            ])
        }
        return [
            ("graph", JSONText.string(description.name)), ("nodes", "[" + nodes.joined(separator: ",") + "]"),
            ("links", "[" + links.joined(separator: ",") + "]"),
        ]
    }
}

extension ParameterState {
    var json: String {
        JSONText.object([
            ("key", JSONText.string(parameter.key)), ("value", EventJSON.number(Double(value), value.description)),
            ("minimum", number(parameter.range.lowerBound)), ("maximum", number(parameter.range.upperBound)),
            ("default", number(parameter.defaultValue)), ("unit", JSONText.string(parameter.unit)),
        ])
    }

    private func number(_ value: Float) -> String { EventJSON.number(Double(value), value.description) }
}
