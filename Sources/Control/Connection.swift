// SPDX-License-Identifier: Apache-2.0
import Glibc
import Host

/// One client: what it sent and is not done yet, what it has not read yet. The server's thread only.
final class Connection {
    let descriptor: Int32
    /// Not the same for any two.
    let number: Int
    /// Whether a call of it is being done: the next one waits.
    var isBusy = false
    /// What it is told of the graph.
    var subscription: Subscription?
    /// What it wants of that.
    var filter = EventFilter()
    /// Losses that it has been told.
    var lossesTold = 0
    /// Losses that the server has counted.
    var lossesCounted = 0
    /// When it is told the status next, in seconds.
    var statusDue = 0.0
    /// Whether it sends no more.
    private(set) var hasEnded = false
    /// Whether it is gone, so that nobody reads any answer.
    private(set) var isGone = false
    /// When it last did anything, in seconds.
    private(set) var active: Double
    /// When it last read something, or had nothing to read, in seconds.
    private(set) var progress: Double
    private var input: [UInt8] = []
    /// Bytes of `input` in which there is no end of a line.
    private var searched = 0
    /// Whether the rest of a line is passed over that was too long.
    private var isSkipping = false
    private var output: [UInt8] = []
    private var written = 0

    /// Longer lines are refused.
    static let lineLimit = 1 << 20
    /// Nothing more is begun for a client with so much left to read.
    static let outputLimit = 1 << 16

    /// A line, or why there is none.
    enum Line {
        case text([UInt8])
        case tooLong
    }

    init(_ descriptor: Int32, number: Int, at time: Double) {
        self.descriptor = descriptor
        self.number = number
        active = time
        progress = time
    }

    deinit { close(descriptor) }

    /// Bytes that it has not read.
    var pending: Int { output.count - written }
    /// Whether it takes anything more.
    var hasRoom: Bool { pending < Self.outputLimit }
    /// Whether more of it is read: not while it lets calls wait.
    var wantsInput: Bool { !hasEnded && !isGone && input.count <= Self.lineLimit }
    /// Whether nothing is to be done for it.
    var isIdle: Bool { !isBusy && subscription == nil && pending == 0 }
    /// Whether it can be let go.
    var isDone: Bool {
        !isBusy && input.isEmpty && (isGone || hasEnded && pending == 0 && subscription == nil)
    }

    /// Takes what has arrived.
    func receive(at time: Double) {
        withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 1) { buffer in
            while wantsInput {
                let count = recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
                if count > 0 {
                    active = time
                    input += buffer[..<count]
                } else if count == 0 {
                    hasEnded = true
                } else if errno != EINTR {
                    if errno != EAGAIN { isGone = true }
                    return
                }
            }
        }
    }

    /// The next line that is complete, or that its end completes.
    func nextLine() -> Line? {
        while true {
            guard let end = input[searched...].firstIndex(of: 10) else {
                searched = input.count
                if input.count > Self.lineLimit {
                    forgetInput()
                    defer { isSkipping = true }
                    return isSkipping ? nil : .tooLong
                }
                guard hasEnded, !input.isEmpty else { return nil }
                defer { forgetInput() }
                return isSkipping ? nil : .text(input)
            }
            let line = Array(input[..<end])
            input.removeSubrange(...end)
            searched = 0
            if isSkipping {
                isSkipping = false
                continue
            }
            if line.count > Self.lineLimit { return .tooLong }
            if line.allSatisfy({ $0 == 32 || $0 == 9 || $0 == 13 }) { continue }
            return .text(line)
        }
    }

    /// Whether `nextLine` has something.
    var hasLine: Bool { input[searched...].contains(10) || hasEnded && !input.isEmpty }

    private func forgetInput() {
        input = []
        searched = 0
    }

    /// Adds a line to what it is to read.
    func send(_ line: String) {
        guard !isGone else { return }
        output += line.utf8
        output.append(10)
    }

    /// Writes what it takes now.
    func flush(at time: Double) {
        while pending > 0, !isGone {
            let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
            let count = output.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress! + written, pending, flags) }
            if count > 0 {
                written += count
                progress = time
            } else if errno != EINTR {
                if errno != EAGAIN { isGone = true }
                break
            }
        }
        if written == output.count {
            output.removeAll(keepingCapacity: output.capacity <= Self.outputLimit)
            written = 0
            progress = time
        }
    }

    /// The other end is closed both ways.
    func leave() {
        hasEnded = true
        isGone = true
    }
}
