// SPDX-License-Identifier: Apache-2.0
import NodeKit
import System

/// Nodes that hung while they were made: each edit of a graph makes those again that it lacks, and would wait for all of a
/// child's patience each time. [control]
final class HungNodes: Sendable {
    private struct Entry {
        var type: String
        var path: String
        var name: String
        var settings: [String: SettingValue]
        var until: Double
        var error: NodeError
    }

    private let entries = Lock<[Entry]>([])

    /// For so many seconds one is not tried again.
    private let rest: Double

    init(rest: Double = 30) { self.rest = rest }

    /// Throws why a node cannot be made, if the same one has just hung.
    func check(_ recipe: IsolatedInstance.Recipe) throws(NodeError) {
        let error: NodeError? = entries.withLock { entries in
            entries.removeAll { $0.until <= monotonicSeconds() }
            return entries.first { Self.isSame($0, recipe) }?.error
        }
        if let error { throw error }
    }

    /// Does something with a node that is made; what takes all of `patience` and fails is remembered.
    func follow<Result>(
        _ recipe: IsolatedInstance.Recipe, patience: Double, _ body: () throws(NodeError) -> Result
    ) throws(NodeError) -> Result {
        let start = monotonicSeconds()
        do throws(NodeError) { return try body() } catch {
            guard monotonicSeconds() - start >= patience else { throw error }
            var kept = error
            kept.message += "; it is not tried again for \(Int(rest)) s"
            let entry = Entry(
                type: recipe.type, path: recipe.path, name: recipe.name, settings: recipe.settings.values,
                until: monotonicSeconds() + rest, error: kept)
            entries.withLock { $0.append(entry) }
            throw error
        }
    }

    private static func isSame(_ entry: Entry, _ recipe: IsolatedInstance.Recipe) -> Bool {
        entry.type == recipe.type && entry.path == recipe.path && entry.name == recipe.name
            && entry.settings == recipe.settings.values
    }
}
