// SPDX-License-Identifier: Apache-2.0

/// Collects diagnostics; the same one twice counts once (both links of "a -> wrong -> b" name `wrong`).
package struct Report {
    /// What was found, in the order in which it was.
    package private(set) var diagnostics: [Diagnostic] = []
    /// Whether an error is among them.
    package private(set) var hasErrors = false
    private var seen: Set<Diagnostic> = []
    /// One budget for all hints.
    package var suggester = Suggester()
    /// Those that the graph may have, for hints.
    package var tables: FileTables

    /// Nothing found so far.
    package init(_ tables: FileTables = FileTables()) { self.tables = tables }

    package mutating func error(_ message: String, at location: SourceLocation, hint: String = "") {
        error(Diagnostic(.error, message, at: location, hint: hint))
    }

    package mutating func error(_ diagnostic: Diagnostic) {
        hasErrors = true
        add(diagnostic)
    }

    package mutating func warning(_ message: String, at location: SourceLocation, hint: String = "") {
        add(Diagnostic(.warning, message, at: location, hint: hint))
    }

    private mutating func add(_ diagnostic: Diagnostic) {
        if seen.insert(diagnostic).inserted { diagnostics.append(diagnostic) }
    }
}
