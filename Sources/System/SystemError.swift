// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What the system could not do, and why.
public struct SystemError: Error, Sendable, CustomStringConvertible {
    /// What was tried: "cannot start a thread".
    public let action: String
    /// The system's number of the reason, as in `errno`.
    public let code: Int32

    /// Describes a failure; by default with the reason of the last one. [any]
    public init(_ action: String, code: Int32 = errno) {
        self.action = action
        self.code = code
    }

    /// "Resource temporarily unavailable"
    public var reason: String { String(cString: strerror(code)) }

    /// "cannot start a thread: Resource temporarily unavailable"
    public var description: String { "\(action): \(reason)" }
}
