// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A lock with a condition to wait for. Never for the audio thread.
public final class Monitor: @unchecked Sendable {
    // Sendable: it is what makes other things so.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    /// Makes an open lock. [any]
    public init() {
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
    public func locked<R>(_ body: () throws -> R) rethrows -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body()
    }

    /// Gives up the lock until `signal` or the time is over, whichever is first; also returns without a reason, so
    /// look again at what was waited for. Only inside `locked`. [any]
    public func wait(milliseconds: Int = 100) {
        var end = timespec()
        clock_gettime(CLOCK_MONOTONIC, &end)
        end.tv_nsec += milliseconds % 1000 * 1_000_000
        end.tv_sec += milliseconds / 1000 + end.tv_nsec / 1_000_000_000
        end.tv_nsec %= 1_000_000_000
        pthread_cond_timedwait(condition, mutex, &end)
    }

    /// Wakes all who wait. [any]
    public func signal() { pthread_cond_broadcast(condition) }
}

/// A thread of a node's own, for what takes time: disks, synthesis, networks.
public final class Worker: @unchecked Sendable {
    // Sendable: the handle is written once and joined once, by its owner.
    private var thread = pthread_t()
    private var started = false

    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Starts a thread that runs `body` and ends with it. [control]
    public init(_ body: @escaping @Sendable () -> Void) throws(NodeError) {
        let box = Unmanaged.passRetained(Body(body))
        let result = pthread_create(
            &thread, nil,
            { argument in
                Unmanaged<Body>.fromOpaque(argument!).takeRetainedValue().run()
                return nil
            }, box.toOpaque())
        if result != 0 {
            box.release()
            throw NodeError("cannot start a thread: \(String(cString: strerror(result)))")
        }
        started = true
    }

    /// Waits for the thread's end; tell it to end first. Calling it again does nothing. [control]
    public func join() {
        if started { pthread_join(thread, nil) }
        started = false
    }
}
