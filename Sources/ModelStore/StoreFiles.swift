// SPDX-License-Identifier: Apache-2.0
import Glibc
import System

/// Makes a folder, with those that it is in. [control]
func makeFolder(_ path: String) throws(Fault) {
    var folder = path.hasPrefix("/") ? "" : "."
    for part in path.split(separator: "/") {
        folder += "/" + part
        guard mkdir(folder, 0o755) != 0, errno != EEXIST else { continue }
        // Some file systems refuse before they look whether it is there.
        let code = errno
        var facts = stat()
        if stat(folder, &facts) == 0, facts.st_mode & S_IFMT == S_IFDIR { continue }
        throw .system("cannot make the folder \(folder)", code: code)
    }
}

/// Writes to the disk what was done in a folder or to a file. [control]
func synchronize(_ path: String) throws(Fault) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system("cannot open \(path)") }
    defer { close(descriptor) }
    // Some file systems have nothing to synchronize of a folder, and say so.
    if fsync(descriptor) != 0, errno != EINVAL { throw .system("cannot write \(path)") }
}

/// The length of a file in bytes; nil: there is none. [any]
func fileSize(_ path: String) -> Int? {
    var facts = stat()
    guard stat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return nil }
    return Int(facts.st_size)
}

/// The SHA-256 of a file in hexadecimal digits, as sha256sum gives it; nil: it cannot be read. [control]
func fileSHA256(_ path: String) -> String? {
    guard let program = programPath("sha256sum") else { return nil }
    var output: [UInt8] = []
    let tool = ToolRun(command: [program, "--zero", "--", path], environment: [:], isInterrupted: { false })
    guard let end = try? tool.run({ output += $0 }), end.isSuccess else { return nil }
    let sum = String(decoding: output.prefix(64), as: UTF8.self)
    return sum.utf8.count == 64 ? sum : nil
}

/// What is free for this user in the file system of a folder, in bytes, and which file system that is. [any]
func freeSpace(_ folder: String) -> (bytes: Int, device: dev_t)? {
    var space = statvfs()
    var facts = stat()
    guard statvfs(folder, &space) == 0, stat(folder, &facts) == 0 else { return nil }
    return (Int(space.f_bavail) * Int(space.f_frsize), facts.st_dev)
}

/// A file that is written from its beginning, and did not exist before. It is on the disk after `finish`.
struct NewFile: ~Copyable {
    let path: String
    private let descriptor: Int32
    private(set) var size = 0

    init(_ path: String) throws(Fault) {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw .system("cannot write \(path)") }
    }

    deinit { close(descriptor) }

    mutating func write(_ bytes: UnsafeRawBufferPointer) throws(Fault) {
        size += bytes.count
        var rest = bytes[...]
        while let start = UnsafeRawBufferPointer(rebasing: rest).baseAddress, !rest.isEmpty {
            let written = Glibc.write(descriptor, start, rest.count)
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw .system("cannot write \(path)") }
            rest = rest.dropFirst(written)
        }
    }

    /// Waits until it is on the disk; its SHA-256.
    mutating func finish() throws(Fault) -> String {
        guard fsync(descriptor) == 0 else { throw .system("cannot write \(path)") }
        guard let sum = fileSHA256(path) else {
            throw Fault("sha256sum cannot read \(path)", hint: "apt install coreutils")
        }
        return sum
    }

    /// Writes a whole text.
    static func write(_ text: String, to path: String) throws(Fault) -> (size: Int, sha256: String) {
        var file = try NewFile(path)
        let bytes = Array(text.utf8)
        try bytes.withUnsafeBufferPointer { bytes throws(Fault) in
            try file.write(UnsafeRawBufferPointer(bytes))
        }
        return (file.size, try file.finish())
    }
}

/// A folder that one program at a time may change; free again when this is gone, or the program.
final class FolderLock {
    private let descriptor: Int32

    /// Makes the folder where it is not there.
    init(_ folder: String) throws(Fault) {
        while true {
            try makeFolder(folder)
            let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard descriptor >= 0 else { throw .system("cannot open the folder \(folder)") }
            if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
                let code = errno
                close(descriptor)
                guard code == EWOULDBLOCK else { throw .system("cannot lock the folder \(folder)", code: code) }
                throw Fault(
                    "another program installs or removes models in \(folder)", hint: "try again when it is done")
            }
            // Whoever had it may have removed it meanwhile.
            var locked = stat()
            var named = stat()
            if fstat(descriptor, &locked) == 0, stat(folder, &named) == 0, locked.st_ino == named.st_ino {
                self.descriptor = descriptor
                return
            }
            close(descriptor)
        }
    }

    deinit { close(descriptor) }
}
