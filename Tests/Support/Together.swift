// SPDX-License-Identifier: Apache-2.0
import System

/// Runs `producer` on a thread of its own beside `consumer`, until both end.
public func together(_ producer: @escaping @Sendable () -> Void, _ consumer: () -> Void) {
    guard let thread = try? SystemThread(name: "vgt-producer", producer) else { preconditionFailure("no thread") }
    consumer()
    thread.join()
}
