// SPDX-License-Identifier: Apache-2.0
import Glibc
import Realtime
import Synchronization

/// An ordinary thread with a name. It runs once; `join` waits for its end.
final class DriverThread: @unchecked Sendable {
    // Sendable: the only state is the thread's handle, written once.

    private let thread: pthread_t

    /// Starts `body`. [control]
    init(name: String, _ body: @escaping @Sendable () -> Void) {
        let box = Unmanaged.passRetained(Box(name: name, body: body))
        var thread = pthread_t()
        let failed = pthread_create(
            &thread, nil,
            { @Sendable argument in
                let box = Unmanaged<Box>.fromOpaque(argument!).takeRetainedValue()
                vg_thread_name(box.name)
                box.body()
                return nil
            }, box.toOpaque())
        precondition(failed == 0, "no thread could be created: \(String(cString: strerror(failed)))")
        self.thread = thread
    }

    /// Waits until the body has returned; to be called once. [control]
    func join() { pthread_join(thread, nil) }

    /// Whether the caller is this thread. [any]
    var isCurrent: Bool { pthread_equal(thread, pthread_self()) != 0 }

    /// Runs `body` on a thread of its own and returns its result. [control]
    static func runOnce(name: String, _ body: @escaping @Sendable () -> Bool) -> Bool {
        let outcome = Outcome()
        DriverThread(name: name) { outcome.value.store(body(), ordering: .releasing) }.join()
        return outcome.value.load(ordering: .acquiring)
    }

    private final class Outcome: Sendable {
        let value = Atomic(false)
    }

    private final class Box {
        let name: String
        let body: @Sendable () -> Void
        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }
}

/// Wakes one sleeping thread; signals that come while it is awake are kept, several as one.
final class Wakeup: Sendable {
    private let descriptor: Int32

    init() {
        descriptor = vg_event_open()
        precondition(descriptor >= 0, "no event descriptor could be created")
    }

    deinit { close(descriptor) }

    /// Wakes the sleeper; about 0.2 us, never blocks. [any]
    func signal() { vg_event_signal(descriptor) }

    /// Sleeps until a signal or for at most `milliseconds`; whether there was one. [control]
    @discardableResult
    func wait(milliseconds: Int) -> Bool {
        vg_event_wait(descriptor, Int32(milliseconds))
    }
}

/// A lock that may be held across calls that block, and that the thread sanitizer knows. Never taken by an audio thread.
package final class PlainLock: @unchecked Sendable {
    // Sendable: a mutex is made for that.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    /// A free lock. [any]
    package init() {
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func acquire() { pthread_mutex_lock(mutex) }
    func release() { pthread_mutex_unlock(mutex) }

    /// Runs `body` while holding the lock. [any]
    package func around<Result>(_ body: () -> Result) -> Result {
        acquire()
        defer { release() }
        return body()
    }
}

/// Seconds since an arbitrary start. [any]
func secondsNow() -> Double { Double(vg_nanoseconds()) * 1e-9 }
