// SPDX-License-Identifier: Apache-2.0
import Glibc
import System

/// Where the states of isolated nodes are kept from one child to the next: a folder of this process, in the user's
/// runtime folder if there is one. The folder of a process that was killed is removed when the next process makes its
/// own.
final class StateFolder: Sendable {
    let path: String

    private static let stem = "voicegraph-states-"

    /// Makes a folder; nil: `errno` says why not. [control]
    init?() {
        let base = Self.base
        Self.sweep(base)
        var template = Array("\(base)/\(Self.stem)\(getpid())-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { return nil }
        path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }

    deinit { removeFolder(path) }

    static var base: String {
        for name in ["XDG_RUNTIME_DIR", "TMPDIR"] {
            if let value = getenv(name).map({ String(cString: $0) }), access(value, W_OK) == 0 { return value }
        }
        return "/tmp"
    }

    private static func sweep(_ base: String) {
        for name in names(in: base) where name.hasPrefix(stem) {
            guard let owner = pid_t(name.dropFirst(stem.count).prefix { $0 != "-" }), owner != getpid() else {
                continue
            }
            if kill(owner, 0) != 0, errno == ESRCH { removeFolder("\(base)/\(name)") }
        }
    }
}
