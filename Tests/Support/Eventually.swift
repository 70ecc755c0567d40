// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What a test waited for in vain.
public struct NeverHappened: Error, CustomStringConvertible {
    /// What it was.
    public let description: String

    /// Says what it was.
    public init(description: String) { self.description = description }
}

/// Asks every few milliseconds until `condition` holds; throws when it does not within `seconds`. They are many, since a
/// machine may do much else: only what never happens takes them.
public func eventually(
    _ what: String, seconds: Double = 60, _ condition: @Sendable () async throws -> Bool
) async throws {
    let clock = ContinuousClock()
    let deadline = clock.now + .seconds(seconds)
    while !(try await condition()) {
        guard clock.now < deadline else { throw NeverHappened(description: "within \(seconds) s: \(what)") }
        try await Task.sleep(for: .milliseconds(5))
    }
}

/// The same on the thread that calls it, which is held up meanwhile.
public func eventuallyNow(_ what: @autoclosure () throws -> String, _ condition: () throws -> Bool) throws {
    let end = ContinuousClock.now + .seconds(60)
    while !(try condition()) {
        guard ContinuousClock.now < end else { throw NeverHappened(description: "within 60 s: \(try what())") }
        usleep(2000)
    }
}

/// How many threads want each processor of this machine, at least one: the mean of the last minute. By so much more may
/// something take that is timed by the clock.
public func crowd() -> Double {
    var load = 0.0
    getloadavg(&load, 1)
    return max(1, load / Double(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
}
