// SPDX-License-Identifier: Apache-2.0
import System

/// Why a driver cannot do what it was asked to, and what helps.
public struct DriverError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What went wrong.
    public var message: String
    /// What to do about it; may be empty.
    public var hint: String
    /// What libjack or the server said of it, newest last; may be empty.
    public var details: [String]

    /// Describes a failure.
    public init(_ message: String, hint: String = "", details: [String] = []) {
        self.message = message
        self.hint = hint
        self.details = details
    }

    /// Message, details and hint, a line each.
    public var description: String {
        ([message] + details.map { "  " + $0 } + (hint.isEmpty ? [] : ["hint: " + hint])).joined(separator: "\n")
    }
}

extension DriverError {
    /// What the system could not do for a driver.
    init(_ error: SystemError) { self.init(error.description, hint: "end some programs and try again") }
}
