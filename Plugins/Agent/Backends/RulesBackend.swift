// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Answers by rules: the first one that matches, its replies in turn.
final class RulesBackend: Backend {
    private let rules: [Rule]
    /// How often each rule has answered.
    private var turns: [Int]

    init(_ settings: Settings, _ host: NodeHost) throws(NodeError) {
        if let path = settings.string("rules") {
            rules = try RuleFile.read(host.resolve(path))
        } else {
            rules = try RuleFile.rules(RuleFile.builtIn, path: "built-in rules")
        }
        turns = rules.map { _ in 0 }
    }

    func answer(_ reply: Reply) throws(AgentFault) {
        let words = SpokenWord.words(of: reply.text)
        for (index, rule) in rules.enumerated() {
            guard let values = rule.patterns.lazy.compactMap({ $0.match(words) }).first else { continue }
            let chosen = rule.replies[turns[index] % rule.replies.count]
            turns[index] += 1
            _ = try reply.say(RuleReply.fill(chosen.text, values))
            return
        }
        var fault = AgentFault(.other, "no rule matches")
        fault.isRefusal = true
        throw fault
    }

    func forget() { turns = rules.map { _ in 0 } }
}
