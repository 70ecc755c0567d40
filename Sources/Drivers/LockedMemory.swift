// SPDX-License-Identifier: Apache-2.0
import CRealtime
import System

/// What of this process the kernel keeps in memory for realtime threads: all code and data that was touched, and what will
/// be of the same mappings. libjack itself locks only what it shares with the server.
enum LockedMemory {
    private static let locked = Lock(vg_locked())

    /// Locks what is there now. Call it when a realtime thread has begun, and before it gets anything new. [control]
    static func update() { locked.withLock { $0 = vg_lock_memory() } }

    /// Bytes that cannot be paged out. [any]
    static var present: Int { locked.withLock { Int($0.present) } }

    /// How much of what the kernel counts as locked is of this process alone. [any]
    static var mapped: Int { locked.withLock { Int($0.mapped) } }
}
