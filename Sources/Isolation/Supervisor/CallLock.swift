// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A lock that may be tried. Never for the audio thread.
final class CallLock: @unchecked Sendable {
    // Sendable: a mutex is made for that.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    init() { pthread_mutex_init(mutex, nil) }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func acquire() { pthread_mutex_lock(mutex) }
    func tryAcquire() -> Bool { pthread_mutex_trylock(mutex) == 0 }
    /// False: others held it for so long.
    func acquire(within seconds: Double) -> Bool {
        var end = timespec()
        clock_gettime(CLOCK_REALTIME, &end)
        let nanoseconds = Int(end.tv_nsec) + Int(seconds * 1e9)
        end.tv_sec += nanoseconds / 1_000_000_000
        end.tv_nsec = nanoseconds % 1_000_000_000
        return pthread_mutex_timedlock(mutex, &end) == 0
    }
    func release() { pthread_mutex_unlock(mutex) }
}
