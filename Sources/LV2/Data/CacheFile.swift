// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The path of one of voicegraph's files in the user's cache folder; nil: the user has none. [any]
public func cachePath(_ name: String) -> String? {
    func variable(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        let text = String(cString: value)
        return text.hasPrefix("/") ? text : nil
    }
    guard let folder = variable("XDG_CACHE_HOME") ?? variable("HOME").map({ $0 + "/.cache" }) else { return nil }
    return folder + "/voicegraph/" + name
}

/// A whole file as text; nil: it cannot be read.
func readText(_ path: String) -> String? {
    guard let file = fopen(path, "re") else { return nil }
    defer { fclose(file) }
    var status = stat()
    guard fstat(fileno(file), &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return String(unsafeUninitializedCapacity: Int(status.st_size)) {
        fread($0.baseAddress, 1, Int(status.st_size), file)
    }
}

/// Writes a file in one step, so that nobody ever reads half of it, with the folders it is in. False: it could not be
/// written.
func writeText(_ text: String, to path: String) -> Bool {
    var folder = ""
    for part in path.split(separator: "/").dropLast() {
        folder += "/" + part
        mkdir(folder, 0o700)
    }
    let temporary = "\(path).\(getpid())"
    guard let file = fopen(temporary, "we") else { return false }
    let complete = fputs(text, file) >= 0
    guard fclose(file) == 0, complete, rename(temporary, path) == 0 else {
        unlink(temporary)
        return false
    }
    return true
}
