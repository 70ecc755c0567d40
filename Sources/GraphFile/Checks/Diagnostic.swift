// SPDX-License-Identifier: Apache-2.0
import System

/// One thing wrong with a graph, with its place and what to do about it.
public struct Diagnostic: Error, Sendable, Hashable {
    /// Errors keep a graph from running; warnings do not.
    public enum Severity: String, Sendable { case error, warning }

    /// How bad it is.
    public var severity: Severity
    /// Where it is.
    public var location: SourceLocation
    /// What is wrong.
    public var message: String
    /// What to do; may be empty.
    public var hint: String

    /// Describes a fault.
    public init(
        _ severity: Severity = .error, _ message: String, at location: SourceLocation = SourceLocation(),
        hint: String = ""
    ) {
        self.severity = severity
        self.location = location
        self.message = message
        self.hint = hint
    }

    /// An error at a place.
    package init(_ fault: Fault, at location: SourceLocation) {
        self.init(.error, fault.message, at: location, hint: fault.hint)
    }

    /// The same without its place.
    package var fault: Fault { Fault(message, hint: hint) }
}
