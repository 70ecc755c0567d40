// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Realtime
import System

/// For how long a child has owed a block and could have worked on it: what it waited for a processor, or for whoever looks
/// after it to have one, does not count. Belongs to the thread that watches.
struct OwedBlock {
    /// What counts at most between two looks, in seconds: whoever looks so rarely has no processor either.
    private static let longestStep = 0.05

    private var since: UInt64 = 0
    private var seconds = 0.0
    private var looked = 0.0
    private var thread: ThreadWatch?
    private var before: ThreadTimes?

    /// Looks at a child that has owed a block since `since`, in nanoseconds; returns what counts so far, in seconds.
    mutating func look(since: UInt64, thread id: Int32, of process: pid_t) -> Double {
        let now = monotonicSeconds()
        if thread?.thread != id { thread = ThreadWatch(thread: id, of: process) }
        let times = thread?.times
        defer { (looked, before) = (now, times) }
        guard since == self.since else {
            (self.since, seconds) = (since, 0)
            return 0
        }
        let step = min(now - looked, Self.longestStep)
        guard let times, let before else {
            // The kernel does not say.
            seconds += step
            return seconds
        }
        // A wait that has not ended is not counted yet, so that of one that is ready only what it ran is sure.
        let worked = thread?.isReady == true ? times.ran - before.ran : now - looked - (times.waited - before.waited)
        seconds += min(step, max(0, worked))
        return seconds
    }
}
