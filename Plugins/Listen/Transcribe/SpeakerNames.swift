// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Who spoke when, as another node tells it: from a frame of the graph on, until it tells something else.
final class SpeakerNames: Sendable {
    private struct State {
        var told: [(position: Double, name: String)] = []
    }

    /// What is kept.
    private static let most = 256
    /// Seconds that a name may come after the end of what it belongs to, and before its beginning.
    private static let (patience, before) = (0.3, 0.5)

    private let state = Lock(State())

    /// From a position on this one speaks; blank: nobody that is known. [control]
    func take(_ name: String, from position: UInt64) {
        state.withLock { state in
            state.told.removeAll { $0.position >= Double(position) }
            state.told.append((Double(position), name))
            if state.told.count > Self.most { state.told.removeFirst() }
        }
        state.signal()
    }

    /// Who spoke for most of a span; blank: nobody that is known, or nobody tells it. What is not told yet is waited for, for a
    /// moment, if that is wanted. `rate`: frames in a second. [worker]
    func name(in span: Range<Double>, rate: Double, waits: Bool) -> String {
        if state.withLock(\.told.isEmpty) { return "" }
        let deadline = waits ? monotonicSeconds() + Self.patience : 0
        let first = span.lowerBound - Self.before * rate
        let name = state.wait(until: deadline) { state -> String? in
            state.told.contains { $0.position >= first && $0.position < span.upperBound } ? Self.most(state, span) : nil
        }
        return name ?? ""
    }

    private static func most(_ state: State, _ span: Range<Double>) -> String {
        var lengths: [String: Double] = [:]
        for (index, one) in state.told.enumerated() {
            let end = index + 1 < state.told.count ? state.told[index + 1].position : .infinity
            let length = min(end, span.upperBound) - max(one.position, span.lowerBound)
            if length > 0 { lengths[one.name, default: 0] += length }
        }
        // Between two speeches nobody speaks: that counts only where nobody does at all.
        return lengths.filter { !$0.key.isEmpty }.max { $0.value < $1.value }?.key ?? ""
    }
}
