// SPDX-License-Identifier: Apache-2.0
import System

/// Who is told of a driver's events; nobody before it starts and after it has stopped.
final class DriverListener: Sendable {
    // In a structure: a function that is itself the value of a lock is wrapped once more by each look at it.
    private struct Called {
        var function: (@Sendable (DriverEvent) -> Void)?
    }

    private let called = Lock(Called())

    /// From now on `function` is called; nil: nobody is. [control]
    func set(_ function: (@Sendable (DriverEvent) -> Void)?) { called.withLock { $0.function = function } }

    /// Tells of an event, on the caller's thread. [any but audio]
    func tell(_ event: DriverEvent) { called.withLock { $0.function }?(event) }
}
