// SPDX-License-Identifier: Apache-2.0
import Glibc
import Graph
import NodeKit
import Realtime
import Synchronization

/// A thread that does something again and again, until it is stopped.
final class PumpThread: @unchecked Sendable {
    // Sendable: `monitor` guards what threads share; `thread` belongs to the owner, who starts and stops.
    private let monitor = Monitor()
    private var isStopping = false
    private var isAwaited = false
    private var thread: SystemThread?

    /// Begins; a round returns in how many seconds the next is due, or nil: it was the last. [control]
    func start(_ round: @escaping @Sendable () -> Double?) {
        guard thread == nil else { return }
        thread = try? SystemThread(name: "vg-pump") { [self] in
            var due = vg_nanoseconds()
            while let period = round(), wait(period, &due) {}
        }
    }

    /// The next round begins at once: there is something to do. [any]
    func wake() {
        monitor.locked { isAwaited = true }
        monitor.signal()
    }

    /// Ends it after its round. Not from a round. [control]
    func stop() {
        monitor.locked { isStopping = true }
        monitor.signal()
        thread?.join()
        thread = nil
    }

    /// Waits for the next round, which is due so many seconds after the last; false: there is none.
    private func wait(_ period: Double, _ due: inout UInt64) -> Bool {
        due += UInt64(period * 1e9)
        return monitor.locked {
            var now = vg_nanoseconds()
            while now < due, !isAwaited, !isStopping {
                monitor.wait(seconds: Double(due - now) * 1e-9)
                now = vg_nanoseconds()
            }
            // After a pause it does not hurry through the rounds that it has missed.
            if isAwaited || now - min(due, now) > UInt64(period * 1e9) { due = now }
            isAwaited = false
            return !isStopping
        }
    }
}

/// Lets nodes look at what their processors left, on threads that may be blocked: a node that does not come back keeps one
/// thread, and the next round goes on behind it.
final class PollRounds: Sendable {
    private struct State {
        /// The round that is on its way; nil: none.
        var current: Int?
        var number = 0
        /// How many nodes it has done, and had done when a round was asked for last.
        var done = 0
        var seen = -1
        /// Where it began.
        var start = 0
    }

    private let state = Lock(State())

    /// Polls all nodes that want it and are free, unless the last round is still on its way. [any]
    func begin(_ nodes: [NodeInstance]) {
        let wanting = nodes.filter(\.wantsPoll)
        guard !wanting.isEmpty else { return }
        let round = state.withLock { state -> (number: Int, start: Int)? in
            if state.current != nil {
                defer { state.seen = state.done }
                // As far as it was a moment ago: a node holds it up.
                guard state.done == state.seen else { return nil }
                state.start += state.done + 1
            } else {
                state.start = 0
            }
            state.number += 1
            state.current = state.number
            state.done = 0
            state.seen = -1
            return (state.number, state.start)
        }
        guard let round else { return }
        ControlThreads.shared.submit { [self] in
            for index in wanting.indices {
                wanting[(round.start + index) % wanting.count].pollIfFree()
                let goesOn = state.withLock { state in
                    guard state.current == round.number else { return false }
                    state.done = index + 1
                    if index == wanting.count - 1 { state.current = nil }
                    return true
                }
                if !goesOn { return }
            }
        }
    }
}
