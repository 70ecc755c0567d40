// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit

/// A program that reads lines and writes lines, while it runs. Of one thread.
final class CommandProcess {
    /// What its output had to say.
    enum Event {
        case line(String)
        /// It has closed its output.
        case end
        /// Nothing for now.
        case nothing
    }

    /// A line that is longer is no text.
    private static let longestLine = 1 << 20

    private let child: StartedChild
    private var input: Int32
    private var output: Int32
    private var errors: Int32
    private var unwritten: ArraySlice<UInt8> = []
    private var closesInput = false
    private var unread: [UInt8] = []
    private var complaint: [UInt8] = []
    private var status: Int32?
    /// Lines that it has written since it was started.
    private(set) var lines = 0

    init(_ command: [String]) throws(NodeError) {
        var launcher = ChildLauncher(command)
        launcher.hasInput = true
        launcher.separatesErrors = true
        launcher.environment = ChildLauncher.environmentWithoutBacktrace()
        do throws(SystemError) { child = try launcher.start() } catch { throw NodeError(error) }
        (input, output, errors) = (child.input, child.output, child.errors)
    }

    deinit { end() }

    /// Ends it by force, if it has not ended, and reaps it.
    func end() {
        for descriptor in [input, output, errors] where descriptor >= 0 { close(descriptor) }
        (input, output, errors) = (-1, -1, -1)
        if status == nil {
            child.kill()
            status = child.wait()
        }
    }

    /// Gives it a line, and with `last` the end of its input behind it.
    func give(_ line: String, last isLast: Bool) {
        unwritten += Array((line + "\n").utf8)
        closesInput = isLast
    }

    /// What it says next; waits some milliseconds for it.
    func next() throws(AgentFault) -> Event {
        if let line = try takeLine() { return .line(line) }
        if output < 0 { return lastLine() }
        var entries = [
            pollfd(fd: unwritten.isEmpty && !closesInput ? -1 : input, events: Int16(POLLOUT), revents: 0),
            pollfd(fd: output, events: Int16(POLLIN), revents: 0),
            pollfd(fd: errors, events: Int16(POLLIN), revents: 0),
        ]
        poll(&entries, 3, 20)
        if entries[0].revents != 0 { feed() }
        if entries[2].revents != 0, let bytes = takeBytes(from: &errors), complaint.count < 1000 { complaint += bytes }
        if entries[1].revents != 0, let bytes = takeBytes(from: &output) { unread += bytes }
        if let line = try takeLine() { return .line(line) }
        return output < 0 ? lastLine() : .nothing
    }

    private func takeLine() throws(AgentFault) -> String? {
        guard let end = unread.firstIndex(of: 10) else {
            if unread.count <= Self.longestLine { return nil }
            throw AgentFault(.other, "the command writes a line of more than \(Self.longestLine >> 20) MB")
        }
        let line = Array(unread[..<end])
        unread.removeFirst(end + 1)
        return try text(line)
    }

    /// What has no end of line behind it.
    private func lastLine() -> Event {
        defer { unread = [] }
        guard !unread.isEmpty, let text = try? text(unread) else { return .end }
        return .line(text)
    }

    private func text(_ bytes: [UInt8]) throws(AgentFault) -> String {
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
            throw AgentFault(.other, "the command writes something that is no text")
        }
        lines += 1
        return text.hasSuffix("\r") ? String(text.dropLast()) : text
    }

    private func feed() {
        // No more than a pipe that has room takes at once.
        let piece = Array(unwritten.prefix(4096))
        // A program that does not read ends this write, not this process.
        var (pipe, before) = (sigset_t(), sigset_t())
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &pipe, &before)
        let count = piece.isEmpty ? 0 : write(input, piece, piece.count)
        let code = errno
        var none = timespec()
        while count < 0, sigtimedwait(&pipe, nil, &none) > 0 {}
        pthread_sigmask(SIG_SETMASK, &before, nil)
        if count > 0 { unwritten = unwritten.dropFirst(count) }
        let isLost = count < 0 && code != EINTR && code != EAGAIN
        if isLost || unwritten.isEmpty && closesInput {
            close(input)
            input = -1
            unwritten = []
            closesInput = false
        }
    }

    /// Waits for its end until a moment; how it ended, nil: well. Where it stays, it is ended by force.
    func ending(by deadline: Double) -> String? {
        while status == nil, monotonicSeconds() < deadline {
            var status: Int32 = 0
            if waitpid(child.process, &status, WNOHANG) == child.process {
                self.status = status
            } else {
                usleep(2000)
            }
        }
        while errors >= 0, complaint.count < 1000, let bytes = takeBytes(from: &errors), !bytes.isEmpty {
            complaint += bytes
        }
        guard let status else {
            end()
            return "stays when it has closed its output"
        }
        if status == 0 { return nil }
        let line = String(decoding: complaint.prefix { $0 != 10 }.prefix(300), as: UTF8.self)
        let how = status & 0x7f == 0 ? "ended with \(status >> 8 & 0xff)" : "was ended by signal \(status & 0x7f)"
        return line.isEmpty ? how : "\(how): \(line)"
    }
}
