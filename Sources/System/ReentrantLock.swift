// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A lock that the thread which holds it may take again, for libraries that call back while they are called: the inner
/// call must find what the outer one began. Never for the audio thread.
public final class ReentrantLock: @unchecked Sendable {
    // Sendable: it is what makes other things so.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    /// Makes an open lock. [any]
    public init() {
        mutex.initialize(to: pthread_mutex_t())
        var attributes = pthread_mutexattr_t()
        pthread_mutexattr_init(&attributes)
        pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_RECURSIVE))
        pthread_mutex_init(mutex, &attributes)
        pthread_mutexattr_destroy(&attributes)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs `body` with the lock held. [any]
    public func locked<Result, Failure>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body()
    }
}
