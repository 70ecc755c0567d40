// SPDX-License-Identifier: Apache-2.0
import CSQLite
import System

/// The archive cannot do what was asked of it.
public struct ArchiveError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What kind of trouble it is.
    public enum Kind: Sendable, Equatable {
        /// Others keep it locked.
        case locked
        /// What the file holds is not an archive, or not all of it can be read.
        case damaged
        /// SQLite does not know what the file should have: somebody else has changed it.
        case strange
        /// A later version of this program has changed it.
        case newer
        /// The system refuses: there is no room, no right, no folder.
        case refused
        /// What was asked for is not there, or makes no sense.
        case request
    }

    /// What kind of trouble it is.
    public var kind: Kind
    /// What is wrong, and what to do.
    public var fault: Fault

    /// Describes a failure.
    public init(_ kind: Kind, _ message: String, hint: String = "") {
        self.kind = kind
        fault = Fault(message, hint: hint)
    }

    /// Message and hint.
    public var description: String { fault.description }

    /// What SQLite says, in our words.
    init(sqlite code: Int32, _ said: String) {
        // The rest of the number tells of kinds that make no difference here.
        switch code & 0xFF {
        case SQLITE_BUSY, SQLITE_LOCKED: self.init(.locked, "another program keeps it locked")
        case SQLITE_FULL: self.init(.refused, "there is no room left on the disk", hint: "make some")
        case SQLITE_READONLY: self.init(.refused, "it may not be written")
        case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH: self.init(.refused, "it cannot be opened: \(said)")
        case SQLITE_IOERR, SQLITE_NOMEM, SQLITE_INTERRUPT: self.init(.refused, "the disk refuses: \(said)")
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT: self.init(.damaged, "it is damaged: \(said)")
        default: self.init(.strange, "it is not as it should be: \(said)")
        }
    }
}
