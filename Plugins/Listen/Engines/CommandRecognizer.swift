// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit

/// Lets another program recognize: it reads a segment as 16-bit WAV on its standard input and writes the text to its
/// standard output. A program that hangs is ended.
final class CommandRecognizer: Recognizer {
    /// What to run.
    struct Command: Sendable {
        static let line = Key.texts(
            "command",
            "reads WAV (16-bit mono, 16 kHz) and writes text: a line for the shell, or a program and its arguments",
            names: .program)
        static let limit = Key.number(
            "time_limit", "how long the command may take for an item", default: 30, in: 0.1...3600, unit: "s")

        let arguments: [String]
        /// Seconds that it may take for one segment.
        let limit: Double

        init(_ settings: Settings, host: NodeHost) throws(NodeError) {
            arguments = try settings.command(
                Self.line, for: "the engine \"command\"", hint: "a program that reads WAV and writes text", host: host)
            limit = try settings[Self.limit]
        }
    }

    /// Bytes of text that are taken at most.
    private static let longest = 1 << 20

    private let command: Command
    private let abort: AbortFlag
    private var samples: [Float] = []

    init(_ command: Command, abort: AbortFlag) {
        self.command = command
        self.abort = abort
    }

    func begin(isLive: Bool) throws(NodeError) { samples.removeAll(keepingCapacity: true) }
    func feed(_ samples: ArraySlice<Float>) throws(NodeError) { self.samples += samples }
    func partial(isWanted: () -> Bool) throws(NodeError) -> String? { nil }
    func cancel() {}

    func finish(spoken: Int) throws(NodeError) -> Recognition {
        var launcher = ChildLauncher(command.arguments)
        launcher.hasInput = true
        // With the thread that started it, which waits for its end.
        launcher.endSignal = SIGKILL
        launcher.separatesErrors = true
        let child: StartedChild
        do throws(SystemError) { child = try launcher.start() } catch { throw NodeError(error) }
        var talk = Talk(child, input: waveFile(samples))
        let deadline = monotonicSeconds() + command.limit
        var reason = talk.run(until: deadline, abort: abort)
        talk.close()
        // It may have closed its outputs long before its end.
        while reason == nil, !Self.hasEnded(child.process) {
            reason = abort.isRaised ? .aborted : monotonicSeconds() > deadline ? .late : nil
            usleep(1000)
        }
        if reason != nil { child.kill() }
        let status = child.wait()
        switch reason {
        case .aborted: throw AbortFlag.error
        case .late:
            throw NodeError(
                "the command took more than \(command.limit) s and was ended", hint: "see `\(Command.limit.name)`",
                key: Command.line.name)
        case .tooLong: throw NodeError("the command wrote more than 1 MiB and was ended", key: Command.line.name)
        case nil: break
        }
        // As wait(2) packs it: the signal below, the exit code above.
        let (signal, code) = (status & 0x7f, status >> 8 & 0xff)
        if status != 0 {
            let said = String(decoding: talk.errors, as: UTF8.self).split(separator: "\n").last.map { ": \($0)" } ?? ""
            throw NodeError(
                (signal != 0 ? "the command was ended by \(signalName(signal))" : "the command ended with \(code)")
                    + shortened(said), key: Command.line.name)
        }
        let words = String(decoding: talk.output, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        return Recognition(text: words.joined(separator: " "))
    }

    /// Whether a child has ended; it is not reaped yet.
    private static func hasEnded(_ process: pid_t) -> Bool {
        var information = siginfo_t()
        let result = waitid(P_PID, id_t(process), &information, WEXITED | WNOHANG | WNOWAIT)
        return result != 0 || information.si_signo == SIGCHLD
    }

    /// Both ends of a child's pipes at once, so that neither side waits for the other.
    private struct Talk {
        enum Reason { case late, aborted, tooLong }

        var output: [UInt8] = []
        var errors: [UInt8] = []
        private var input: ArraySlice<UInt8>
        /// Its input, output and errors; -1: closed.
        private var ends: [Int32]

        init(_ child: StartedChild, input: [UInt8]) {
            self.input = input[...]
            ends = [child.input, child.output, child.errors]
            for end in ends { _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK) }
            // A child that does not read is no reason to end; its pipe says so to this thread alone.
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, SIGPIPE)
            pthread_sigmask(SIG_BLOCK, &signals, nil)
        }

        /// Returns when the child has closed its outputs, nil, or with the reason why it was not waited for.
        mutating func run(until deadline: Double, abort: AbortFlag) -> Reason? {
            while ends[1] >= 0 || ends[2] >= 0 {
                if abort.isRaised { return .aborted }
                if monotonicSeconds() > deadline { return .late }
                var waits = ends.enumerated().map { place, end in
                    pollfd(fd: end, events: Int16(place == 0 ? POLLOUT : POLLIN), revents: 0)
                }
                // Not longer: the flag is looked at in between.
                guard poll(&waits, 3, 20) > 0 else { continue }
                if waits[0].revents != 0 { write() }
                if waits[1].revents != 0 { output += read(1) }
                if waits[2].revents != 0 { errors += read(2) }
                if output.count > CommandRecognizer.longest { return .tooLong }
                if errors.count > CommandRecognizer.longest { errors.removeFirst(errors.count / 2) }
            }
            return nil
        }

        mutating func close() { for place in ends.indices { close(place) } }

        private mutating func close(_ place: Int) {
            if ends[place] >= 0 { Glibc.close(ends[place]) }
            ends[place] = -1
        }

        private mutating func write() {
            let count = input.withUnsafeBytes { Glibc.write(ends[0], $0.baseAddress, $0.count) }
            if count > 0 { input = input.dropFirst(count) }
            if input.isEmpty || count < 0 && errno != EAGAIN && errno != EINTR { close(0) }
        }

        private mutating func read(_ place: Int) -> [UInt8] {
            var count = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: 4096) { buffer, size in
                count = Glibc.read(ends[place], buffer.baseAddress, buffer.count)
                size = max(0, count)
            }
            if count == 0 || count < 0 && errno != EAGAIN && errno != EINTR { close(place) }
            return bytes
        }
    }
}

/// A WAV file of 16-bit mono at 16 kHz.
func waveFile(_ samples: [Float]) -> [UInt8] {
    func bytes<T: FixedWidthInteger>(_ value: T) -> [UInt8] { withUnsafeBytes(of: value.littleEndian) { Array($0) } }
    let rate = UInt32(speechRate)
    let size = UInt32(clamping: samples.count * 2)
    var file = Array("RIFF".utf8) + bytes(size + 36) + Array("WAVEfmt ".utf8) + bytes(UInt32(16))
    file += bytes(UInt16(1)) + bytes(UInt16(1)) + bytes(rate) + bytes(rate * 2) + bytes(UInt16(2)) + bytes(UInt16(16))
    file += Array("data".utf8) + bytes(size)
    // Every machine that this runs on has the lower byte first, as the file has.
    pcm16(samples[...]).withUnsafeBytes { file += $0 }
    return file
}

/// Samples as integers of 16 bits; what is beyond full scale is clipped.
func pcm16(_ samples: ArraySlice<Float>) -> [Int16] {
    samples.map { $0.isFinite ? Int16(max(-32768, min(32767, ($0 * 32768).rounded()))) : 0 }
}
