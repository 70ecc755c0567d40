// SPDX-License-Identifier: Apache-2.0
import Realtime

/// How long a processor waits for its node's other half where the server freewheels, and so waits for the processor: two
/// seconds for what does not come, and then no more until something has come. Audio thread only.
struct FreewheelPatience: BitwiseCopyable {
    /// When it ends, in nanoseconds; 0: it has not begun.
    private var end: UInt64 = 0
    private var isOver = false

    @_noLocks
    init() {}

    /// Waits for a moment; false: it has been long enough. [audio]
    @_noLocks
    mutating func wait() -> Bool {
        if isOver { return false }
        let now = vg_nanoseconds()
        if end == 0 { end = now &+ 2_000_000_000 }
        if now >= end {
            isOver = true
            return false
        }
        vg_sleep_until(now &+ 100_000)
        return true
    }

    /// What was waited for has come. [audio]
    @_noLocks
    mutating func renew() {
        end = 0
        isOver = false
    }
}
