// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import Realtime
import System

/// A child with nodes in it, as the host sees it: calls that are answered, and everything that comes unasked.
final class ChildProcess: @unchecked Sendable {
    // Sendable: mutable state is behind `state`; the rest is set once, before the reader starts.

    let process: pid_t
    let page: StatusPage
    /// Becomes readable when it ends.
    let watch: Int32

    /// A call that has no answer yet, or whose answer was not fetched.
    private enum Call {
        case awaited
        case answered(FrameReader)
        case followed(@Sendable (Result<FrameReader, Silence>) -> Void)
    }

    private struct State {
        var nextCall: UInt32 = 1
        var calls: [UInt32: Call] = [:]
        var isOver = false
        var isAbandoned = false
        /// Whether calls wait for no answer any more.
        var isHurried = false
        var printed = OutputTail()
        var end: (status: Int32, memory: UInt64)?
    }

    private let unused: UnusedChild
    private let state = Lock(State())
    private let deliver: @Sendable (FrameReader) -> Void
    private var reader: SystemThread?
    private var printer: SystemThread?

    /// Why a call came back without an answer.
    enum Silence: Error, Sendable {
        /// The child has ended.
        case gone
        /// It did not answer in time.
        case late
        /// It answered that it cannot.
        case refused(NodeError)
    }

    /// Takes over a child; what it tells unasked goes to `deliver`, on a thread of its own. [control]
    init(_ unused: UnusedChild, deliver: @escaping @Sendable (FrameReader) -> Void) throws(NodeError) {
        self.unused = unused
        self.deliver = deliver
        process = unused.child.process
        page = StatusPage(unused.page)
        watch = vg_isolate_watch(unused.child.process)
        guard watch >= 0 else {
            let reason = String(cString: strerror(errno))
            unused.kill()
            throw NodeError("the child cannot be watched: \(reason)")
        }
        do throws(SystemError) {
            reader = try SystemThread(name: "vg-isolated") { [self] in read() }
            printer = try SystemThread(name: "vg-isolated") { [self] in listen() }
        } catch { throw NodeError(error) }
    }

    private func read() {
        while let frame = unused.channel.receive() {
            guard frame.kind == .answer || frame.kind == .refusal else {
                deliver(frame)
                continue
            }
            let follower: (@Sendable (Result<FrameReader, Silence>) -> Void)? = state.withLock { state in
                switch state.calls[frame.call] {
                case .awaited: state.calls[frame.call] = .answered(frame)
                case .followed(let follower):
                    state.calls[frame.call] = nil
                    return follower
                case .answered, nil: break
                }
                return nil
            }
            state.signal()
            follower?(Self.result(frame))
        }
        state.withLock { $0.isOver = true }
        state.signal()
    }

