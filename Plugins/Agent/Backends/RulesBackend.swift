// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Answers by rules: the first one that matches, its replies in turn.
final class RulesBackend: Backend {
    static let rules = Key.path(
        "rules", "of the backend rules: a file of patterns and replies; without it a few are there")

    private let rules: [Rule]
    /// How often each rule has answered.
    private var turns: [Int]
    private let tools: Tools

    init(_ settings: Settings, _ host: NodeHost, _ tools: Tools) throws(NodeError) {
        self.tools = tools
        if let path = try settings[Self.rules] {
            rules = try RuleFile.read(host.resolve(path))
        } else {
            rules = try RuleFile.rules(RuleFile.builtIn, path: "built-in rules")
        }
        turns = rules.map { _ in 0 }
        let named = rules.flatMap(\.replies).compactMap { $0.call?.action }
        var names = tools.allowed.map(\.name)
        for name in named where !names.contains(name) { names.append(name) }
        if names.count > tools.allowed.count {
            throw NodeError(
                "the rules name the action \(names[tools.allowed.count]), which the file does not allow",
                hint: "allow = [\(names.map { "\"\($0)\"" }.joined(separator: ", "))]", key: Tools.allow.name)
        }
    }

    func answer(_ reply: Reply) throws(AgentFault) {
        let words = SpokenWord.words(of: reply.text)
        for (index, rule) in rules.enumerated() {
            guard let values = rule.patterns.lazy.compactMap({ $0.match(words) }).first else { continue }
            let chosen = rule.replies[turns[index] % rule.replies.count]
            turns[index] += 1
            return try say(chosen, values, reply)
        }
        var fault = AgentFault(.other, "no rule matches")
        fault.isRefusal = true
        throw fault
    }

    private func say(_ chosen: RuleReply, _ values: [String: String], _ reply: Reply) throws(AgentFault) {
        var values = values
        if let call = chosen.call {
            let arguments = call.arguments.map { ($0.key, SettingValue.string(RuleReply.fill($0.text, values))) }
            switch tools.call(call.action, Dictionary(arguments, uniquingKeysWith: { $1 }), reply) {
            case .success(let results): values.merge(results.mapValues(\.shown)) { $1 }
            case .failure(let error): throw AgentFault(.other, "\(call.action): \(error.message)")
            }
        }
        let text = RuleReply.fill(chosen.text, values)
        _ = try reply.say(text.isEmpty ? "Done." : text)
    }

    func forget() { turns = rules.map { _ in 0 } }
}
