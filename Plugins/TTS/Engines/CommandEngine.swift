// SPDX-License-Identifier: GPL-3.0-or-later
import Glibc
import NodeKit

/// Any program that reads a text from its standard input and writes a WAV file to its standard output, once for each
/// sentence. What is wanted of the voice stands in its variables.
struct CommandEngine: VoiceEngine {
    static let name = "command"
    static let command = Key.texts(
        "command",
        "of the engine command: a program and its arguments, or a line for the shell; it reads a text from its "
            + "standard input and writes a WAV file to its standard output, once a sentence", names: .program)
    static let timeLimit = Key.number(
        "time_limit", "how long the command may take for a sentence", default: 30, in: 0.1...3600, unit: "s")

    let abilities = EngineAbilities(
        cut: .sentences, tellsWords: false, takesMarkup: true, setsPitch: true, volume: 0)

    private let command: [String]
    /// Seconds in which it must have written all.
    private let limit: Double

    init(_ settings: Settings, _ host: NodeHost) throws(NodeError) {
        command = try settings.command(
            Self.command, for: "the engine \"command\"", hint: "as in command = [\"espeak-ng\", \"--stdout\"]",
            host: host)
        limit = try settings[Self.timeLimit]
    }

    func find(_ voice: String) throws(NodeError) -> (name: String, instead: String?) { (voice, nil) }

    /// Nobody knows them but the program.
    func voices() throws(NodeError) -> [KnownVoice] { [] }

    func synthesize(
        _ piece: String, markup isMarkup: Bool, _ voice: Voice, begin: (Double) -> Void, deliver: VoiceDelivery
    ) throws(NodeError) {
        var launcher = ChildLauncher(command)
        launcher.hasInput = true
        launcher.separatesErrors = true
        launcher.environment =
            ChildLauncher.environmentWithoutBacktrace() + [
                "VOICEGRAPH_VOICE=\(voice.name)", "VOICEGRAPH_RATE=\(voice.rate)", "VOICEGRAPH_PITCH=\(voice.pitch)",
            ]
        let child: StartedChild
        do throws(SystemError) { child = try launcher.start() } catch { throw NodeError(error) }
        var run = CommandRun(child, text: piece, limit: limit)
        try run.speak(begin: begin, deliver: deliver)
    }
}

/// One run of such a program.
private struct CommandRun {
    private let child: StartedChild
    private var input: Int32
    private var output: Int32
    private var errors: Int32
    private var rest: ArraySlice<UInt8>
    private let deadline: Double
    private let limit: Double
    private var reader = WaveReader()
    private var complaint: [UInt8] = []

    init(_ child: StartedChild, text: String, limit: Double) {
        self.child = child
        (input, output, errors) = (child.input, child.output, child.errors)
        rest = Array(text.utf8)[...]
        self.limit = limit
        deadline = monotonicSeconds() + limit
    }

    /// Feeds it and takes what it says, until it ends, is stopped or takes too long; then it is gone.
    mutating func speak(begin: (Double) -> Void, deliver: VoiceDelivery) throws(NodeError) {
        // A program that does not read ends this write, not this process.
        var (pipe, before) = (sigset_t(), sigset_t())
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &pipe, &before)
        var fault: NodeError?
        var isStopped = false
        do throws(NodeError) { isStopped = try !exchange(begin, deliver) } catch { fault = error }
        for end in [input, output, errors] where end >= 0 { close(end) }
        if isStopped || fault != nil { child.kill() }
        let status = wait()
        takePendingPipe(pipe)
        pthread_sigmask(SIG_SETMASK, &before, nil)
        if isStopped { return }
        let line = String(decoding: complaint.prefix { $0 != 10 }.prefix(300), as: UTF8.self)
        let said = line.isEmpty ? "" : ": \(line)"
        if fault == nil, status != 0 {
            let how = status & 0x7f == 0 ? "ended with \(status >> 8 & 0xff)" : "was ended by signal \(status & 0x7f)"
            throw NodeError("the command \(how)\(said)")
        }
        if let fault { throw NodeError("\(fault.message)\(said)", hint: fault.hint) }
        if !reader.hasHead { throw NodeError("the command wrote no WAV file\(said)") }
    }

    /// Reaps it; one that says no more and does not end is ended when its time is over.
    private func wait() -> Int32 {
        var status: Int32 = 0
        while monotonicSeconds() < deadline {
            if waitpid(child.process, &status, WNOHANG) == child.process { return status }
            usleep(2000)
        }
        child.kill()
        return child.wait()
    }

    /// What a failed write left would end the process when the signal is let through again.
    private func takePendingPipe(_ pipe: sigset_t) {
        var pipe = pipe
        var none = timespec()
        while sigtimedwait(&pipe, nil, &none) > 0 {}
    }

    /// False: whoever listens wants no more.
    private mutating func exchange(_ begin: (Double) -> Void, _ deliver: VoiceDelivery) throws(NodeError) -> Bool {
        var hasBegun = false
        while output >= 0 || errors >= 0 {
            if monotonicSeconds() > deadline {
                throw NodeError(
                    "the command did not end within \(limit) s", hint: "time_limit is how long it may take")
            }
            var entries = [
                pollfd(fd: input, events: Int16(POLLOUT), revents: 0),
                pollfd(fd: output, events: Int16(POLLIN), revents: 0),
                pollfd(fd: errors, events: Int16(POLLIN), revents: 0),
            ]
            poll(&entries, 3, 20)
            if entries[0].revents != 0 { feed() }
            if entries[2].revents != 0, let bytes = takeBytes(from: &errors), complaint.count < 1000 {
                complaint += bytes
            }
            var samples: [Float] = []
            if entries[1].revents != 0, let bytes = takeBytes(from: &output) {
                samples = try reader.take(bytes)
            }
            if !hasBegun, reader.rate > 0 {
                hasBegun = true
                begin(reader.rate)
            }
            if !samples.withUnsafeBufferPointer({ deliver($0, []) }) { return false }
        }
        return true
    }

    private mutating func feed() {
        // No more than a pipe that has room takes at once.
        let count = rest.isEmpty ? 0 : rest.prefix(4096).withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
        if count > 0 { rest = rest.dropFirst(count) }
        if count < 0 && errno != EINTR && errno != EAGAIN || rest.isEmpty {
            close(input)
            input = -1
        }
    }
}
