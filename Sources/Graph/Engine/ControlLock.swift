// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A value that threads of the control side take turns with; the audio thread never takes it. It is a lock of the
/// system's library, which the thread sanitizer understands, as it does not `Synchronization.Mutex`.
final class ControlLock<Value>: @unchecked Sendable {
    // Sendable: `value` is reached only while the lock is held.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var value: Value

    init(_ value: Value) {
        self.value = value
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs `body` alone. It must not take the same lock. [control]
    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body(&value)
    }
}
