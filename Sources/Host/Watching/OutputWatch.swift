// SPDX-License-Identifier: Apache-2.0
import Drivers
import Graph
import NodeKit

/// What an output, or a MIDI port, that is connected to nothing is told as, with what to do.
enum OutputJudgement {
    /// nil: something is connected to it, or it cannot be known.
    static func text(of node: NodeInstance, _ connections: PortConnections) -> String? {
        let isInput = node.typeName == StandardType.midiInput
        let result =
            isInput
            ? "nothing comes from it" : node.typeName == StandardType.output ? "nobody hears it" : "nobody gets it"
        switch connections {
        case .unknown, .connected: return nil
        case .missing:
            return "nothing is connected to it, so \(result): the server has no port for it; start the program or the "
                + "device"
        case .unconnected(let unmatched) where !unmatched.isEmpty:
            return "nothing is connected to it, so \(result): \(noSuchPort(unmatched)) (voicegraph doctor "
                + "lists what is there)"
        case .unconnected:
            return "nothing is connected to it, so \(result): give `connect`"
                + (node.typeName == StandardType.output ? ", as in connect = [\"system:playback_*\"]," : "")
                + " or connect it by hand, as with qjackctl"
        }
    }
}

/// "no port is called hw:1"
func noSuchPort(_ names: [String]) -> String {
    "`connect` names what is not there: " + names.map { "\"\($0)\"" }.joined(separator: ", ")
}

/// Looks at what outputs and MIDI ports are connected to, and tells once of each that has nothing.
final class OutputWatch: Sendable {
    private struct State {
        /// Those that are connected to nothing, in words, and those that were told of.
        var unconnected: [String: String] = [:]
        var told: Set<String> = []
    }

    private let driver: any Driver
    private let context: GraphContext
    private let state = Lock(State())

    init(_ driver: any Driver, _ context: GraphContext) { (self.driver, self.context) = (driver, context) }

    /// What is connected to nothing, by the node's name, in words. [any]
    var unconnected: [String: String] { state.withLock(\.unconnected) }

    /// Looks at nodes. [control]
    func look(at nodes: [NodeInstance]) {
        let kinds: Set = [StandardType.output, StandardType.midiOutput, StandardType.midiInput]
        var found: [String: String] = [:]
        for node in nodes where kinds.contains(node.typeName) && isHeard && driver.status.state == .running {
            let count = max(1, node.ports.count { $0.kind == VG_AUDIO_PORT || $0.kind == VG_MIDI_PORT })
            // What the driver cannot tell just now stays as it was.
            guard let connections = driver.connections(of: (1...count).map { "\(node.name)_\($0)" }) else { return }
            found[node.name] = OutputJudgement.text(of: node, connections)
        }
        let fresh = state.withLock { state in
            defer {
                state.unconnected = found
                state.told.formUnion(found.keys)
                state.told.formIntersection(nodes.map(\.name))
            }
            return found.filter { !state.told.contains($0.key) }
        }
        for (name, text) in fresh.sorted(by: { $0.key < $1.key }) {
            context.tell(HostEvent.log, node: name, ["text": .string(text), "level": .string("warning")])
        }
    }

    /// Whether it can matter what outputs are connected to: where nobody hears the server, that is told already.
    private var isHeard: Bool {
        switch driver.info.kind {
        case .jack, .pipewire, .alsa: true
        case .dummy, .timer, .offline: false
        }
    }
}

extension RunningGraph {
    /// Looks at outputs when sound has come for two seconds and then every second. [control]
    func judgeOutputs() {
        Task { [weak self] in
            while let rate = self?.driver.info.rate, self?.isStopped == false {
                try? await Task.sleep(for: .seconds(1))
                guard let self, Double(engine.counters.position) >= 2 * rate else { continue }
                outputs.look(at: nodes)
            }
        }
    }
}
