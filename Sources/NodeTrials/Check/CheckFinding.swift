// SPDX-License-Identifier: Apache-2.0

/// What a check found out about a node type.
public struct CheckFinding: Sendable, Equatable {
    /// How bad it is.
    public enum Severity: String, Sendable, CaseIterable {
        /// A promise of the contract is broken.
        case error
        /// Somebody who uses the node may be surprised.
        case warning
        /// As it should be.
        case fine
        /// It could not be looked at here.
        case omitted = "not checked"
    }

    /// How bad it is.
    public var severity: Severity
    /// What was looked at.
    public var subject: NodeCheck.Subject
    /// What is so.
    public var message: String
    /// What to do about it; empty: nothing.
    public var hint: String

    /// Describes a finding.
    public init(_ severity: Severity, _ subject: NodeCheck.Subject, _ message: String, hint: String = "") {
        self.severity = severity
        self.subject = subject
        self.message = message
        self.hint = hint
    }
}
