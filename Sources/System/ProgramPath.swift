// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The program of a name that a shell would run: the first regular file in the folders of PATH that may be executed; nil:
/// there is none. `folders`: PATH; nil: that of this process. [any]
public func programPath(_ name: String, in folders: String? = nil) -> String? {
    let folders = folders ?? getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
    return folders.split(separator: ":").filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }.first(where: isProgram)
}

/// Whether a path leads to a regular file that may be executed. [any]
public func isProgram(_ path: String) -> Bool {
    var facts = stat()
    return stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
}

/// The file that this program runs from.
package func ownExecutable() -> String {
    guard let path = realpath("/proc/self/exe", nil) else { return "/proc/self/exe" }
    defer { free(path) }
    return String(cString: path)
}
