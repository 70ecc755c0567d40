// SPDX-License-Identifier: Apache-2.0
import Glibc
import Graph
import NodeKit

/// Listeners of several nodes, each made when it is first needed.
struct PeakListeners {
    private var all: [UInt32: PeakListener] = [:]

    /// The loudest sample of a node since the last call, linear; nil: no block was measured.
    mutating func take(_ node: NodeInstance) -> Float? {
        if let listener = all[node.number] { return listener.take() }
        all[node.number] = node.listen()
        return nil
    }

    /// Others than these are listened to no more.
    mutating func keep(_ nodes: some Sequence<NodeInstance>) {
        if all.isEmpty { return }
        let kept = Set(nodes.map(\.number))
        all = all.filter { kept.contains($0.key) }
    }
}

/// How loud nodes are, for who asks, and whether an output is beyond full scale.
final class LevelWatch: Sendable {
    private struct State {
        /// Who listens to the outputs, and to nodes that somebody asks for.
        var outputListeners = PeakListeners()
        var listeners = PeakListeners()
        /// When levels of nodes were told last.
        var toldAt = -Double.infinity
        /// The loudest sample at the outputs since somebody asked.
        var outputPeak: Float = 0
        /// Outputs that are beyond full scale: by how much, and when that was told last.
        var clippedPeaks: [String: Float] = [:]
        var clippedAt: [String: Double] = [:]
    }

    private let context: GraphContext
    private let state = Lock(State())

    init(_ context: GraphContext) { self.context = context }

    /// Listens to nodes, and tells what is due. [control]
    func look(at nodes: [NodeInstance]) {
        watchOutputs(nodes.filter { $0.typeName == StandardType.output })
        tellLevels(nodes)
    }

    /// The loudest sample at the outputs since the last call, linear. [any]
    func takeOutputPeak() -> Float {
        state.withLock { state in
            defer { state.outputPeak = 0 }
            return state.outputPeak
        }
    }

    /// Publishes how loud those nodes are that somebody asks for, 20 times a second.
    private func tellLevels(_ nodes: [NodeInstance]) {
        let now = monotonicSeconds()
        let isDue = state.withLock { state in
            // A round that comes a little early counts, or else every second one would be late.
            guard now - state.toldAt > 0.045 else { return false }
            state.toldAt = now
            return true
        }
        guard isDue else { return }
        let wanted = nodes.filter { context.bus.wanted([Host.output.name], of: $0.name) == [true] }
        state.withLock { $0.listeners.keep(wanted) }
        for node in wanted {
            guard let peak = state.withLock({ $0.listeners.take(node) }) else { continue }
            let frame = SeriesFrame(node: node.name, time: context.time.now, rows: [.init(Host.output.name, [peak])])
            context.bus.publish(.frame(frame.onRequest))
        }
    }

    /// Looks how loud the outputs are: what is beyond full scale is clipped by the sound card, if not before. Told at most
    /// once a second and output.
    private func watchOutputs(_ outputs: [NodeInstance]) {
        state.withLock { $0.outputListeners.keep(outputs) }
        for node in outputs {
            let name = node.name
            let now = monotonicSeconds()
            let worst: Float? = state.withLock { state in
                guard let peak = state.outputListeners.take(node) else { return nil }
                state.outputPeak = max(state.outputPeak, peak)
                guard peak > 1 else { return nil }
                state.clippedPeaks[name] = max(state.clippedPeaks[name] ?? 0, peak)
                guard now - (state.clippedAt[name] ?? -1) >= 1 else { return nil }
                state.clippedAt[name] = now
                return state.clippedPeaks.removeValue(forKey: name)
            }
            guard let worst else { continue }
            context.reports.count(name, "clipped", 1)
            context.tell(HostEvent.clipped, node: name, ["peak": .number(20 * log10(Double(worst)))])
        }
    }
}

extension Host {
    /// The series on request that the host itself measures of every node from which audio comes, or goes to the server.
    public static let output = Series(
        "output", "the loudest sample that came out of the node, linear", rate: 20, width: 1, onRequest: true)

    /// Listens to all nodes for so many seconds: the loudest sample of each, linear, by name; not of those from
    /// which no audio comes. Throws unless a graph plays.
    public func levels(seconds: Double = 0.3) async throws(Fault) -> [String: Float] {
        let listeners = try graph().nodes.map { ($0.name, $0.listen()) }
        try? await Task.sleep(for: .seconds(seconds))
        return Dictionary(
            listeners.compactMap { name, listener in listener.take().map { (name, $0) } }, uniquingKeysWith: { $1 })
    }
}
