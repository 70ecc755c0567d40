// SPDX-License-Identifier: Apache-2.0
import Host
import Terminal

/// What the guards did during a render: whoever hears only the file would not know why a part of it is missing.
struct SilencedNodes {
    private struct Silence {
        var reason: String
        /// When the node was silenced first, in seconds.
        var first: Double
        /// Since when it is silent; nil: it is heard again.
        var since: Double?
        /// Seconds of silence that are over.
        var over = 0.0
        var times = 0
    }

    private var nodes: [String: Silence] = [:]

    var isEmpty: Bool { nodes.isEmpty }

    /// Takes one of the two events of guards.
    mutating func add(_ event: Event) {
        guard let node = event.node else { return }
        var silence = nodes[node] ?? Silence(reason: event.text("reason") ?? "", first: event.time)
        if event.name == HostEvent.silenced.name {
            silence.since = event.time
            silence.times += 1
        } else if let since = silence.since {
            silence.over += event.time - since
            silence.since = nil
        }
        nodes[node] = silence
    }

    /// A line for each node; the render ended at `end`, in seconds. Empty: none was silenced.
    func text(until end: Double) -> String {
        nodes.sorted { ($0.value.first, $0.key) < ($1.value.first, $1.key) }.map { name, silence in
            let seconds = silence.over + (silence.since.map { max(0, end - $0) } ?? 0)
            let times = silence.times > 1 ? " in \(silence.times) parts" : ""
            return "voicegraph: node '\(name)' was silenced from \(fixed(silence.first, 2)) s on, "
                + "for \(fixed(seconds, 2)) s\(times): \(silence.reason)\n"
        }.joined()
    }

    /// What the last line of a render says of it.
    var summary: String { nodes.isEmpty ? "" : "; silenced: \(nodes.keys.sorted().joined(separator: ", "))" }
}

extension Event {
    /// Whether a guard tells of a node that it silenced or let through again.
    var isOfGuard: Bool { name == HostEvent.silenced.name || name == HostEvent.heard.name }
}
