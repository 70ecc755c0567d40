// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A lock with a condition to wait for, held for as long as it takes: across calls that block, from one function to
/// another, tried or waited for. Where it is there for one value, `Lock` is safer. Never for the audio thread.
///
/// It is a mutex of the system's library, like all locks here: the thread sanitizer knows those, and would report every
/// use of a value behind `Synchronization.Mutex` as a race.
public final class Monitor: @unchecked Sendable {
    // Sendable: it is what makes other things so.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    /// Makes an open lock. [any]
    public init() {
        mutex.initialize(to: pthread_mutex_t())
        condition.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        // A clock that nobody sets, so that a wait lasts as long as it says.
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Runs `body` with the lock held; not reentrant. [any]
    public func locked<Result, Failure>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body()
    }

    /// Gives up the lock until `signal` or the time is over, whichever is first; also returns without a reason, so
    /// look again at what was waited for. Only while the lock is held. [any]
    public func wait(milliseconds: Int = 100) { wait(seconds: Double(milliseconds) / 1000) }

    /// The same, with a time as short as the system can wait. Only while the lock is held. [any]
    public func wait(seconds: Double) {
        var end = moment(clock: CLOCK_MONOTONIC, after: seconds)
        pthread_cond_timedwait(condition, mutex, &end)
    }

    /// Wakes all who wait. [any]
    public func signal() { pthread_cond_broadcast(condition) }

    /// Wakes one of those who wait, where any of them would do. [any]
    public func signalOne() { pthread_cond_signal(condition) }

    /// Takes the lock, for as long as until `release` on the same thread; not reentrant. [any]
    public func acquire() { pthread_mutex_lock(mutex) }

    /// Takes the lock if nobody holds it. False: somebody does. [any]
    public func tryAcquire() -> Bool { pthread_mutex_trylock(mutex) == 0 }

    /// Takes the lock, and waits for it at most so long. False: others held it for so long. [any]
    public func acquire(within seconds: Double) -> Bool {
        // The only clock that this function of the system's knows.
        var end = moment(clock: CLOCK_REALTIME, after: seconds)
        return pthread_mutex_timedlock(mutex, &end) == 0
    }

    /// Gives back a lock that was taken. [any]
    public func release() { pthread_mutex_unlock(mutex) }
}

/// The time of `clock` in so many seconds.
private func moment(clock: clockid_t, after seconds: Double) -> timespec {
    var time = timespec()
    clock_gettime(clock, &time)
    // More than a year is for ever.
    let nanoseconds = time.tv_nsec + Int(max(0, min(seconds, 4e7)) * 1e9)
    time.tv_sec += nanoseconds / 1_000_000_000
    time.tv_nsec = nanoseconds % 1_000_000_000
    return time
}
