// SPDX-License-Identifier: Apache-2.0
import JSON
import NodeKit

/// The actions of other nodes that the file allows by name, for whoever answers.
final class Tools: Sendable {
    /// Calls that an answer may ask for at once, and how often.
    static let mostCalls = 16
    static let mostRounds = 5

    static let allow = Key.texts(
        "allow", "actions of other nodes that replies may name or a model may ask for, as NODE.ACTION", default: [])
    static let actionTime = Key.number(
        "action_time", "how long such an action may take", default: 10, in: 0.1...3600, unit: "s")

    /// One of them.
    struct Tool: Sendable {
        var node: String
        var action: String

        /// As the file has it.
        var name: String { "\(node).\(action)" }
        /// As a model calls it: without a dot.
        var function: String { "\(node)__\(action)" }
    }

    let host: NodeHost
    let allowed: [Tool]
    /// Seconds that an action may take.
    private let limit: Double

    init(_ settings: Settings, _ host: NodeHost) throws(NodeError) {
        self.host = host
        limit = try settings[Self.actionTime]
        var allowed: [Tool] = []
        for name in try settings[Self.allow] {
            let parts = name.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
                throw NodeError(
                    "'\(shortened(name))' is no NODE.ACTION", hint: "as in lamp.set", key: Self.allow.name)
            }
            if parts[0] == host.nodeName {
                throw NodeError(
                    "the agent cannot call itself", hint: "leave out \(shortened(name))", key: Self.allow.name)
            }
            allowed.append(Tool(node: String(parts[0]), action: String(parts[1])))
        }
        self.allowed = allowed
    }

    /// What another node declares of an action; nil: nothing is known of it.
    func declared(_ tool: Tool) -> Action? {
        host.actions(of: tool.node)?.first { $0.name == tool.action }
    }

    /// Does an action that is asked for by its name in the file, and tells of it. Returns what came of it.
    func call(_ name: String, _ arguments: [String: SettingValue], _ reply: Reply) -> CallResult {
        let result: CallResult
        if let tool = allowed.first(where: { $0.name == name }) {
            result = wait(tool, arguments, reply)
        } else {
            result = .failure(NodeError("the file does not allow \(shortened(name))", hint: "allow names what it does"))
        }
        tell(name, arguments, result, reply)
        return result
    }

    /// Tells of a call, also of one that could not be made.
    func tell(_ name: String, _ arguments: [String: SettingValue], _ result: CallResult, _ reply: Reply) {
        var fields: [(String, SettingValue)] = [
            ("item", .integer(Int64(clamping: reply.turn.number))), ("action", .string(name)),
            ("arguments", .table(arguments)),
        ]
        switch result {
        case .success(let results): fields.append(("results", .table(results)))
        case .failure(let error):
            fields.append(("error", .string(error.message)))
            reply.conversation.undone("\(shortened(name)): \(error.message)", of: reply.turn)
        }
        host.publish(AgentEvent.tool, fields)
    }

    private func wait(_ tool: Tool, _ arguments: [String: SettingValue], _ reply: Reply) -> CallResult {
        reply.waits(as: .thinking, seconds: limit)
        let answer = Lock<CallResult?>(nil)
        host.call(tool.node, tool.action, fitting(arguments, tool), seconds: limit) { result in
            answer.withLock { $0 = result }
            answer.signal()
        }
        // The host ends it; this is for one that does not.
        let deadline = monotonicSeconds() + limit + 1
        while monotonicSeconds() < deadline {
            if let result = answer.wait(until: min(deadline, monotonicSeconds() + 0.05), { $0 }) { return result }
            if reply.isStopped { return .failure(NodeError("nobody waits for it any more; it may be done yet")) }
        }
        return .failure(NodeError("\(tool.name) did not end within \(limit) s"))
    }

    /// Arguments of the kinds that the action declares: a text may hold a number, and 3.0 is whole.
    private func fitting(_ arguments: [String: SettingValue], _ tool: Tool) -> [String: SettingValue] {
        guard let action = declared(tool) else { return arguments }
        var result = arguments
        for setting in action.arguments {
            guard let value = arguments[setting.key] else { continue }
            switch (setting.kind, value) {
            case (VG_SET_INTEGER, .number(let number)):
                if let whole = Int64(exactly: number) { result[setting.key] = .integer(whole) }
            case (VG_SET_INTEGER, .string(let text)), (VG_SET_NUMBER, .string(let text)),
                (VG_SET_VALUE, .string(let text)):
                if let whole = Int64(text) {
                    result[setting.key] = .integer(whole)
                } else if let number = Double(text), number.isFinite {
                    result[setting.key] = .number(number)
                }
            case (VG_SET_BOOL, .string(let text)):
                let words = ["true": true, "on": true, "yes": true, "false": false, "off": false, "no": false]
                if let value = words[text.lowercased()] { result[setting.key] = .bool(value) }
            default: break
            }
        }
        return result
    }
}
