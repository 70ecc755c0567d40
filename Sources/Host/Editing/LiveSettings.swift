// SPDX-License-Identifier: Apache-2.0
import Graph
import GraphFile
import NodeKit

/// A graph after a change that is heard.
struct Edited: Sendable {
    var graph: RunningGraph
    var before, after: GraphDescription
    /// What leads back: `before`, with the values of the parameters of nodes that have ended.
    var back: GraphDescription
    /// What parameters of nodes that stay were set to, where they are set to something else now.
    var turned: [EditHistory.Place: Float]
    var difference: GraphDifference
    /// What is to come of live settings.
    var answers: [SettingAnswer]
}

/// A live setting that a node was asked to change. It does not keep the node, which says at its end that it is gone.
struct SettingAnswer: Sendable {
    var node: String
    var key: String
    var value: SettingValue
    fileprivate var answers: AsyncStream<NodeError?>

    /// Why the node does not change it; nil: it has.
    var refusal: NodeError? {
        get async {
            for await answer in answers { return answer }
            return NodeError("the node is gone")
        }
    }
}

/// Settings that are changed while their nodes play.
extension Host {
    /// Changes a setting that its type declares live; the node goes on with all that it holds. Throws what the node says
    /// where it refuses.
    @discardableResult
    public func change(_ node: String, _ setting: String, to value: SettingValue) async throws -> GraphDifference {
        let instance = try graph().instance(node)
        do { try instance.declarations.check(live: setting, value) } catch {
            throw Fault("node '\(node)': \(error.message)", hint: error.hint)
        }
        return try await edit("set \(node).\(setting)") { description in
            let index = try description.index(of: node)
            if description.nodes[index].entries[setting] == nil { description.nodes[index].keys.append(setting) }
            description.nodes[index].entries[setting] = Entry(value)
        }
    }

    /// Waits for the nodes whose live settings were changed, which may take their time, while other edits go on. What a
    /// node refuses stays as it was.
    func settle(_ edited: Edited, warns: Bool) async throws -> GraphDifference {
        var difference = edited.difference
        guard !edited.answers.isEmpty else { return difference }
        for answer in edited.answers {
            guard let refusal = await answer.refusal else {
                edited.graph.mark(
                    answer.key, of: answer.node, from: edited.before, to: edited.after, by: Author.current)
                continue
            }
            let entry = edited.before.nodes.first { $0.name == answer.node }?.entries[answer.key]
            try await afterOthers { edited.graph.restore(answer, entry) }
            guard warns else {
                throw Fault("node '\(answer.node)': \(refusal.message)", hint: refusal.hint)
            }
            difference.settings -= 1
            difference.warnings.append(edited.graph.tellRefusal(of: answer, refusal, edited.after))
        }
        edited.graph.tell(difference)
        return difference
    }
}

extension RunningGraph {
    /// Begins to change live settings; returns what their nodes will say. [any]
    func apply(_ changes: [SettingChange]) -> [SettingAnswer] {
        changes.map { change in
            let (answers, answer) = AsyncStream<NodeError?>.makeStream()
            change.instance.set(change.key, to: change.value) { error in
                answer.yield(error)
                answer.finish()
            }
            return SettingAnswer(node: change.instance.name, key: change.key, value: change.value, answers: answers)
        }
    }

    /// The description says of a setting again what it said before, unless it says something else by now: the node has
    /// refused. [control]
    func restore(_ refused: SettingAnswer, _ before: Entry?) {
        func restore(_ node: inout NodeDescription) {
            let now = node.entries[refused.key]?.value
            guard node.name == refused.node, now == nil || now == refused.value else { return }
            node.entries[refused.key] = before
            if before == nil { node.keys.removeAll { $0 == refused.key } }
            if before != nil, now == nil { node.keys.append(refused.key) }
        }
        state.withLock { state in
            for place in state.graph.nodes.indices { restore(&state.graph.nodes[place].description) }
            for place in state.description.nodes.indices { restore(&state.description.nodes[place]) }
        }
    }

    /// Publishes that a node does not take what a file says of a live setting; returns the same with its place. [any]
    func tellRefusal(of setting: SettingAnswer, _ error: NodeError, _ file: GraphDescription) -> Diagnostic {
        let name = setting.node
        let text = "'\(setting.key)' stays as it was: \(error.message)"
        tell(HostEvent.log, node: name, ["text": .string(text), "level": .string("warning")])
        let entry = file.nodes.first { $0.name == name }?.entries[setting.key]
        return Diagnostic(
            .warning, "node '\(name)': \(text)", at: entry?.valueLocation ?? file.location, hint: error.hint)
    }
}
