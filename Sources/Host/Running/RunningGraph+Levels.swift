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

/// How loud nodes are.
extension RunningGraph {
    /// Publishes how loud those nodes are that somebody asks for, 20 times a second.
    func tellLevels() {
        let now = monotonicSeconds()
        let isDue = state.withLock { state in
            // A round that comes a little early counts, or else every second one would be late.
            guard now - state.levelsAt > 0.045 else { return false }
            state.levelsAt = now
            return true
        }
        guard isDue else { return }
        let wanted = nodes.filter { bus.wanted([Host.output.name], of: $0.name) == [true] }
        state.withLock { $0.listeners.keep(wanted) }
        for node in wanted {
            guard let peak = state.withLock({ $0.listeners.take(node) }) else { continue }
            let frame = SeriesFrame(node: node.name, time: time.now, rows: [.init(Host.output.name, [peak])])
            bus.publish(.frame(frame.onRequest))
        }
    }

    /// Looks how loud the outputs are: what is beyond full scale is clipped by the sound card, if not before. Told at most
    /// once a second and output.
    func watchOutputs() {
        let outputs = nodes.filter { $0.typeName == StandardType.output }
        state.withLock { $0.outputListeners.keep(outputs) }
        for node in outputs {
            guard let peak = state.withLock({ $0.outputListeners.take(node) }) else { continue }
            let name = node.name
            let isNews = state.withLock { state in
                state.outputPeak = max(state.outputPeak, peak)
                guard peak > 1 else { return false }
                state.clippedPeaks[name] = max(state.clippedPeaks[name] ?? 0, peak)
                return monotonicSeconds() - (state.clippedAt[name] ?? -1) >= 1
            }
            guard isNews else { continue }
            let worst = state.withLock { state in
                state.clippedAt[name] = monotonicSeconds()
                return state.clippedPeaks.removeValue(forKey: name) ?? peak
            }
            reports.count(name, "clipped", 1)
            tell(HostEvent.clipped, node: name, ["peak": .number(20 * log10(Double(worst)))])
        }
    }
}

extension Host {
    /// The series on request that the host itself measures of every node which has a guard.
    public static let output = Series(
        "output", "the loudest sample that came out of the node, linear", rate: 20, width: 1, onRequest: true)

    /// Listens to all nodes for so many seconds: the loudest sample of each, linear, by name. Those without a guard, and
    /// light ones, are not among them. Throws unless a graph plays.
    public func levels(seconds: Double = 0.3) async throws(Fault) -> [String: Float] {
        let listeners = try graph().nodes.map { ($0.name, $0.listen()) }
        try? await Task.sleep(for: .seconds(seconds))
        return Dictionary(
            listeners.compactMap { name, listener in listener.take().map { (name, $0) } }, uniquingKeysWith: { $1 })
    }
}
