// SPDX-License-Identifier: Apache-2.0

/// Why something cannot be done, and what helps. An error that tells more than this has one in it.
public struct Fault: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong; where a node says it, without the node's name.
    public var message: String
    /// What to do about it; empty: nothing is known.
    public var hint: String
    /// The setting at fault, so that a host can point at its line; empty when it is none.
    public var key: String
    /// Of what kind it is, for programs: "already-recording"; empty: of none that has a name, or one of a setting.
    public var kind: String

    /// Describes a failure.
    public init(_ message: String, hint: String = "", key: String = "", kind: String = "") {
        self.message = message
        self.hint = hint
        self.key = key
        self.kind = kind
    }

    /// What the system could not do.
    public init(_ error: SystemError) { self.init(error.description) }

    /// "message (hint)"
    public var description: String { hint.isEmpty ? message : "\(message) (\(hint))" }
}
