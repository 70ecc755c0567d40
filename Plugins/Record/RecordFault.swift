// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit

/// The kinds of what can go wrong with a recording, for programs.
enum RecordFault {
    static let recording = "already-recording"
    static let nothing = "not-recording"
    static let paused = "already-paused"
    static let notPaused = "not-paused"
    private static let noSpace = "no-space"
    private static let noPermission = "no-permission"
    private static let disk = "disk"

    static let diskKinds = [noSpace, noPermission, disk].joined(separator: ", ")

    /// By what the system said; 0: it said nothing.
    static func disk(_ code: Int32) -> String {
        switch code {
        case ENOSPC, EDQUOT, EFBIG: noSpace
        case EACCES, EPERM, EROFS: noPermission
        default: disk
        }
    }

    static func notRecording(_ hint: String) -> NodeError { NodeError("is not recording", hint: hint, kind: nothing) }

    static func cannotRecord(_ path: String, _ code: Int32) -> NodeError {
        NodeError("cannot record to \(path): \(String(cString: strerror(code)))", kind: disk(code))
    }
}
