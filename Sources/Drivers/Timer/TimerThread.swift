// SPDX-License-Identifier: Apache-2.0
import Glibc
import Graph
import Realtime
import Synchronization
import System

/// An audio thread that calls the cycle by the clock.
final class TimerThread: @unchecked Sendable {
    // Sendable: the cycle's state is atomic or the audio thread's own; `thread` belongs to whoever starts and stops it.

    let cycle: UnsafeMutablePointer<TimerCycle>
    private var thread: SystemThread?

    /// Cycles of `block` frames at `rate` Hz; `jack`: those of a JACK driver. [control]
    init(rate: Double, block: Int, jack: UnsafeMutablePointer<JackCycle>? = nil) {
        cycle = .allocate(capacity: 1)
        cycle.initialize(to: TimerCycle(rate: rate, block: block, jack: jack))
    }

    deinit {
        stop()
        cycle.deinitialize(count: 1)
        cycle.deallocate()
    }

    /// Has the calling thread run before others. Without the right to it the thread runs as an ordinary one, which the
    /// status tells. [any]
    static let hurry: @Sendable () -> Void = {
        var parameter = sched_param(sched_priority: 70)
        pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameter)
    }

    /// Begins to call `engine`. [control]
    func start(_ engine: AudioEngine) throws(SystemError) {
        cycle.pointee.engine = engine
        cycle.pointee.enabled.store(true, ordering: .releasing)
        // It is joined before this ends.
        thread = try SystemThread(name: "vg-audio") { [unowned self] in
            Self.hurry()
            cycle.pointee.thread.store(vg_thread_id(), ordering: .relaxed)
            runTimer(cycle)
        }
    }

    /// No call comes after the return; `start` begins anew. [control]
    func stop() {
        cycle.pointee.enabled.store(false, ordering: .releasing)
        thread?.join()
        thread = nil
    }
}
