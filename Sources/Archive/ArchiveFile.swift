// SPDX-License-Identifier: Apache-2.0
import Glibc
import System

/// The file of the archive: opened, and set aside where it cannot be used.
struct ArchiveFile {
    /// An archive that has another name now.
    struct SetAside: Equatable {
        /// What it is called now.
        var path: String
        /// Why.
        var reason: String
    }

    /// Where it is.
    let path: String
    /// How long others may keep it locked, in seconds.
    let patience: Double

    /// The folder it lies in.
    var folder: String { path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "." }

    /// Opens it for writing, and makes it if it is not there. One that is damaged, or locked for longer than `patience`,
    /// gets another name, and a new one is begun: nothing is deleted. [control]
    func open() throws(ArchiveError) -> (Database, setAside: SetAside?) {
        try makeFolder()
        // One after the other: of two programs that find it damaged, the second one finds the new one, and only one of
        // them makes its tables.
        let lock = try lockFolder()
        defer { close(lock) }
        do { return (try connect(), nil) } catch {
            guard [.damaged, .strange, .locked].contains(error.kind) else { throw error }
            let reason = error.fault.message
            let other = try moveAway()
            return (try connect(), SetAside(path: other, reason: reason))
        }
    }

    /// Opens it for looking and changing, if it is there. [control]
    func openExisting() throws(ArchiveError) -> Database? {
        guard access(path, F_OK) == 0 else { return nil }
        let lock = try lockFolder()
        defer { close(lock) }
        guard access(path, F_OK) == 0 else { return nil }
        return try connect()
    }

    /// Gives it another name and returns that, if it is still the file that was opened; nil: another program has done so, and
    /// has begun a new one. [control]
    func setAside(_ opened: FileNumbers?) throws(ArchiveError) -> String? {
        let lock = try lockFolder()
        defer { close(lock) }
        guard let opened, identity == opened else { return nil }
        return try moveAway()
    }

    /// Gives it another name and returns that, if there is anything in it that cannot be read. [control]
    func setAsideIfDamaged() throws(ArchiveError) -> String? {
        let lock = try lockFolder()
        defer { close(lock) }
        let isSound: Bool
        do throws(ArchiveError) {
            let database = try connect()
            let said: String? = try database.read { db throws(ArchiveError) in try db.value("PRAGMA quick_check(1)") }
            isSound = said == "ok"
        } catch {
            guard error.kind == .damaged else { throw error }
            isSound = false
        }
        return isSound ? nil : try moveAway()
    }

    private func moveAway() throws(ArchiveError) -> String {
        var name = "\(path).broken-\(dayAndTime())"
        var number = 1
        while access(name, F_OK) == 0 {
            number += 1
            name = "\(path).broken-\(dayAndTime())-\(number)"
        }
        // What it has not written into itself yet goes with it: first that, so that a new one never finds it.
        for end in ["-wal", "-shm", ""] where access(path + end, F_OK) == 0 {
            guard rename(path + end, name + end) == 0 else {
                throw ArchiveError(.refused, "it cannot be renamed: \(String(cString: strerror(errno)))")
            }
        }
        return name
    }

    /// Which file it is now, by device and number; nil: there is none.
    var identity: FileNumbers? { FileNumbers(path) }

    private func makeFolder() throws(ArchiveError) {
        var made = ""
        for part in folder.split(separator: "/", omittingEmptySubsequences: true) {
            made += "/" + part
            if mkdir(made, 0o700) != 0, errno != EEXIST {
                throw ArchiveError(.refused, "\(made) cannot be made: \(String(cString: strerror(errno)))")
            }
        }
    }

    private func lockFolder() throws(ArchiveError) -> Int32 {
        let descriptor = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw ArchiveError(.refused, "\(folder) cannot be opened: \(String(cString: strerror(errno)))")
        }
        // Whoever holds it opens the archive, which takes no longer than this.
        let deadline = monotonicSeconds() + 2 * patience + 1
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR, monotonicSeconds() < deadline else {
                close(descriptor)
                throw ArchiveError(.refused, "\(folder) cannot be locked: \(String(cString: strerror(errno)))")
            }
            usleep(10_000)
        }
        return descriptor
    }

    private func connect() throws(ArchiveError) -> Database {
        // Before SQLite, which would make it for all to read. One that is there is not opened: to close it again would end
        // the locks that other connections of this process hold.
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor >= 0 { close(descriptor) }
        guard descriptor >= 0 || errno == EEXIST, access(path, R_OK | W_OK) == 0 else {
            throw ArchiveError(.refused, "\(path) cannot be opened: \(String(cString: strerror(errno)))")
        }
        // Not what a link leads to, and without opening it.
        fchmodat(AT_FDCWD, path, 0o600, AT_SYMLINK_NOFOLLOW)
        let database = try Database(path, patience: patience)
        try database.use { db throws(ArchiveError) in
            // A process that is killed loses nothing so; a machine that loses its power, the newest.
            try db.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON")
            // A connection that ends removes the log by its name, which may be that of a newer archive's by then.
            db.keepLog()
            guard try !Schema.isNewer(db) else {
                throw ArchiveError(
                    .newer, "a newer voicegraph has changed it", hint: "use that one, or move \(path) elsewhere")
            }
            // What earlier versions did not overwrite is in the file until the log is.
            if try Schema.migrate(db) { try? db.emptyLog() }
            // Only now, so that a version may make a table anew.
            try db.run("PRAGMA foreign_keys = ON")
        }
        return database
    }

    private func dayAndTime() -> String {
        var now = time(nil)
        var parts = tm()
        gmtime_r(&now, &parts)
        var text = [CChar](repeating: 0, count: 32)
        let count = strftime(&text, text.count, "%Y-%m-%dT%H-%M-%SZ", &parts)
        return String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// A file, whatever it is called.
struct FileNumbers: Equatable {
    let device, number: UInt64

    init?(_ path: String) {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return nil }
        (device, number) = (UInt64(facts.st_dev), UInt64(facts.st_ino))
    }
}
