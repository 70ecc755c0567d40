// SPDX-License-Identifier: Apache-2.0
import System

/// The function that is told of a driver's events; none before the driver starts and after it has stopped.
final class DriverListener: Sendable {
    // A structure, because a function that is itself the value of a lock is wrapped once more by each access.
    private struct Called {
        var function: (@Sendable (DriverEvent) -> Void)?
    }

    private let called = Lock(Called())

    /// From now on `function` is called; nil: nobody is. [control]
    func set(_ function: (@Sendable (DriverEvent) -> Void)?) { called.withLock { $0.function = function } }

    /// Tells of an event, on the caller's thread. [any but audio]
    func tell(_ event: DriverEvent) { called.withLock { $0.function }?(event) }
}
