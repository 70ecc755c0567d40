// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Realtime

/// Threads for control calls of nodes, made when they are needed: a call that blocks its thread delays no other. A thread
/// without work ends, the last two after ten seconds.
public final class ControlThreads: @unchecked Sendable {
    // Sendable: `monitor` guards everything that changes.

    /// Those that all graphs of this process share.
    public static let shared = ControlThreads()

    private let monitor = Monitor()
    private var waiting: [@Sendable () -> Void] = []
    private var first = 0
    private var idle = 0
    private var count = 0
    /// When a thread took work last, by the counter of `vg_nanoseconds`.
    private var taken: UInt64 = 0

    /// So many threads begin at once; more only while none of those has taken work for `stall`.
    private let prompt = 8
    /// So many wait for work at most; others end when they have none.
    private let spare = 2
    private let most = 1024
    private let stall: UInt64 = 5_000_000
    private let rest = 10_000

    /// None yet.
    public init() {}

    /// Runs `work` on a free thread, soon. [any]
    public func submit(_ work: @escaping @Sendable () -> Void) {
        let (begins, isAwaited) = monitor.locked {
            waiting.append(work)
            let isAwaited = idle >= waiting.count - first
            return (!isAwaited && beginsAnother(), isAwaited)
        }
        // Not with the lock held: whom it wakes would wait for that.
        if isAwaited { monitor.signalOne() }
        if begins { begin() }
    }

    /// Starts another thread if work waits and nobody takes it: those that there are hang. Call it now and then. [any]
    public func relieve() {
        if monitor.locked({ first < waiting.count && idle == 0 && beginsAnother() }) { begin() }
    }

    private func beginsAnother() -> Bool {
        guard count < most, count < prompt || vg_nanoseconds() &- taken > stall else { return false }
        count += 1
        return true
    }

    private func begin() {
        // Nobody joins it: it ends by itself. Without a thread the work waits for one that is there.
        guard let thread = try? SystemThread(name: "vg-control", { [self] in serve() }) else {
            return monitor.locked { count -= 1 }
        }
        thread.detach()
    }

    private func serve() {
        while let work = next() { work() }
    }

    private func next() -> (@Sendable () -> Void)? {
        monitor.locked {
            let end = vg_nanoseconds() &+ UInt64(rest) * 1_000_000
            while first == waiting.count {
                let now = vg_nanoseconds()
                // Never more wait than are spared, and none for longer than `rest`.
                guard now < end, idle < spare else {
                    count -= 1
                    return nil
                }
                idle += 1
                monitor.wait(milliseconds: Int((end - now) / 1_000_000) + 1)
                idle -= 1
            }
            taken = vg_nanoseconds()
            let work = waiting[first]
            first += 1
            if first == waiting.count {
                waiting.removeAll(keepingCapacity: waiting.count < 1024)
                first = 0
            }
            return work
        }
    }
}
