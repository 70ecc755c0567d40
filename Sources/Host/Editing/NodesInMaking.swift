// SPDX-License-Identifier: Apache-2.0
import Graph
import GraphFile
import NodeKit
import System

/// The new nodes of an edit while they are made, on a thread of their own: which one is made now, and how long the edit waits
/// for it. A plugin that never comes back from a call costs its edit, and no later one.
final class NodesInMaking: Sendable {
    private struct State {
        var node = ""
        var isGivenUp = false
    }

    private let state = Lock(State())
    /// Nodes in processes of their own, which are given up there.
    private let isolated: Set<String>

    /// How long an edit waits, in seconds.
    struct Patience: Sendable {
        /// While no other edit waits for it.
        var alone = 30.0
        /// While one does.
        var awaited = 5.0
        /// The same for a node in a process of its own: that one is ended before.
        var isolated = 15.0
    }

    /// Those of a description.
    init(_ description: GraphDescription) {
        isolated = Set(description.nodes.filter { $0.isolation != .none }.map(\.name))
    }

    /// A node is made, prepared or activated from now on. [control]
    func begins(_ node: String) { state.withLock { $0.node = node } }

    /// Nobody waits for what is made any more. [control]
    var isGivenUp: Bool { state.withLock(\.isGivenUp) }

    /// Runs `body` on a thread that may be blocked, and waits for it for so long. `isAwaited`: whether another edit waits.
    func wait<Result: Sendable>(
        _ patience: Patience, isAwaited: @escaping @Sendable () -> Bool, _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        let waiter = Lock<CheckedContinuation<Result, any Error>?>(nil)
        let start = monotonicSeconds()
        let timer = Task { [self] in
            while (try? await Task.sleep(for: .seconds(min(0.1, patience.awaited)))) != nil {
                let passed = monotonicSeconds() - start
                let isIsolated = state.withLock { isolated.contains($0.node) }
                let awaited = isIsolated ? patience.isolated : patience.awaited
                guard passed >= patience.alone || passed >= awaited && isAwaited() else { continue }
                guard let late = waiter.withLock({ $0.take() }) else { return }
                return late.resume(throwing: giveUp(passed))
            }
        }
        defer { timer.cancel() }
        return try await withCheckedThrowingContinuation { continuation in
            waiter.withLock { $0 = continuation }
            ControlThreads.shared.submit {
                let result = Swift.Result(catching: body)
                waiter.withLock { $0.take() }?.resume(with: result)
            }
        }
    }

    private func giveUp(_ seconds: Double) -> Fault {
        let node = state.withLock { state in
            state.isGivenUp = true
            return state.node
        }
        return Self.late(node.isEmpty ? "what the change needs" : "node '\(node)'", seconds)
    }

    /// Why an edit is given up.
    static func late(_ what: String, _ seconds: Double) -> Fault {
        Fault(
            "\(what) was not ready within \(max(1, Int(seconds))) s, and nothing was changed",
            hint: "its plugin may hang: isolate = true in its table gives it a process of its own")
    }
}
