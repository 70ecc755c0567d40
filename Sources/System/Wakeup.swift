// SPDX-License-Identifier: Apache-2.0
import CRealtime
import Glibc

/// Wakes one sleeping thread; signals that come while it is awake are kept, several as one.
public final class Wakeup: Sendable {
    /// Becomes readable with a signal, for those who wait for other things as well.
    public let descriptor: Int32

    /// Nobody has signalled yet. Traps when the process has no descriptor left. [control]
    public init() {
        descriptor = vg_event_open()
        precondition(descriptor >= 0, "no event descriptor could be created")
    }

    deinit { close(descriptor) }

    /// Wakes the sleeper; about 0.2 us, never blocks. [any]
    public func signal() { vg_event_signal(descriptor) }

    /// Sleeps until a signal or for at most `milliseconds` (-1: for ever); whether there was one. [control]
    @discardableResult
    public func wait(milliseconds: Int) -> Bool { vg_event_wait(descriptor, Int32(milliseconds)) }
}
