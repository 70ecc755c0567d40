// SPDX-License-Identifier: Apache-2.0
import Host
import NodeKit

/// How a recorder stands.
struct RecorderFace: Sendable {
    private(set) var state = "idle"
    private var seconds = 0.0
    private var since = 0.0

    /// Whether it has a recording that is not complete.
    var isOn: Bool { ["recording", "paused", "interrupted"].contains(state) }
    /// What the key begins or completes it with.
    var action: String { isOn ? VG_ACTION_FINISH : VG_ACTION_START }

    /// Takes an event with which it tells its state.
    mutating func take(_ event: Event, at time: Double) {
        state = event.text("state") ?? state
        (seconds, since) = (event.number("seconds") ?? 0, time)
    }

    /// "REC 0:12", "paused 0:12"; nil: it does not record.
    func text(at time: Double) -> String? {
        guard isOn else { return nil }
        let isRunning = state == "recording"
        return "\(isRunning ? "REC" : state) \(clock(seconds + (isRunning ? max(0, time - since) : 0)))"
    }
}

/// How who answers stands.
struct AgentFace: Sendable {
    private(set) var label = ""
    private(set) var hasFailed = false

    /// Takes an event with which it tells its state.
    mutating func take(_ event: Event) {
        let error = event.text("error") ?? ""
        hasFailed = !error.isEmpty
        label = hasFailed ? error : event.text("label") ?? ""
    }
}

extension FaceState {
    /// What is done to a node, and what it does: "muted", "REC 0:12", "Thinking...".
    func standing(of node: GraphNode, at time: Double) -> String {
        [node.state, recorders[node.name]?.text(at: time) ?? "", agents[node.name]?.label ?? ""]
            .filter { !$0.isEmpty }.joined(separator: ", ")
    }

    /// The nodes that the list shows: all of them, or those whose name or type has what is looked for.
    var listed: [GraphNode] {
        let wanted = keys.filter.lowercased()
        guard !wanted.isEmpty else { return graphNodes }
        return graphNodes.filter { $0.name.lowercased().contains(wanted) || $0.type.lowercased().contains(wanted) }
    }
}
