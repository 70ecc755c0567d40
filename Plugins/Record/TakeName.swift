// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit

/// The name of a file while it is recorded and when it is complete: NAME.part.wav becomes NAME.wav at once. So whoever looks
/// for takes finds whole ones, and one that a crash cut short is told from them.
struct TakeName {
    /// What the file is called while it is recorded.
    private(set) var part: String
    /// What it is to be called, as it was asked for.
    var final: String { asked ?? place }
    /// Whether it is recorded under another name than it is to have; a device is not.
    var isPart: Bool { part != place }
    /// The same, but for a link where what it leads to is.
    private var place: String
    private var asked: String?
    private let wanted: String
    private let number: Int
    private let overwrites: Bool
    /// Of the file that it takes the place of; nil: of none.
    private var old: stat?

    /// Makes the file of a name that is nobody else's; a negative descriptor: `errno` says why not. `kept` is told of each
    /// that is being recorded by another. [control]
    static func claim(
        _ wanted: String, overwrites: Bool, kept: (String) -> Void
    ) -> (name: TakeName, descriptor: Int32) {
        var overwrites = overwrites
        for number in 1...9999 {
            let name: TakeName
            do throws(SystemError) { name = try TakeName(wanted, number, overwrites: overwrites) } catch {
                errno = error.code
                return (TakeName(wanted, part: wanted), -1)
            }
            if !name.isPart { return (name, open(name.part, O_RDWR | O_CLOEXEC)) }
            if !overwrites, access(name.final, F_OK) == 0 { continue }
            // Who could not write into the old one is not to replace it.
            if name.old != nil, access(name.place, W_OK) != 0 { return (name, -1) }
            let descriptor = name.make()
            if descriptor >= 0 || errno != EEXIST { return (name, descriptor) }
            // One that replaces another is not to pile up what crashes have left; a link is somebody else's in any case.
            guard overwrites else { continue }
            switch Remains(name.part) {
            case .dead:
                unlink(name.part)
                let descriptor = name.make()
                if descriptor >= 0 || errno != EEXIST { return (name, descriptor) }
            case .recorded:
                kept(name.part)
                overwrites = false
            case .foreign: break
            }
        }
        errno = EEXIST
        return (TakeName(wanted, part: wanted), -1)
    }

    /// The file under the name of its part: a new one, never what is there or what a link leads to. Held as long as it is
    /// recorded to, by another node of this process too: one that makes room for this one goes on for some blocks.
    private func make() -> Int32 {
        let mode = old.map { $0.st_mode & 0o777 } ?? 0o666
        let descriptor = open(part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
        guard descriptor >= 0 else { return -1 }
        flock(descriptor, LOCK_EX | LOCK_NB)
        if let old {
            _ = fchown(descriptor, old.st_uid, old.st_gid)
            fchmod(descriptor, old.st_mode & 0o7777)
        }
        return descriptor
    }

    private init(_ wanted: String, _ number: Int, overwrites: Bool) throws(SystemError) {
        var wanted = wanted
        if overwrites {
            let target = try linkTarget(of: wanted)
            if target != wanted { (asked, wanted) = (wanted, target) }
            var facts = stat()
            if stat(wanted, &facts) == 0 { old = facts }
        }
        (part, place) = Self.names(wanted, number)
        if overwrites { place = wanted }
        // A device, or what another program reads: it cannot be replaced.
        if let old, old.st_mode & S_IFMT != S_IFREG { part = place }
        self.wanted = wanted
        self.number = number
        self.overwrites = overwrites
    }

    /// For what cannot be made.
    private init(_ wanted: String, part: String) {
        (self.part, place, self.wanted, number, overwrites) = (part, wanted, wanted, 1, false)
    }

    private static func names(_ wanted: String, _ number: Int) -> (part: String, final: String) {
        let dot = wanted.lastIndex(of: ".") ?? wanted.endIndex
        let stem = wanted[..<dot] + (number == 1 ? "" : "-\(number)")
        return (stem + ".part" + wanted[dot...], String(stem + wanted[dot...]))
    }

    /// Gives the complete file its name, another one if that was taken meanwhile; nil, or why it keeps the one it has.
    /// [control]
    mutating func complete() -> String? {
        if !isPart { return nil }
        if overwrites { return rename(part, place) == 0 ? nil : String(cString: strerror(errno)) }
        for other in number...9999 {
            let names = Self.names(wanted, other)
            // Another recording has that name before it, and is not complete yet.
            if other != number, access(names.part, F_OK) == 0 { continue }
            place = names.final
            if renameOverNothing(part, place) { return nil }
            if errno != EEXIST { break }
        }
        defer { place = part }
        return String(cString: strerror(errno))
    }

    /// Removes the file. [control]
    func remove() { if isPart { unlink(part) } }
}

/// What lies under the name that a part is to have.
private enum Remains {
    /// What a process that is gone has left, of this user.
    case dead
    /// What somebody records to.
    case recorded
    /// Something else.
    case foreign

    init(_ path: String) {
        var facts = stat()
        self = .foreign
        guard lstat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, facts.st_uid == geteuid(),
            facts.st_nlink == 1
        else { return }
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        // Where files cannot be locked there is nothing to look at.
        self = flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK ? .dead : .recorded
        close(descriptor)
    }
}
