// SPDX-License-Identifier: Apache-2.0
import System

/// Runs `producer` on a thread of its own beside `consumer`, until both end.
public func together(_ producer: @escaping @Sendable () -> Void, _ consumer: () -> Void) {
    guard let thread = try? SystemThread(name: "vgt-producer", producer) else { preconditionFailure("no thread") }
    consumer()
    thread.join()
}

/// Does `body` for all `items`, of which `width` at a time are under way, and returns when all are done. For what waits
/// for other programs.
public func together<Item: Sendable>(
    _ width: Int, _ items: [Item], _ body: @escaping @Sendable (Item) async throws -> Void
) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for (index, item) in items.enumerated() {
            if index >= width { try await group.next() }
            group.addTask { try await body(item) }
        }
        try await group.waitForAll()
    }
}
