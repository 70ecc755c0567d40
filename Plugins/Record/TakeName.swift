// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The name of a file while it is recorded and when it is complete: NAME.part.wav becomes NAME.wav at once. So whoever looks
/// for takes finds whole ones, and one that a crash cut short is told from them.
struct TakeName {
    /// What the file is called while it is recorded.
    private(set) var part: String
    /// What it is to be called, as it was asked for.
    var final: String { asked ?? place }
    /// The same, but for a link where what it leads to is.
    private var place: String
    private var asked: String?
    private let wanted: String
    private let number: Int
    private let overwrites: Bool

    /// Makes the file of a name that is nobody else's; a negative descriptor: `errno` says why not. `kept` is told of each
    /// that is being recorded by another. [control]
    static func claim(
        _ wanted: String, overwrites: Bool, kept: (String) -> Void
    ) -> (name: TakeName, descriptor: Int32) {
        for number in 1...9999 {
            let name = TakeName(wanted, number, overwrites: overwrites && number == 1)
            if name.part == name.place { return (name, open(name.part, O_RDWR | O_CLOEXEC)) }
            if !name.overwrites, access(name.final, F_OK) == 0 { continue }
            // Not sf_open: without O_EXCL another process could lose its take to this one.
            let flags = O_RDWR | O_CREAT | O_CLOEXEC | (name.overwrites ? 0 : O_EXCL)
            let descriptor = open(name.part, flags, 0o644)
            if descriptor < 0, errno == EEXIST { continue }
            if descriptor < 0 { return (name, descriptor) }
            // Held as long as it is recorded to, by another node of this process too: one that makes room for this one goes
            // on for some blocks. Where files cannot be locked there is nothing to look at.
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK {
                if name.overwrites { ftruncate(descriptor, 0) }
                return (name, descriptor)
            }
            close(descriptor)
            kept(name.part)
        }
        errno = EEXIST
        return (TakeName(wanted, 1, overwrites: false), -1)
    }

    private init(_ wanted: String, _ number: Int, overwrites: Bool) {
        var wanted = wanted
        var facts = stat()
        let isThere = overwrites && stat(wanted, &facts) == 0
        if isThere, let real = realpath(wanted, nil) {
            if String(cString: real) != wanted { (asked, wanted) = (wanted, String(cString: real)) }
            free(real)
        }
        (part, place) = Self.names(wanted, number)
        // A device, or what another program reads: it cannot be replaced.
        if isThere, facts.st_mode & S_IFMT != S_IFREG { part = place }
        self.wanted = wanted
        self.number = number
        self.overwrites = overwrites
    }

    private static func names(_ wanted: String, _ number: Int) -> (part: String, final: String) {
        let dot = wanted.lastIndex(of: ".") ?? wanted.endIndex
        let stem = wanted[..<dot] + (number == 1 ? "" : "-\(number)")
        return (stem + ".part" + wanted[dot...], String(stem + wanted[dot...]))
    }

    /// Gives the complete file its name, another one if that was taken meanwhile; nil, or why it keeps the one it has.
    /// [control]
    mutating func complete() -> String? {
        if part == place { return nil }
        if overwrites { return rename(part, place) == 0 ? nil : String(cString: strerror(errno)) }
        for other in number...9999 {
            let names = Self.names(wanted, other)
            // Another recording has that name before it, and is not complete yet.
            if other != number, access(names.part, F_OK) == 0 { continue }
            place = names.final
            if renameToNew(part, place) { return nil }
            if errno != EEXIST { break }
        }
        defer { place = part }
        return String(cString: strerror(errno))
    }

    /// Removes the file. [control]
    func remove() { if part != place { unlink(part) } }
}

/// Renames a file, but over none. Where files cannot have two names, as on a memory stick, one that comes in that moment is
/// lost.
private func renameToNew(_ old: String, _ new: String) -> Bool {
    if link(old, new) == 0 {
        unlink(old)
        return true
    }
    if errno == EEXIST { return false }
    if access(new, F_OK) == 0 {
        errno = EEXIST
        return false
    }
    return rename(old, new) == 0
}