    /// Keeps the end of what the child prints: often the only reason there is.
    private func listen() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            var entry = pollfd(fd: unused.child.output, events: Int16(POLLIN), revents: 0)
            // A program that the child started may hold the pipe open for ever.
            if poll(&entry, 1, 200) == 0 {
                if state.withLock({ $0.isOver }) { return }
                continue
            }
            let count = Glibc.read(unused.child.output, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            state.withLock { $0.printed.append(buffer[..<count]) }
        }
    }

    private static func result(_ frame: FrameReader) -> Result<FrameReader, Silence> {
        guard frame.kind == .refusal else { return .success(frame) }
        var frame = frame
        return .failure(.refused(frame.error()))
    }

    /// Sends a frame that is not answered; false: the child does not read within so long, or is gone. [any]
    func post(_ frame: FrameWriter, seconds: Double = 0) -> Bool {
        unused.channel.send(frame, milliseconds: Int32(seconds * 1000))
    }

    /// Sends what is left of a frame that was sent in part. [any]
    func flush() { unused.channel.flush() }

    /// Sends a frame whose answer is fetched later, with `answer`; nil: the child does not read or is gone. [control]
    func ask(_ make: (UInt32) -> FrameWriter) -> UInt32? {
        let number = newCall(.awaited)
        if unused.channel.send(make(number), milliseconds: 0) { return number }
        state.withLock { $0.calls[number] = nil }
        return nil
    }

    /// The answer to `ask`, once; nil: there is none yet. [control]
    func answer(_ number: UInt32) -> FrameReader? {
        state.withLock { state in
            guard case .answered(let answer)? = state.calls[number] else { return nil }
            state.calls[number] = nil
            return answer
        }
    }

    /// Sends a frame; `done` is called once with its answer, on the reader's thread, or by `abandon`. False: it could not
    /// be sent within so long, and `done` is never called. [control]
    func follow(
        seconds: Double, _ make: (UInt32) -> FrameWriter,
        done: @escaping @Sendable (Result<FrameReader, Silence>) -> Void
    ) -> Bool {
        let number = newCall(.followed(done))
        let isSent = unused.channel.send(make(number), milliseconds: Int32(seconds * 1000))
        if isSent, !state.withLock({ $0.isAbandoned }) { return true }
        // Whoever takes it out calls it: this, or `abandon`.
        return state.withLock { $0.calls.removeValue(forKey: number) } == nil
    }

    /// Tells those who follow a call that no answer will come. After `close`. [control]
    func abandon() {
        let calls = state.withLock { state in
            state.isAbandoned = true
            defer { state.calls = [:] }
            return state.calls.sorted { $0.key < $1.key }.map(\.value)
        }
        for case .followed(let follower) in calls { follower(.failure(.gone)) }
    }

    /// Lets whoever waits for an answer, now or later, pass for one that comes too late. [any]
    func hurry() {
        state.withLock { $0.isHurried = true }
        state.signal()
    }

    /// Whether nothing comes from it any more. [any]
    var isOver: Bool { state.withLock(\.isOver) }

    private func newCall(_ call: Call) -> UInt32 {
        state.withLock { state in
            state.nextCall &+= 1
            if state.nextCall == 0 { state.nextCall = 1 }
            state.calls[state.nextCall] = call
            return state.nextCall
        }
    }

    /// Sends a frame and waits for its answer. `make` gets the number of the call. [control]
    func call(
        seconds: Double, passing descriptor: Int32 = -1, _ make: (UInt32) -> FrameWriter
    ) throws(Silence) -> FrameReader {
        let number = newCall(.awaited)
        let deadline = monotonicSeconds() + seconds
        let isSent = unused.channel.send(make(number), passing: descriptor, milliseconds: Int32(seconds * 1000))
        let result: Result<FrameReader, Silence>? = state.wait(
            // What cannot be sent because the child is gone: the reader notices that too.
            until: isSent ? deadline : min(deadline, monotonicSeconds() + 1)
        ) { state in
            if case .answered(let answer)? = state.calls[number] { return Self.result(answer) }
            return state.isOver ? .failure(.gone) : state.isHurried ? .failure(.late) : nil
        }
        state.withLock { $0.calls[number] = nil }
        guard let result else { throw .late }
        return try result.get()
    }

    /// Ends the child, and all that it started; returns how it ended and the most memory it had, 0 if it was no more than
    /// this program's own. Nil: not within a few seconds, as the kernel holds it. [control, one thread]
    @discardableResult
    func end() -> (status: Int32, memory: UInt64)? {
        if let end = state.withLock({ $0.end }) { return end }
        Glibc.kill(process, SIGKILL)
        return reap(within: 5)
    }

    /// How it ended; nil: it has not, within this time. [control, one thread]
    func reap(within seconds: Double) -> (status: Int32, memory: UInt64)? {
        // Once it is reaped, its number may be another process's.
        if let end = state.withLock({ $0.end }) { return end }
        var entry = pollfd(fd: watch, events: Int16(POLLIN), revents: 0)
        _ = poll(&entry, 1, Int32(seconds * 1000))
        guard entry.revents != 0 else { return nil }
        // What it started goes with it; its group has its number until it is reaped.
        Glibc.kill(-process, SIGKILL)
        var (status, memory): (Int32, UInt64) = (0, 0)
        guard vg_isolate_reap(process, &status, &memory) else { return nil }
        if memory <= unused.inherited { memory = 0 }
        state.withLock { $0.end = (status, memory) }
        return (status, memory)
    }

    /// Frees what belongs to a child that is reaped; returns the last line that it printed. [control]
    func close() -> String {
        unused.channel.shut()
        reader?.join()
        printer?.join()
        Glibc.close(unused.child.output)
        Glibc.close(watch)
        return state.withLock { $0.printed.lastLine }
    }
}
