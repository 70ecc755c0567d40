// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Where a program is; nil: not installed.
func program(_ name: String) -> String? {
    let folders = currentEnvironment()["PATH"] ?? "/usr/bin:/bin:/usr/local/bin"
    return folders.split(separator: ":").map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
}

func currentEnvironment() -> [String: String] {
    var result: [String: String] = [:]
    var entry = environ
    while let text = entry.pointee {
        let pair = String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        if pair.count == 2 { result[String(pair[0])] = String(pair[1]) }
        entry += 1
    }
    return result
}

/// Says on a terminal what is being measured, where the next line will be.
func progress(_ text: String) {
    guard isatty(STDERR_FILENO) == 1 else { return }
    let line = "\r\u{1B}[K\(text)"
    _ = line.withCString { write(STDERR_FILENO, $0, strlen($0)) }
}

/// A whole text; nil: it cannot be opened.
func readFile(_ path: String) -> String? {
    let descriptor = open(path, O_RDONLY)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while case let count = read(descriptor, &buffer, buffer.count), count > 0 { bytes += buffer[..<count] }
    return String(decoding: bytes, as: UTF8.self)
}

/// A folder for generated graphs, removed at the end.
final class Scratch {
    let path: String
    private var names: [String] = []

    init() throws {
        let folder = currentEnvironment()["TMPDIR"] ?? "/tmp"
        var template = Array("\(folder)/vg-bench-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw BenchmarkError("no folder for generated graphs") }
        path = String(cString: made)
    }

    deinit {
        for name in names { unlink("\(path)/\(name)") }
        rmdir(path)
    }

    /// Writes a file; its path.
    func file(_ name: String, _ text: String) throws -> String {
        names.append(name)
        guard let file = fopen("\(path)/\(name)", "w") else { throw BenchmarkError("cannot write \(path)/\(name)") }
        fputs(text, file)
        fclose(file)
        return "\(path)/\(name)"
    }

    /// Where another program may write a file.
    func place(_ name: String) -> String {
        names.append(name)
        return "\(path)/\(name)"
    }

    /// Makes a pipe with a name: an input that never ends.
    func pipe(_ name: String) throws -> String {
        names.append(name)
        guard mkfifo("\(path)/\(name)", 0o600) == 0 else { throw BenchmarkError("cannot make \(path)/\(name)") }
        return "\(path)/\(name)"
    }
}
