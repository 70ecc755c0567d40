// SPDX-License-Identifier: Apache-2.0
import CRealtime
import System

/// What of this process the kernel keeps in memory for realtime threads: all code and data that was touched, and what will
/// be of the same mappings. libjack itself locks only what it shares with the server.
package enum LockedMemory {
    /// Nil: something was locked since it was looked at.
    private static let known = Lock<vg_locked?>(vg_locked())

    /// Locks what is there now. Call it when a realtime thread has begun, and before it gets anything new. [control]
    static func update() {
        vg_lock_memory()
        known.withLock { $0 = nil }
    }

    /// Gives back what was read of programs and libraries so far: what begins a program is needed once. Call it before
    /// audio threads run, in a program that does nothing else. [control]
    package static func releaseCode() { vg_release_code() }

    /// How much that is: it is looked at when somebody asks, since that takes milliseconds. [control]
    static var figures: vg_locked {
        known.withLock { known in
            let figures = known ?? vg_locked_memory()
            known = figures
            return figures
        }
    }
}
