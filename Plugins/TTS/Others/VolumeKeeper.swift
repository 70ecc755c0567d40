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

    /// At the end each is looked at: one that somebody else has set meanwhile keeps that, one that is gone is forgotten, and
    /// where no answer comes one is asked again for a while, and then given back unseen.
    private static let script = """
        trap '' HUP INT PIPE TERM
        export LC_ALL=C
        shares=$1
        ask() { timeout 5 pw-cli "$@" 2>&1; }
        put() {
            while [ $# -gt 1 ]; do
                ask set-param "$1" Props "{ volume: $2 }" >/dev/null || ask set-param "$1" Props "{ volume: $2 }" >/dev/null
                shift 2
            done
        }
        state() {
            ask enum-params "$1" Props | awk -v before="$2" -v shares="$shares" '
                function near(value, other) { return value > other - before / 2000 && value < other + before / 2000 }
                /unknown global|failed to connect/ { state = "gone" }
                /Props:volume / { getline; state = near($2, before) ? "before" : "theirs"
                    for (i = split(shares, share, ","); i > 0 && state == "theirs"; i--)
                        if (near($2, before * share[i])) state = "ours" }
                END { print state }'
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
        for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
            set -- $undo
            undo=
            while [ $# -gt 1 ]; do
                state=$(state "$1" "$2")
                [ "$state" = ours ] && put "$1" "$2"
                case $state in ours | '') undo="$undo $1 $2" ;; esac
                shift 2
            done
            [ -z "$undo" ] && exit
            sleep .2
        done
        put $undo
        """
    /// How flock ends where somebody else holds the file.
    private static let taken: Int32 = 75

    /// Nil: another voice has one. `shares` are those of what was before at which it leaves a stream.
    init?(shares: [Double]) throws(NodeError) {
        guard let folder = getenv("PIPEWIRE_RUNTIME_DIR") ?? getenv("XDG_RUNTIME_DIR") else {
            throw NodeError("without XDG_RUNTIME_DIR there is no PipeWire")
        }
        guard let flock = programPath("flock"), programPath("pw-cli") != nil, programPath("awk") != nil
        else {
            throw NodeError("PipeWire's pw-cli, awk or flock is not installed")
        }
        var launcher = ChildLauncher([
            flock, "-n", "-E", "\(Self.taken)", "\(String(cString: folder))/voicegraph-others.lock", "/bin/sh", "-c",
            Self.script, "sh", shares.map { "\($0)" }.joined(separator: ","),
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

    /// Sets volumes, and waits until that is done; false: it takes longer than so many seconds.
    @discardableResult func set(_ volumes: [Int: Double], within seconds: Double) -> Bool {
        send("set", volumes)
        asked += 1
        return settles(within: seconds)
    }

    /// Waits until all that was to be set is set; false: it takes longer than so many seconds.
    func settles(within seconds: Double) -> Bool {
        listen(for: seconds) { done >= asked }
        return done >= asked
    }

    /// Hears what it says until something holds, or for so many seconds.
    private func listen(for seconds: Double, until holds: () -> Bool) {
        let deadline = monotonicSeconds() + seconds
        while !holds(), output >= 0 {
            let rest = deadline - monotonicSeconds()
            var end = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            guard rest > 0, poll(&end, 1, Int32(rest * 1000) + 1) != 0 else { return }
            done += takeBytes(from: &output)?.count { $0 == UInt8(ascii: "\n") } ?? 0
        }
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

    /// Lets it give back what it was told to, and waits until it is gone, for a second at least and while something holds;
    /// then it goes on alone.
    func end(while holds: () -> Bool) {
        close(input)
        repeat { listen(for: 1) { false } } while output >= 0 && holds()
        if output < 0 { _ = child.wait() } else { close(output) }
    }
}
