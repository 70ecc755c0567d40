// SPDX-License-Identifier: GPL-3.0-or-later
import Glibc
import NodeKit

/// A process that sets volumes, and at its end gives back what it was told to: it lives on for that when this process is
/// killed. One at a time for all voices of a user, or one would take what another has lowered for what was before.
final class VolumeKeeper {
    private let child: StartedChild
    private let input: Int32
    private var output: Int32
    /// How often it has said that something is done, and how often it will have.
    private var (done, asked) = (0, 0)

    /// What it would give back.
    var undo: [Int: Double] = [:] { didSet { send("undo", undo) } }

    private static let script = """
        trap '' HUP INT PIPE TERM
        ask() { timeout 5 pw-cli set-param "$1" Props "{ volume: $2 }" >/dev/null 2>&1; }
        put() {
            while [ $# -gt 1 ]; do
                ask "$1" "$2" || ask "$1" "$2"
                shift 2
            done
        }
        undo=
        echo ready
        while read -r word rest; do
            case $word in
                undo) undo=$rest ;;
                set)
                    put $rest
                    echo done
                    ;;
            esac
        done
        [ -z "$undo" ] && exit
        put $undo
        # The streams set it themselves, and who comes next reads it.
        sleep 1
        """
    /// How flock ends where somebody else holds the file.
    private static let taken: Int32 = 75

    /// Nil: another voice has one.
    init?() throws(NodeError) {
        guard let folder = getenv("PIPEWIRE_RUNTIME_DIR") ?? getenv("XDG_RUNTIME_DIR") else {
            throw NodeError("without XDG_RUNTIME_DIR there is no PipeWire")
        }
        guard let flock = programPath("flock"), programPath("pw-cli") != nil else {
            throw NodeError("PipeWire's pw-cli or flock is not installed")
        }
        var launcher = ChildLauncher([
            flock, "-n", "-E", "\(Self.taken)", "\(String(cString: folder))/voicegraph-others.lock", "/bin/sh", "-c",
            Self.script,
        ])
        launcher.hasInput = true
        do throws(SystemError) { child = try launcher.start() } catch { throw NodeError(error) }
        (input, output) = (child.input, child.output)
        var said: [UInt8] = []
        while said.last != UInt8(ascii: "\n"), let bytes = takeBytes(from: &output) { said += bytes }
        if said.starts(with: Array("ready".utf8)) { return }
        if output >= 0 { close(output) }
        close(input)
        let status = child.wait()
        if status == Self.taken << 8 { return nil }
        let line = String(decoding: said.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        throw NodeError("\(String(cString: folder)) cannot be used: \(line)")
    }

    /// Sets volumes, and waits until that is done; false: it takes longer than a second.
    func set(_ volumes: [Int: Double]) -> Bool {
        send("set", volumes)
        asked += 1
        return settles(within: 1)
    }

    /// Waits until all that was to be set is set; false: it takes longer than so many seconds.
    func settles(within seconds: Double) -> Bool {
        let deadline = monotonicSeconds() + seconds
        while done < asked, output >= 0 {
            let rest = deadline - monotonicSeconds()
            var end = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            guard rest > 0, poll(&end, 1, Int32(rest * 1000) + 1) != 0 else { return false }
            done += takeBytes(from: &output)?.count { $0 == UInt8(ascii: "\n") } ?? 0
        }
        return done >= asked
    }

    private func send(_ word: String, _ volumes: [Int: Double]) {
        let line = ([word] + volumes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }).joined(separator: " ")
        var bytes = Array((line + "\n").utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return }
            bytes = bytes.dropFirst(count)
        }
    }

    /// It gives back what it was told to, and is gone.
    func end() {
        close(input)
        _ = child.wait()
        if output >= 0 { close(output) }
    }
}
