// SPDX-License-Identifier: Apache-2.0
import System

/// Why a driver cannot do what it was asked to, and what helps.
public struct DriverError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What went wrong, and what to do about it.
    public var fault: Fault
    /// What libjack or the server said of it, newest last; may be empty.
    public var details: [String]

    /// Describes a failure.
    public init(_ message: String, hint: String = "", details: [String] = []) {
        self.init(Fault(message, hint: hint), details: details)
    }

    /// A fault, and what was said of it.
    public init(_ fault: Fault, details: [String] = []) {
        self.fault = fault
        self.details = details
    }

    /// Message, details and hint, a line each.
    public var description: String {
        let hint = fault.hint.isEmpty ? [] : ["hint: " + fault.hint]
        return ([fault.message] + details.map { "  " + $0 } + hint).joined(separator: "\n")
    }
}

extension DriverError {
    /// What the system could not do for a driver.
    init(_ error: SystemError) { self.init(error.description, hint: "end some programs and try again") }
}
