// SPDX-License-Identifier: Apache-2.0
import Graph
import Host
import JSON
import NodeKit

/// Calls that turn or change something. Everything is looked at before anything is done.
extension Calls {
    func turn(_ request: inout Request) async throws -> [(String, String)] {
        switch request.call {
        case "set":
            let (node, parameter) = (try request.text("node"), try request.text("parameter"))
            let value = try request.number("value")
            try request.end()
            try await host.set(node, parameter, to: try float(value))
            return [("value", EventJSON.number(Double(Float(value)), Float(value).description))]
        case "get":
            let node = try request.text("node")
            let parameter = try request.optionalText("parameter")
            try request.end()
            if let parameter {
                let value = try await host.value(node, parameter)
                return [("value", EventJSON.number(Double(value), value.description))]
            }
            let values = try await host.parameters(of: node)
            return [("parameters", "[" + values.map(\.json).joined(separator: ",") + "]")]
        case "say":
            let (text, node) = (try request.text("text"), try request.optionalText("node"))
            try request.end()
            try await host.say(text, on: node)
            return []
        case "send":
            let (node, port) = (try request.text("node"), try request.text("port"))
            let message = try message(&request)
            try request.end()
            try await host.send(message, to: node, port: port)
            return []
        case "preset":
            let (node, preset) = (try request.text("node"), try request.text("preset"))
            try request.end()
            try await host.loadPreset(node, preset)
            return []
        case "property": return try await property(&request)
        default:
            try request.end()
            let saved = try await host.saveStates()
            return [("saved", "[" + saved.map(JSONText.string).joined(separator: ",") + "]")]
        }
    }

    func edit(_ request: inout Request) async throws -> [(String, String)] {
        let done: GraphDifference
        switch request.call {
        case "add":
            let node = try node(&request)
            try request.end()
            done = try await host.add(node)
        case "remove":
            let node = try request.text("node")
            try request.end()
            done = try await host.remove(node)
        case "link":
            let (link, gain) = (try request.text("link"), try request.optionalNumber("gain_db"))
            try request.end()
            done = try await host.link(link, gainDB: gain ?? 0)
        case "unlink":
            let link = try request.text("link")
            try request.end()
            done = try await host.unlink(link)
        case "reload":
            let path = try request.optionalText("path")
            try request.end()
            done = try await host.reload(path)
        default:
            let (node, on) = (try request.text("node"), try request.flag("on", otherwise: true))
            try request.end()
            done = request.call == "mute" ? try await host.mute(node, on) : try await host.bypass(node, on)
        }
        return [("changed", done.json), ("warnings", diagnosticsText(done.warnings))]
    }

    /// A number that a parameter can be set to; what is out of its range is found by the node.
    private func float(_ value: Double) throws(CallError) -> Float {
        let result = Float(value)
        guard result.isFinite else { throw CallError("'value' is too large", hint: "see the range in `nodes`") }
        return result
    }

    private func message(_ request: inout Request) throws(CallError) -> Message {
        let (text, number) = (try request.optionalText("text"), try request.optionalNumber("number"))
        switch (text, number) {
        case (let text?, nil): return .text(text)
        case (nil, let number?): return .number(number)
        default: throw CallError("a message is a text or a number", hint: "give one of 'text' and 'number'")
        }
    }

    private func property(_ request: inout Request) async throws -> [(String, String)] {
        let (node, key) = (try request.text("node"), try request.text("key"))
        let given = request.take("value")
        try request.end()
        guard let given else { return [("value", EventJSON.value(try await host.property(node, key)))] }
        guard let value = given.setting else { throw CallError("'value' must not be null") }
        try await host.setProperty(node, key, to: value)
        return []
    }

    /// A node as `add` takes it: name, type and settings, as in a file.
    private func node(_ request: inout Request) throws(CallError) -> NodeDescription {
        guard let given = request.take("node") else { throw CallError("'node' is missing") }
        guard case .object(var fields) = given else {
            throw CallError(
                "'node' must be an object, not \(given.kind)",
                hint: "for example {\"name\":\"quiet\",\"type\":\"gain\",\"gain_db\":-6}")
        }
        func text(_ key: String) throws(CallError) -> String {
            guard let value = fields.removeValue(forKey: key) else { throw CallError("the node has no '\(key)'") }
            guard case .string(let text) = value, !text.isEmpty else {
                throw CallError("the node's '\(key)' must be a text, not \(value.kind)")
            }
            return text
        }
        let name = try text("name")
        guard NodeDescription.isName(name) else {
            throw CallError(
                "'\(name.prefix(60))' cannot be a node's name",
                hint: "names are made of letters, digits, '_' and '-'")
        }
        var node = NodeDescription(name: name, type: try text("type"))
        for (key, value) in fields.sorted(by: { $0.key < $1.key }) {
            if NodeDescription.flags.contains(key) {
                guard case .bool(let flag) = value else {
                    throw CallError("the node's '\(key)' must be true or false, not \(value.kind)")
                }
                node.setFlag(key, flag)
            } else if let setting = value.setting {
                node.entries[key] = Entry(setting, inner: inner(setting))
                node.keys.append(key)
            } else {
                throw CallError("the node's '\(key)' must not be null", hint: "leave it out")
            }
        }
        return node
    }

    private func inner(_ value: SettingValue) -> [String: Entry] {
        switch value {
        case .table(let table): table.mapValues { Entry($0, inner: inner($0)) }
        case .list(let items):
            Dictionary(
                uniqueKeysWithValues: items.enumerated().map {
                    (String($0.offset), Entry($0.element, inner: inner($0.element)))
                })
        default: [:]
        }
    }
}

extension GraphDifference {
    var json: String {
        func list(_ names: [String]) -> String { "[" + names.map(JSONText.string).joined(separator: ",") + "]" }
        return JSONText.object(
            [
                ("added", list(added)), ("removed", list(removed)), ("linked", String(linked)),
                ("unlinked", String(unlinked)), ("parameters", String(parameters)), ("switched", list(switched)),
                ("seconds", EventJSON.number(seconds)),
            ] + (times?.fields ?? [:]).sorted { $0.key < $1.key }.map { ($0.key, EventJSON.value($0.value)) })
    }
}
