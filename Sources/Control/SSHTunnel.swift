// SPDX-License-Identifier: Apache-2.0
import CRealtime
import Glibc
import Host
import System

/// The hosts of a user on another machine. One ssh is logged in: it lists the sockets there, and forwards those that are
/// asked for to sockets of a private folder here. It ends with this object, and by itself when this process ends, however
/// that happens: what runs on the other side reads its input to the end.
final class SSHTunnel {
    /// The machine, as ssh is told it.
    let machine: String
    private let program: String
    private let folder: String
    private var child: Child
    private var forwarded: [String] = []

    /// The client names there that have a socket, with its path; whether anyone listens or not.
    private(set) var sockets: [(client: String, path: String)] = []

    /// What runs on the other side, in one line since not every login shell takes more: the sockets in folders that are
    /// the user's alone. The runtime directory is not always in the environment of what ssh starts.
    private static let search = """
        exec sh -c 'u=$(id -u); echo \(mark); \
        for d in "${XDG_RUNTIME_DIR:-/run/user/$u}" "/run/user/$u"; do echo "$d/voicegraph"; done \
        | { sort -u; echo "\(P_tmpdir)/voicegraph-$u"; } | while IFS= read -r d; do \
        [ -n "$(find "$d" -prune -type d -user "$u" -perm 700 2>/dev/null)" ] && find "$d" -name "[!.]*.sock" -type s; \
        done; echo \(mark); exec cat >/dev/null'
        """
    private static let mark = "voicegraph-sockets"

    /// Logs in. If it `asks`, and there is a terminal, ssh asks there for what it needs. What it says goes to standard
    /// error, or if it `isSilent` the last of it into the error. [any]
    init(_ machine: String, asks: Bool, isSilent: Bool) throws(Fault) {
        guard let program = programPath("ssh") else {
            throw Fault("ssh is not installed", hint: "apt install openssh-client")
        }
        // A short path: the names of sockets are short.
        var template = Array("\(P_tmpdir)/voicegraph-ssh-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw Fault("cannot make a folder in \(P_tmpdir): \(reason(errno))")
        }
        let folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        let isAsking = asks && (isatty(STDIN_FILENO) == 1 || isatty(STDERR_FILENO) == 1)
        var words = ["-M", "-S", folder + "/ssh", "-T", "-a", "-x"]
        let options = [
            "BatchMode=\(isAsking ? "no" : "yes")", "ControlPersist=no", "ClearAllForwardings=yes",
            "RemoteCommand=none",
            "PermitLocalCommand=no", "ConnectTimeout=15", "ServerAliveInterval=5", "ServerAliveCountMax=3",
            "StreamLocalBindMask=0177",
        ]
        words += options.flatMap { ["-o", $0] } + ["--", machine, Self.search]
        (self.machine, self.program, self.folder) = (machine, program, folder)
        do throws(Fault) { child = try Child(program, words, keepsErrors: isSilent) } catch {
            rmdir(folder)
            throw error
        }
        guard let lines = list() else {
            let said = child.end()
            throw Fault("ssh does not reach \(machine)" + (said.isEmpty ? "" : ": \(said)"))
        }
        let suffix = ControlFolder.suffix
        sockets = lines.filter { $0.hasPrefix("/") && $0.hasSuffix(suffix) }.map { path in
            (ControlFolder.client(String(path.split(separator: "/").last?.dropLast(suffix.count) ?? "")), path)
        }
        .sorted { $0.0 < $1.0 }
    }

    deinit {
        _ = child.end()
        hide()
    }

    /// Removes what there is of it in the file system: what is connected stays connected, nothing more can be.
    func hide() {
        for name in forwarded + [folder + "/ssh"] { unlink(name) }
        rmdir(folder)
    }

    /// Whether ssh has ended, as it does when the other side is not reached any more.
    var hasEnded: Bool {
        var entry = pollfd(fd: child.output, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) > 0
    }

    /// Connects to a socket on the other side. That nobody listens there shows only when it is used.
    func connect(_ path: String) throws(Fault) -> Int32 {
        let local = "\(folder)/\(forwarded.count)"
        try forward(local, path)
        forwarded.append(local)
        let (descriptor, error) = LocalSocket.connect(local, seconds: 5)
        guard error == 0 else { throw Fault("ssh to \(machine) does not forward \(path): \(reason(error))") }
        return descriptor
    }

