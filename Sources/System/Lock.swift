// SPDX-License-Identifier: Apache-2.0

/// A value that threads take turns with. Never for the audio thread. Not reentrant.
public final class Lock<Value: ~Copyable>: @unchecked Sendable {
    // Sendable: `value` is reached only while the lock is held, and `sending` keeps parts of it from getting out.
    private let monitor = Monitor()
    private var value: Value

    /// A value that from now on only `withLock` and `wait` reach. [any]
    public init(_ value: consuming sending Value) { self.value = value }

    /// Runs `body` alone. It must not take the same lock. [any]
    public func withLock<Result, Failure>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        monitor.acquire()
        defer { monitor.release() }
        return try body(&value)
    }

    /// Runs `body` alone, again and again after each `signal`, until it returns something or it is `deadline`, in
    /// seconds of `monotonicSeconds`. Between two runs the lock is free: others change the value meanwhile. Nil: the
    /// deadline was first. [any]
    public func wait<Result>(
        until deadline: Double = .infinity, _ body: (inout sending Value) -> sending Result?
    ) -> sending Result? {
        monitor.acquire()
        defer { monitor.release() }
        while true {
            if let result = body(&value) { return result }
            let rest = deadline - monotonicSeconds()
            if rest <= 0 { return nil }
            monitor.wait(milliseconds: Int(min(rest, 1) * 1000) + 1)
        }
    }

    /// Wakes all who wait. [any]
    public func signal() { monitor.signal() }
}
