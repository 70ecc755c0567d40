// SPDX-License-Identifier: Apache-2.0
import GraphFile
import Host
import JSON
import NodeKit

extension Fault {
    /// As the answer to a request; `diagnostics`: what is wrong with a graph, if it is that. There is always something to
    /// do about it.
    public func answer(_ id: JSON, _ diagnostics: [Diagnostic] = []) -> String {
        JSONText.object([("id", id.text), ("ok", "false"), ("error", json(diagnostics))])
    }

    /// Message, hint and diagnostics as JSON, and the kind where it has one.
    public func json(_ diagnostics: [Diagnostic] = []) -> String {
        let parts = [
            ("message", JSONText.string(message)),
            ("hint", JSONText.string(hint.isEmpty ? "send one object a line" : hint)),
            ("diagnostics", EventJSON.value(.list(diagnostics.map(\.fields)))),
        ]
        return JSONText.object(parts + (kind.isEmpty ? [] : [("kind", JSONText.string(kind))]))
    }
}

/// One call of a client, as it stands in its line or message.
public struct Request: Sendable {
    /// What the answer is told apart by.
    public private(set) var id = JSON.null
    /// What is asked for.
    public private(set) var call = ""
    private var fields: [String: JSON] = [:]

    /// Nothing yet.
    public init() {}

    /// Reads a line. The id is there for the answer even if this throws.
    public mutating func read(_ line: some Sequence<UInt8>) throws(Fault) {
        let json: JSON
        do throws(JSON.Fault) { json = try JSON(line) } catch {
            throw Fault("this is not JSON: \(error.message) (byte \(error.offset + 1))", hint: "send one object a line")
        }
        guard case .object(let given) = json else {
            throw Fault("a call is an object, not \(json.kind)", hint: "for example {\"id\":1,\"call\":\"status\"}")
        }
        fields = given
        switch fields.removeValue(forKey: "id") ?? .null {
        case .list, .object: throw Fault("'id' must be a number or a text")
        case let id: self.id = id
        }
        switch fields.removeValue(forKey: "call") {
        case .string(let name)?: call = name
        case nil: throw Fault("'call' is missing", hint: "for example {\"id\":1,\"call\":\"status\"}")
        case let other?: throw Fault("'call' must be a text, not \(other.kind)")
        }
    }

    /// Reads an object that holds the arguments and nothing else.
    public mutating func read(arguments text: some Sequence<UInt8>) throws(Fault) {
        let json: JSON
        do throws(JSON.Fault) { json = try JSON(text) } catch {
            throw Fault("this is not JSON: \(error.message) (byte \(error.offset + 1))", hint: "send one object")
        }
        guard case .object(let given) = json else {
            throw Fault("the arguments are an object, not \(json.kind)", hint: "for example {\"node\":\"mic\"}")
        }
        fields = given
    }

    /// What the call is given, by name.
    public func arguments() throws(Fault) -> [String: SettingValue] {
        var arguments: [String: SettingValue] = [:]
        for (key, value) in fields.sorted(by: { $0.key < $1.key }) {
            guard let value = value.setting else {
                throw Fault("'\(key.prefix(60))' must not be null", hint: "leave it out")
            }
            arguments[key] = value
        }
        return arguments
    }

    /// Does what is asked; returns the line of the answer, without its end. `more`: what stands beside the results.
    public func answer(
        _ host: Host, _ table: CallTable, by caller: Caller = .user, more: @Sendable (String) -> [(String, String)]
    ) async -> String {
        do {
            let results = try await table.named(call)(host, try arguments(), by: caller)
            return JSONText.object([("id", id.text), ("ok", "true")] + results.json + more(call))
        } catch {
            let error = CallError(error)
            return error.fault.answer(id, error.diagnostics)
        }
    }
}

extension CallResults {
    /// Each as JSON.
    public var json: [(String, String)] { map { ($0.key, EventJSON.value($0.value)) } }
}
