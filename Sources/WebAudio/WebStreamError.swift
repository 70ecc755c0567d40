// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Why a stream cannot be opened.
public struct WebStreamError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong.
    public var message: String
    /// What to do about it; empty: nothing.
    public var hint: String

    /// Describes a failure.
    public init(_ message: String, hint: String = "") {
        self.message = message
        self.hint = hint
    }

    init(_ error: NodeError) { self.init(error.message, hint: error.hint) }

    /// Both in a line.
    public var description: String { hint.isEmpty ? message : "\(message) (\(hint))" }
}
