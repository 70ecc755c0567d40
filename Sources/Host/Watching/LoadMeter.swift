// SPDX-License-Identifier: Apache-2.0
import Graph
import NodeKit

/// How much of its time a graph takes to compute, smoothed over the times when somebody asks.
final class LoadMeter: Sendable {
    private struct State {
        var load = 0.0
        var ticks: UInt64 = 0
        var position: UInt64 = 0
    }

    private let state = Lock(State())
    private let clock: TickClock

    init(_ clock: TickClock) { self.clock = clock }

    /// The load from 0 to 1, by what the engine has counted until now; `rate` in Hz. [control]
    func load(_ counters: EngineCounters, rate: Double) -> Double {
        state.withLock { state in
            let frames = counters.position &- state.position
            guard frames > 0 else { return state.load }
            let busy = clock.seconds(counters.busyTicks &- state.ticks)
            let recent = busy / (Double(frames) / rate)
            state.load = state.position == 0 ? recent : 0.7 * state.load + 0.3 * recent
            (state.position, state.ticks) = (counters.position, counters.busyTicks)
            return state.load
        }
    }
}
