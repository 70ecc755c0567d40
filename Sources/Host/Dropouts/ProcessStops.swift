// SPDX-License-Identifier: Apache-2.0
import Glibc
import Realtime
import Synchronization
import System

/// Notices when the whole process was stopped: by Ctrl-Z, by SIGSTOP, by a debugger, or with its control group. A thread does
/// nothing but sleep. The kernel counts how often it gives its processor away by itself: once for a sleep, and once more for a
/// stop meanwhile, but not when it only has to wait for a processor. A handler of SIGCONT would know less, and could run on
/// a thread of libjack's, whose wait then ends with an error.
final class ProcessStops: Sendable {
    /// At some time between these two, in ticks, the process was stopped.
    struct Stop: Sendable, Equatable {
        var from: UInt64
        var to: UInt64
    }

    private struct State {
        var stops: [Stop] = []
        var looked: UInt64?
    }

    /// What the kernel counts of the calling thread.
    private struct Counts {
        var given: Int
        var faults: Int
        /// RUSAGE_THREAD, which the headers show to C alone.
        private static let ownThread: Int32 = 1

        init() {
            var usage = rusage()
            getrusage(Self.ownThread, &usage)
            given = usage.ru_nvcsw
            faults = usage.ru_majflt
        }
    }

    /// Stops that are remembered.
    private static let kept = 16
    private let state = Lock(State())
    private let isEnding = Atomic(false)

    /// The last stops, oldest first, and until when, in ticks, it is known whether there were more; nil: nobody looks. [any]
    var known: (stops: [Stop], until: UInt64?) { state.withLock { ($0.stops, $0.looked) } }

    /// Begins to look; without room for a thread nothing is known. Once. [control]
    func begin() {
        let thread = try? SystemThread(name: "vg-stops", blocksSignals: true) { self.watch() }
        thread?.detach()
    }

    /// Ends that, a moment later. [any]
    func end() { isEnding.store(true, ordering: .relaxed) }

    private func watch() {
        while !isEnding.load(ordering: .relaxed) {
            let from = vg_ticks()
            let before = Counts()
            usleep(50_000)
            let after = Counts()
            let to = vg_ticks()
            // Whoever waits for a page of memory gives the processor away as well.
            let wasStopped = after.given - before.given > 1 && after.faults == before.faults
            state.withLock { state in
                state.looked = to
                if wasStopped { state.stops.append(Stop(from: from, to: to)) }
                state.stops.removeFirst(max(0, state.stops.count - Self.kept))
            }
        }
        state.withLock { $0.looked = nil }
    }
}
