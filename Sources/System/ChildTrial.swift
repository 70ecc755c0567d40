// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Lets a child process try one thing after another, and finds out how far it came: what crashes, ends the process or never
/// comes back there does no harm here.
///
/// The child reads a line for each thing from its standard input. It tells on its standard output, `INDEX SPACE step`, what it
/// is about to do, and in the end `INDEX done`, `INDEX refused reason` or `INDEX told text`. [control]
public struct ChildTrial: Sendable {
    /// The program and its arguments.
    public var command: [String]
    /// Seconds that one step may take.
    public var patience: Double
    /// Variables that it has besides those of this process, "NAME=value".
    public var variables: [String] = []

    /// What came of a thing that the child came through with.
    public enum Outcome: Sendable, Equatable {
        case done
        case refused(String)
        case told(String)
    }

    /// What a child came to grief over.
    public struct Stumble: Sendable {
        /// The step that it told of last; empty: none.
        public var step: String
        /// "crashes in run (SIGSEGV)"
        public var text: String
        /// The last line that it printed; may be empty.
        public var said: String
        /// Whether it did not come back.
        public var isHang = false
    }

    /// Describes one.
    public init(command: [String], patience: Double) { (self.command, self.patience) = (command, patience) }

    /// What came of the things that the child came through with, and what it stumbled over then. `first`: what it does before
    /// it tells of a step. `seconds`: how much longer than usual a step may take.
    public func run(
        _ lines: [String], first: String, seconds: Double = 0
    ) -> (finished: [Outcome], stumble: Stumble?) {
        var child: Child
        do throws(SystemError) { child = try Child(command, variables) } catch {
            let text = "cannot be tried: \(command.first ?? ""): \(error.reason)"
            return ([], Stumble(step: "", text: text, said: ""))
        }
        child.give(lines.map { $0 + "\n" }.joined())
        var finished: [Outcome] = []
        var step = ""
        func stumble(_ text: (_ place: String) -> String, isHang: Bool = false) -> Stumble {
            Stumble(step: step, text: text(step.isEmpty ? first : step), said: child.lastWords, isHang: isHang)
        }
        var deadline = monotonicSeconds() + patience + seconds
        while let told = child.lines(until: deadline) {
            for line in told {
                deadline = monotonicSeconds() + patience + seconds
                step = String(line.drop { $0 != " " }.dropFirst())
                if step == "done" {
                    finished.append(.done)
                    step = ""
                } else if step.hasPrefix("refused ") {
                    finished.append(.refused(String(step.dropFirst("refused ".count))))
                    step = ""
                } else if step.hasPrefix("told ") {
                    finished.append(.told(String(step.dropFirst("told ".count))))
                    step = ""
                }
            }
            if told.isEmpty, monotonicSeconds() >= deadline {
                child.kill()
                let waited = patience.rounded() == patience ? "\(Int(patience))" : "\(patience)"
                return (finished, stumble({ "does not come back from \($0) within \(waited) s" }, isHang: true))
            }
        }
        let status = child.wait()
        if finished.count == lines.count { return (finished, nil) }
        if status & 0x7f != 0 {
            return (finished, stumble { "crashes in \($0) (\(signalName(status & 0x7f)))" })
        }
        let code = (status >> 8) & 0xff
        if step.isEmpty {
            return (finished, stumble { _ in "cannot be tried: \(command[0]) ended with exit code \(code)" })
        }
        return (finished, stumble { "ends the whole process in \($0) (exit code \(code))" })
    }
}

/// A child process with pipes to all three of its standard descriptors, in a process group of its own.
private struct Child {
    private let child: StartedChild
    private var output: Int32
    private var errors: Int32
    private var text: [UInt8] = []
    private var printed = OutputTail()
    private var status: Int32?

    init(_ command: [String], _ variables: [String]) throws(SystemError) {
        var launcher = ChildLauncher(command)
        launcher.hasInput = true
        launcher.separatesErrors = true
        let names = variables.map { String($0.prefix { $0 != "=" }) + "=" }
        launcher.environment =
            ChildLauncher.environmentWithoutBacktrace().filter { variable in !names.contains { variable.hasPrefix($0) }
            }
            + variables
        child = try launcher.start()
        (output, errors) = (child.output, child.errors)
    }

    /// Hands it all its input. It is read before anything else is done, so this does not wait for long.
    func give(_ text: String) {
        // A child that is gone already is noticed by its silence.
        var ignored = sigaction()
        var before = sigaction()
        ignored.__sigaction_handler.sa_handler = SIG_IGN
        sigaction(SIGPIPE, &ignored, &before)
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { write(child.input, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { break }
            rest = rest.dropFirst(written)
        }
        close(child.input)
        sigaction(SIGPIPE, &before, nil)
    }

    /// The lines that it told since the last call, at once if there are any, else none after a while or at the
    /// deadline; nil: there will be no more.
    mutating func lines(until deadline: Double) -> [String]? {
        guard output >= 0 else { return nil }
        var ends = [
            pollfd(fd: output, events: Int16(POLLIN), revents: 0),
            pollfd(fd: errors, events: Int16(POLLIN), revents: 0),
        ]
        let rest = Int32(max(0, min(100, (deadline - monotonicSeconds()) * 1000 + 1)))
        let count = poll(&ends, 2, rest)
        if count <= 0 {
            // What it started may hold the pipes open after it is gone.
            var ended: Int32 = 0
            guard waitpid(child.process, &ended, WNOHANG) == child.process else { return [] }
            status = ended
            // It may have told something after the wait.
            while output >= 0, Self.hasMore(output) { text += Self.take(&output) }
            closeAll()
        } else {
            if ends[1].revents != 0 { printed.append(Self.take(&errors)) }
            if ends[0].revents != 0 { text += Self.take(&output) }
        }
        var result: [String] = []
        while let end = text.firstIndex(of: 10) {
            result.append(String(decoding: text[..<end], as: UTF8.self))
            text.removeSubrange(...end)
        }
        if output < 0 {
            closeAll()
            return result.isEmpty ? nil : result
        }
        return result
    }

    /// What there is to be read; closes the pipe at its end.
    private static func take(_ end: inout Int32) -> ArraySlice<UInt8> {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(end, &buffer, buffer.count)
        if count == 0 || count < 0 && errno != EINTR {
            close(end)
            end = -1
        }
        return buffer[..<max(0, count)]
    }

    private static func hasMore(_ pipe: Int32) -> Bool {
        var end = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
        return poll(&end, 1, 0) > 0
    }

    private mutating func closeAll() {
        while errors >= 0, Self.hasMore(errors) { printed.append(Self.take(&errors)) }
        for end in [output, errors] where end >= 0 { close(end) }
        (output, errors) = (-1, -1)
    }

    /// Ends it, and all that it started.
    mutating func kill() {
        child.kill()
        _ = wait()
        closeAll()
    }

    /// How it ended.
    mutating func wait() -> Int32 {
        if let status { return status }
        let ended = child.wait()
        child.kill()
        status = ended
        return ended
    }

    /// The last line that the plugin printed.
    var lastWords: String { printed.lastLine }
}
