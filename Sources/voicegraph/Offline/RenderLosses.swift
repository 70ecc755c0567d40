// SPDX-License-Identifier: Apache-2.0
import Host
import NodeKit
import Terminal

/// What nodes say during a render, and what was lost of the audio: whoever hears only the file would not know why a part of
/// it is missing.
final class RenderLosses {
    private let events: Subscription
    private var silenced = SilencedNodes()
    /// Nodes that failed or were not well.
    private var unwell: Set<String> = []

    /// Listens to a graph that is about to be rendered; what could not be made of it has been told already, but is lost.
    init(_ prepared: PreparedGraph) {
        unwell = Set(prepared.degraded.keys)
        events = prepared.bus.subscribe(.lossless) {
            if case .event(let event) = $0 {
                event.isOfGuard || event.name == HostEvent.health.name || event.name == HostEvent.log.name
                    || event.name == HostEvent.failed.name || event.tellsTake
            } else {
                false
            }
        }
    }

    /// Whether nothing was lost.
    var isEmpty: Bool { silenced.isEmpty && unwell.isEmpty }

    /// What the last line of a render says of it.
    var summary: String {
        let names = unwell.union(silenced.names).sorted()
        return names.isEmpty ? "" : "; audio was lost at: \(names.joined(separator: ", "))"
    }

    /// Takes what was said since the last call; `tell` is given a line for each that is to be read. `frames`: how far the
    /// render is.
    func read(until frames: Int, _ tell: (String) -> Void) {
        while case .event(let event)? = events.poll() {
            if event.isOfGuard {
                silenced.add(event)
                continue
            }
            // That the file cannot be written ends the render, which says so itself.
            if event.node == Render.recorder, event.isFailure { continue }
            let node = event.node.map { "node '\($0)'" } ?? "the graph"
            switch event.name {
            case HostEvent.log.name:
                guard ["warning", "error"].contains(event.text("level")) else { continue }
                tell("voicegraph: \(node): \(event.text("text") ?? "")\(number(event))\n")
            case _ where event.tellsTake:
                // Files beside the one that was asked for.
                guard event.node != Render.recorder else { continue }
                tell("voicegraph: \(node) wrote \(event.text("path") ?? "a file")\n")
            case HostEvent.health.name:
                guard let state = event.text("state"), state != "ok", let name = event.node,
                    event.text("reason")?.hasPrefix("silenced: ") != true
                else { continue }
                // What was left out before has been told with its place in the file.
                let isNews = unwell.insert(name).inserted
                if isNews {
                    tell(
                        "voicegraph: \(node) \(state == "failed" ? "failed" : "is not well"): \(event.text("reason") ?? "")\n"
                    )
                }
            default: tell("voicegraph: \(event.text("reason") ?? event.name)\n")
            }
        }
    }

    private func number(_ event: Event) -> String {
        guard case .number(let value)? = event.fields["value"] else { return "" }
        return value == value.rounded() ? " (\(Int(value)))" : " (\(value))"
    }

    /// A line for each node that was silenced by its guard; the render ended at `end`, in seconds.
    func silences(until end: Double) -> String { silenced.text(until: end) }
}

/// What the guards did during a render: whoever hears only the file would not know why a part of it is missing.
private struct SilencedNodes {
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

    /// Of the nodes that were silenced.
    var names: [String] { nodes.keys.sorted() }
}

extension Event {
    /// Whether a node tells that it failed.
    fileprivate var isFailure: Bool {
        name == HostEvent.log.name && text("level") == "error"
            || name == HostEvent.health.name && text("state") == "failed"
    }

    /// Whether a file is complete.
    fileprivate var tellsTake: Bool { type?.role == .take(.whole) && type?.kind != .failure }

    /// Whether a guard tells of a node that it silenced or let through again.
    var isOfGuard: Bool { name == HostEvent.silenced.name || name == HostEvent.heard.name }
}