    /// Forwards an address of TCP, such as 127.0.0.1:8765, from this machine to the same of the other one.
    func forward(address: String) throws(Fault) { try request(address + ":" + address) }

    private func forward(_ local: String, _ path: String) throws(Fault) {
        // ssh takes : and \ for itself, and expands what follows %.
        let remote = path.replacing("\\", with: "\\\\").replacing(":", with: "\\:").replacing("%", with: "%%")
        try request("\(local):\(remote)")
    }

    /// Asks the ssh that is logged in; nothing of the user's settings counts for that.
    private func request(_ forwarding: String) throws(Fault) {
        let words = ["-F", "none", "-S", folder + "/ssh", "-O", "forward", "-L", forwarding, "--", machine]
        var child = try Child(program, words, keepsErrors: true)
        let code = child.wait()
        let said = child.end()
        if code != 0 { throw Fault("ssh to \(machine) does not forward \(forwarding): \(said)") }
    }

    /// What the search printed; nil: ssh has ended before that. What a login prints before is none of it.
    private func list() -> [String]? {
        var text: [UInt8] = []
        while true {
            let lines = text.split(separator: 10).map { String(decoding: $0, as: UTF8.self) }
            if text.last == 10, lines.last == Self.mark, let first = lines.firstIndex(of: Self.mark),
                first < lines.count - 1
            {
                return Array(lines[(first + 1)...].dropLast())
            }
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = read(child.output, &buffer, buffer.count)
            if count > 0 {
                text += buffer[..<count]
            } else if count == 0 || errno != EINTR {
                return nil
            }
        }
    }
}

/// An ssh in the group of this process, so that it may ask on the terminal, and ends with Ctrl-C as this process does.
private struct Child {
    private var process: pid_t = 0
    private var input: Int32 = -1
    /// Reading end of its standard output.
    private(set) var output: Int32 = -1
    /// Its standard error, in memory; -1: that of this process.
    private var errors: Int32 = -1

    init(_ program: String, _ words: [String], keepsErrors: Bool) throws(Fault) {
        var (reading, writing): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
        defer { for end in [reading[0], writing[1]] where end >= 0 { close(end) } }
        guard vg_pipe_open(&reading), vg_pipe_open(&writing) else {
            throw Fault("no pipe to ssh: \(reason(errno))")
        }
        (input, output) = (reading[1], writing[0])
        // O_TMPFILE: a file without a name.
        if keepsErrors { errors = open(P_tmpdir, 0o20200000 | O_RDWR | O_CLOEXEC, 0o600) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, reading[0], STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, writing[1], STDOUT_FILENO)
        if errors >= 0 { posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // It is not to inherit what this process ignores or holds back.
        var (all, none) = (sigset_t(), sigset_t())
        sigfillset(&all)
        sigemptyset(&none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        var arguments = ([program] + words).map { strdup($0) } + [nil]
        defer { for text in arguments { free(text) } }
        let result = posix_spawn(&process, program, &actions, &attributes, &arguments, environ)
        if result != 0 {
            process = 0
            _ = end()
            throw Fault("\(program) cannot be started: \(reason(result))")
        }
    }

    /// Waits until it ends; its exit code.
    mutating func wait() -> Int32 {
        guard process > 0 else { return -1 }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        process = 0
        return status & 0x7f == 0 ? (status >> 8) & 0xff : -1
    }

    /// Ends it if it has not ended; the last line of what it said.
    mutating func end() -> String {
        if process > 0 {
            kill(process, SIGTERM)
            _ = wait()
        }
        var tail = OutputTail()
        if errors >= 0 {
            var buffer = [UInt8](repeating: 0, count: 8192)
            let size = lseek(errors, 0, SEEK_END)
            let count = pread(errors, &buffer, buffer.count, max(0, size - buffer.count))
            if count > 0 { tail.append(buffer[..<count]) }
        }
        for descriptor in [input, output, errors] where descriptor >= 0 { close(descriptor) }
        (input, output, errors) = (-1, -1, -1)
        return tail.lastLine
    }
}
