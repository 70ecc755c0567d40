// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A file that has its name when it is whole. Until then what had the name before stays as it was, whatever happens: a disk
/// that becomes full, a process that is killed. What is written lies beside it, as NAME.part-XXXXXX, which is removed where
/// the file does not become whole; what a killed process has left is removed by the next that writes the same file.
///
/// A file that is replaced gives the new one its mode and owner. A link stays one: what it leads to is replaced. What is no
/// regular file (a pipe, a device) is written to directly. By one thread at a time.
public final class WholeFile {
    /// What it is called, as it was asked for.
    public let path: String
    /// Where it lies until it is whole.
    public let place: String
    /// What is written to. Closed with this.
    public let descriptor: Int32
    /// The same as `path`, but for a link what that leads to.
    private let target: String
    private let replaces: Bool
    private var isOpen = true
    private var isSpecial: Bool { place == target }

    /// Begins it. `mode`: of a file that is not there yet, less the process's umask. Unless it `replaces` another, one that is
    /// there is an error. [any]
    public init(_ path: String, mode: mode_t = 0o666, replaces: Bool = true) throws(SystemError) {
        self.path = path
        self.replaces = replaces
        var facts = stat()
        func refused(_ code: Int32 = errno) -> SystemError { Self.fault(path, code) }
        if !replaces, lstat(path, &facts) == 0 { throw refused(EEXIST) }
        let target = try linkTarget(of: path)
        let isThere = stat(target, &facts) == 0
        if isThere, facts.st_mode & S_IFMT == S_IFDIR { throw refused(EISDIR) }
        if isThere, isDirect(facts, path) {
            descriptor = open(target, O_WRONLY | O_CLOEXEC | O_NOCTTY)
            if descriptor < 0 { throw refused() }
            (self.target, place) = (target, target)
            return
        }
        // Who could not write into the file is not to replace it.
        if isThere, access(target, W_OK) != 0 { throw refused() }
        removeDeadParts(of: target)
        let part = try makePart(of: target, mode: isThere ? facts.st_mode & 0o777 : mode)
        (self.target, place, descriptor) = (target, part.path, part.descriptor)
        guard isThere else { return }
        // As far as this user may: then the mode, which a new owner would narrow.
        _ = fchown(descriptor, facts.st_uid, facts.st_gid)
        fchmod(descriptor, facts.st_mode & 0o7777)
    }

    deinit {
        if isOpen, !isSpecial { unlink(place) }
        close(descriptor)
    }

    /// Adds bytes. [any]
    public func write(_ bytes: [UInt8]) throws(SystemError) {
        let fault = writeAll(bytes, to: descriptor)
        if fault != 0 { throw Self.fault(path, fault) }
    }

    /// Gives the file its name, once all of it is on the disk. [any]
    public func finish() throws(SystemError) {
        if isSpecial { return isOpen = false }
        // A disk may say only now that it is full.
        guard fsync(descriptor) == 0 || errno == EINVAL else { throw Self.fault(path, errno) }
        guard replaces ? rename(place, target) == 0 : renameOverNothing(place, target) else {
            throw Self.fault(path, errno)
        }
        isOpen = false
    }

    /// Writes all of a file. [any]
    public static func write(
        _ bytes: [UInt8], to path: String, mode: mode_t = 0o666, replaces: Bool = true
    ) throws(SystemError) {
        let file = try WholeFile(path, mode: mode, replaces: replaces)
        try file.write(bytes)
        try file.finish()
    }

    fileprivate static func fault(_ path: String, _ code: Int32) -> SystemError {
        SystemError("\(path) cannot be written", code: code)
    }
}

/// Writes all bytes, and waits for a reader that is slow; returns 0, or the number of the error that keeps the rest away. [any]
public func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
    var rest = bytes[...]
    while !rest.isEmpty {
        let written = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        if written < 0, errno == EINTR { continue }
        if written < 0, errno == EAGAIN {
            var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            poll(&entry, 1, -1)
            continue
        }
        guard written > 0 else { return written < 0 ? errno : ENOSPC }
        rest = rest.dropFirst(written)
    }
    return 0
}

