// SPDX-License-Identifier: Apache-2.0
import CRealtime
import Glibc

/// A thread with a name. It runs its body once; `join` waits for the end. Nobody waits for one that is let go without that.
public final class SystemThread: @unchecked Sendable {
    // Sendable: the handle is written once and joined once, by its owner.
    private var thread = pthread_t()
    private var isOpen = true

    private final class Body {
        let name: String
        let run: @Sendable () -> Void
        init(_ name: String, _ run: @escaping @Sendable () -> Void) { (self.name, self.run) = (name, run) }
    }

    /// Gives a thread of this process, of which only the system's number is known, a name; one that has ended needs none.
    /// [control]
    public static func name(_ number: pid_t, _ name: String) {
        guard let file = fopen("/proc/self/task/\(number)/comm", "w") else { return }
        fputs(name, file)
        fclose(file)
    }

    /// Starts a thread that runs `body` and ends with it. The system keeps 15 bytes of the name.
    ///
    /// With `blocksSignals` no handler of the program's runs on it, except for faults, which must be seen where they
    /// happen. A child process that it starts without `ChildLauncher` would inherit that. [control]
    public init(
        name: String, blocksSignals: Bool = false, _ body: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        let box = Unmanaged.passRetained(Body(name, body))
        // A thread inherits the mask of who makes it.
        var before = sigset_t()
        if blocksSignals {
            var mask = everyRequest()
            pthread_sigmask(SIG_BLOCK, &mask, &before)
        }
        defer { if blocksSignals { pthread_sigmask(SIG_SETMASK, &before, nil) } }
        let failure = pthread_create(
            &thread, nil,
            { @Sendable argument in
                let body = Unmanaged<Body>.fromOpaque(argument!).takeRetainedValue()
                vg_thread_name(body.name)
                body.run()
                return nil
            }, box.toOpaque())
        if failure != 0 {
            isOpen = false
            box.release()
            throw SystemError("cannot start a thread", code: failure)
        }
    }

    deinit { detach() }

    /// Runs `body` on a thread of its own, waits for its end and returns its result. [control]
    public static func run<Result: Sendable>(
        name: String, _ body: @escaping @Sendable () -> Result
    ) throws(SystemError) -> Result {
        let result = Lock<Result?>(nil)
        try SystemThread(name: name) {
            let made = body()
            result.withLock { $0 = made }
        }.join()
        return result.withLock { $0! }
    }

    /// Nobody will wait for the thread's end. [control]
    public func detach() {
        if isOpen { pthread_detach(thread) }
        isOpen = false
    }

    /// Waits for the thread's end; tell it to end first. Calling it again does nothing. [control]
    public func join() {
        if isOpen { pthread_join(thread, nil) }
        isOpen = false
    }
}
