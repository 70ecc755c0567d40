// SPDX-License-Identifier: Apache-2.0
import Glibc
import Host
import JSON
import System

/// The private folder where the hosts of one user can be reached, a socket for each.
public struct ControlFolder: Sendable {
    /// Where it is.
    public let path: String

    static let suffix = ".sock"

    /// The folder of this user: in the runtime directory, or where there is none among temporary files.
    public static func standard() -> ControlFolder {
        if let runtime = getenv("XDG_RUNTIME_DIR").map({ String(cString: $0) }), runtime.hasPrefix("/") {
            return ControlFolder(path: runtime + "/voicegraph")
        }
        return ControlFolder(path: "\(P_tmpdir)/voicegraph-\(getuid())")
    }

    /// A folder somewhere else.
    public init(path: String) { self.path = path }

    /// Where the host with this client name is reached.
    public func socket(_ client: String) -> String {
        // A name may hold anything but a colon.
        let name = client.replacing("%", with: "%25").replacing("/", with: "%2F")
        return "\(path)/\(name)\(Self.suffix)"
    }

    /// The client names with a socket, whether anyone listens or not; in alphabetical order.
    func clients() -> [String] {
        names(in: path).filter { $0.hasSuffix(Self.suffix) && !$0.hasPrefix(".") }
            .map { Self.client(String($0.dropLast(Self.suffix.count))) }.sorted()
    }

    /// The client whose socket has this name, without the suffix.
    static func client(_ name: String) -> String { name.replacing("%2F", with: "/").replacing("%25", with: "%") }

    /// The client names of hosts that can be reached now.
    public func running() -> [String] {
        guard (try? check()) != nil else { return [] }
        return clients().filter { client in
            let probe = LocalSocket.connect(socket(client))
            if probe.error == 0 { close(probe.descriptor) }
            return probe.error == 0
        }
    }

    /// Why nothing can be reached or made in the folder; nil: it is as it should be, or not there yet. [any]
    public func fault() -> Fault? {
        guard access(path, F_OK) == 0 else { return nil }
        do throws(Fault) { try check() } catch { return error }
        return nil
    }

    /// The client names of hosts that were killed: at their sockets nobody listens. [any]
    public func stale() -> [String] {
        guard fault() == nil else { return [] }
        return clients().filter { client in
            let probe = LocalSocket.connect(socket(client), seconds: 1)
            if probe.error == 0 { close(probe.descriptor) }
            return probe.error == ECONNREFUSED
        }
    }

    /// Makes the folder if it is not there. Throws unless it is ours alone: whoever could replace a socket in it would
    /// hear what is meant for us.
    func make() throws(Fault) {
        if mkdir(path, 0o700) != 0, errno != EEXIST {
            throw Fault(
                "cannot make \(path): \(reason(errno))", hint: "set XDG_RUNTIME_DIR to a private folder that is there")
        }
        try check()
    }

    /// Puts a page there that leads a browser on to a link, and returns its path. What a program is started with everybody on
    /// the machine sees; what is in this folder its owner alone.
    public func page(leadingTo link: String) throws(Fault) -> String {
        try make()
        let place = path + "/open.html"
        let target = JSONText.string(link).replacing("<", with: "\\u003c")
        let text =
            "<!doctype html><meta charset=\"utf-8\"><title>voicegraph</title><script>location.replace(\(target))</script>"
        let file = open(place, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw Fault("cannot write \(place): \(reason(errno))") }
        defer { close(file) }
        guard write(file, text, text.utf8.count) == text.utf8.count else {
            throw Fault("cannot write \(place): \(reason(errno))")
        }
        return place
    }

    func check() throws(Fault) {
        var entry = stat()
        guard lstat(path, &entry) == 0 else { throw Fault("cannot look at \(path): \(reason(errno))") }
        let hint = "remove it, or set XDG_RUNTIME_DIR to a private folder"
        guard entry.st_mode & S_IFMT == S_IFDIR else { throw Fault("\(path) is not a folder", hint: hint) }
        guard entry.st_uid == getuid() else { throw Fault("\(path) belongs to another user", hint: hint) }
        guard entry.st_mode & 0o077 == 0 else {
            throw Fault("\(path) is open to other users", hint: "chmod 700 \(path)")
        }
    }

    /// Listens under the client's name, or where that is taken "NAME-2" and so on; sockets that nobody listens on any
    /// more are removed. One program at a time does this.
    func listen(_ client: String) throws(Fault) -> (descriptor: Int32, client: String) {
        try make()
        let lock = try claim()
        defer { close(lock) }
        for name in clients() {
            let probe = LocalSocket.connect(socket(name))
            if probe.error == 0 { close(probe.descriptor) }
            // A host that is merely busy or stopped does not refuse.
            if probe.error == ECONNREFUSED { unlink(socket(name)) }
        }
        for number in 1...99 {
            let name = number == 1 ? client : "\(client)-\(number)"
            if let descriptor = try LocalSocket.listen(socket(name)) { return (descriptor, name) }
        }
        throw Fault("too many hosts are called \(client)")
    }

    private func claim() throws(Fault) -> Int32 {
        let lock = open(path + "/.lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0 else { throw Fault("cannot lock \(path): \(reason(errno))") }
        // Held for a moment only, unless its holder was stopped there.
        for _ in 0..<200 {
            if flock(lock, LOCK_EX | LOCK_NB) == 0 { return lock }
            usleep(10_000)
        }
        close(lock)
        throw Fault("\(path) is locked by another program", hint: "it may have been stopped; end it")
    }
}

/// What the system says of an error number.
func reason(_ number: Int32) -> String { String(cString: strerror(number)) }