/// What is no file of a disk, or is called by a name of the kernel's, such as /dev/stdout.
private func isDirect(_ facts: stat, _ path: String) -> Bool {
    facts.st_mode & S_IFMT != S_IFREG || path.hasPrefix("/dev/") || path.hasPrefix("/proc/")
}

/// Renames a file, but over none; `errno` says why not. Where files cannot have two names, as on a memory stick, one that
/// comes in that moment is lost. [any]
public func renameOverNothing(_ old: String, _ new: String) -> Bool {
    if link(old, new) == 0 {
        unlink(old)
        return true
    }
    if errno == EEXIST { return false }
    var facts = stat()
    if lstat(new, &facts) == 0 {
        errno = EEXIST
        return false
    }
    return rename(old, new) == 0
}

/// What a path leads to where it is a link, there or not; else the path. A link that somebody else has put into a folder
/// that all may write to is refused, as the kernel does (proc(5), protected_symlinks). [any]
public func linkTarget(of path: String) throws(SystemError) -> String {
    var path = path
    for _ in 0..<40 {
        var (link, folder) = (stat(), stat())
        guard lstat(path, &link) == 0, link.st_mode & S_IFMT == S_IFLNK else { return path }
        let slash = path.lastIndex(of: "/")
        let place = slash.map { String(path[...$0]) } ?? "./"
        let isShared = stat(place, &folder) == 0 && folder.st_mode & S_ISVTX != 0 && folder.st_mode & S_IWOTH != 0
        if isShared, link.st_uid != geteuid(), link.st_uid != folder.st_uid { throw WholeFile.fault(path, EACCES) }
        var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = bytes.withUnsafeMutableBytes { readlink(path, $0.baseAddress!, $0.count) }
        if count <= 0 { throw WholeFile.fault(path, errno) }
        let next = String(decoding: bytes[..<count], as: UTF8.self)
        path = next.hasPrefix("/") ? next : slash == nil ? next : place + next
    }
    throw WholeFile.fault(path, ELOOP)
}

// MARK: parts

private let mark = ".part-"
private let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789".utf8)
private let markLength = 6

/// The folder of a file with its slash, and what its parts begin with: no longer than a name may be.
private func partNames(of path: String) -> (folder: String, start: String) {
    let slash = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
    var name = path[slash...]
    while name.utf8.count + mark.utf8.count + markLength > 255 { name.removeLast() }
    return (String(path[..<slash]), name + mark)
}

/// A new file that is nobody else's, and locked as long as it is open.
private func makePart(of path: String, mode: mode_t) throws(SystemError) -> (path: String, descriptor: Int32) {
    let (folder, start) = partNames(of: path)
    for _ in 0..<100 {
        let end = (0..<markLength).map { _ in letters.randomElement()! }
        let name = folder + start + String(decoding: end, as: UTF8.self)
        let descriptor = open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
        if descriptor < 0, errno == EEXIST { continue }
        if descriptor < 0 { throw WholeFile.fault(path, errno) }
        // Another that took it for a dead one's may have removed it just now.
        var facts = stat()
        let isLocked = flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
        if isLocked, fstat(descriptor, &facts) == 0, facts.st_nlink > 0 { return (name, descriptor) }
        close(descriptor)
    }
    throw WholeFile.fault(path, EEXIST)
}

/// Removes what this user's killed processes have left of a file.
private func removeDeadParts(of path: String) {
    let (folder, start) = partNames(of: path)
    for name in names(in: folder.isEmpty ? "." : folder) {
        guard name.hasPrefix(start), name.utf8.count == start.utf8.count + markLength,
            name.utf8.suffix(markLength).allSatisfy(letters.contains)
        else { continue }
        var facts = stat()
        guard lstat(folder + name, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, facts.st_uid == geteuid() else {
            continue
        }
        let descriptor = open(folder + name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { continue }
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { unlink(folder + name) }
        close(descriptor)
    }
}
