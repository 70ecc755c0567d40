// SPDX-License-Identifier: Apache-2.0
import API
import Graph
import Host
import JSON
import NodeKit

extension CallError {
    /// As the answer to a request. There is always something to do about it.
    func answer(_ id: JSON) -> String {
        let error = JSONText.object([
            ("message", JSONText.string(message)),
            ("hint", JSONText.string(hint.isEmpty ? "send one object a line" : hint)),
            ("diagnostics", EventJSON.value(.list(diagnostics.map(\.fields)))),
        ])
        return JSONText.object([("id", id.text), ("ok", "false"), ("error", error)])
    }
}

/// One call of a client, as it stands in its line.
struct Request: Sendable {
    /// What the answer is told apart by.
    private(set) var id = JSON.null
    private(set) var call = ""
    private var fields: [String: JSON] = [:]

    /// Reads a line. The id is there for the answer even if this throws.
    mutating func read(_ line: some Sequence<UInt8>) throws(CallError) {
        let json: JSON
        do throws(JSON.Fault) { json = try JSON(line) } catch {
            throw CallError(
                "this is not JSON: \(error.message) (byte \(error.offset + 1))", hint: "send one object a line")
        }
        guard case .object(let given) = json else {
            throw CallError("a call is an object, not \(json.kind)", hint: "for example {\"id\":1,\"call\":\"status\"}")
        }
        fields = given
        switch fields.removeValue(forKey: "id") ?? .null {
        case .list, .object: throw CallError("'id' must be a number or a text")
        case let id: self.id = id
        }
        switch fields.removeValue(forKey: "call") {
        case .string(let name)?: call = name
        case nil: throw CallError("'call' is missing", hint: "for example {\"id\":1,\"call\":\"status\"}")
        case let other?: throw CallError("'call' must be a text, not \(other.kind)")
        }
    }

    /// What the call is given, by name.
    func arguments() throws(CallError) -> [String: SettingValue] {
        var arguments: [String: SettingValue] = [:]
        for (key, value) in fields.sorted(by: { $0.key < $1.key }) {
            guard let value = value.setting else {
                throw CallError("'\(key.prefix(60))' must not be null", hint: "leave it out")
            }
            arguments[key] = value
        }
        return arguments
    }

    /// Does what is asked; returns the line of the answer.
    func answer(_ host: Host, status: @Sendable () -> String) async -> String {
        do throws(CallError) {
            var results = try await HostCall.named(call)(host, try arguments()).map {
                ($0.key, EventJSON.value($0.value))
            }
            if call == "status" { results.append(("control", status())) }
            return JSONText.object([("id", id.text), ("ok", "true")] + results)
        } catch {
            return error.answer(id)
        }
    }
}
