// SPDX-License-Identifier: Apache-2.0
import Testing

/// Waits until something holds of a model.
@MainActor func until(_ what: Comment, _ holds: () throws -> Bool) async throws {
    for _ in 0..<30_000 {
        if try holds() { return }
        try await Task.sleep(for: .milliseconds(1))
    }
    Issue.record(what)
}
