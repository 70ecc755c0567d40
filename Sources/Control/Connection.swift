// SPDX-License-Identifier: Apache-2.0
import API
import Glibc
import Host

/// One client: what it sent and is not done yet, what it has not read yet. The server's thread only.
final class Connection {
    let descriptor: Int32
    /// Not the same for any two.
    let number: Int
    /// Whose it is.
    let process: pid_t
    /// The number of the call of it that is being done: the next one waits; nil: none is.
    var call: Int?
    /// Whether one is.
    var isBusy: Bool { call != nil }
    /// Ends the call that is being done, if it only looks.
    var endLook: (() -> Void)?
    /// What it is told of what happens; nil: nothing.
    var reader: EventReader?
    /// What it is told of what nodes measure.
    var series: Subscription?
    /// Losses of that which it has been told.
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
    /// Where the first line begins that was not taken: what is before it is removed once it is most of `input`.
    private var start = 0
    /// Where the search for its end goes on.
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
    enum Line: Equatable {
        case text([UInt8])
        case tooLong
        /// Nothing but blanks.
        case blank
    }

    init(_ descriptor: Int32, number: Int, process: pid_t = 0, at time: Double) {
        self.descriptor = descriptor
        self.number = number
        self.process = process
        active = time
        progress = time
    }

    deinit { close(descriptor) }

    /// Bytes that it has not read.
    var pending: Int { output.count - written }
    /// Whether it takes anything more.
    var hasRoom: Bool { pending < Self.outputLimit }
    /// Whether more of it is read: not while it lets calls wait.
    var wantsInput: Bool { !hasEnded && !isGone && waiting <= Self.lineLimit }
    /// Bytes that it sent and that were not taken.
    private var waiting: Int { input.count - start }
    /// Whether nothing is to be done for it.
    var isIdle: Bool { !isBusy && reader == nil && pending == 0 }
    /// Whether it can be let go.
    var isDone: Bool {
        !isBusy && waiting == 0 && (isGone || hasEnded && pending == 0 && reader == nil)
    }

    /// Takes what has arrived.
    func receive(at time: Double) {
        withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 1) { buffer in
            while wantsInput {
                let count = recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
                if count > 0 {
                    active = time
                    take(buffer[..<count])
                } else if count == 0 {
                    hasEnded = true
                } else if errno != EINTR {
                    if errno != EAGAIN { leave() }
                    return
                }
            }
        }
    }

    /// Adds to what is not done yet.
    func take(_ bytes: some Sequence<UInt8>) {
        // Only when it is most of it, so that each byte is moved once at most on the average.
        if start > input.count / 2 {
            input.removeSubrange(..<start)
            searched -= start
            start = 0
        }
        input += bytes
    }

    /// The next line that is complete, or that its end completes.
    func nextLine() -> Line? {
        while true {
            guard let end = endOfLine() else {
                searched = input.count
                if waiting > Self.lineLimit {
                    forgetInput()
                    defer { isSkipping = true }
                    return isSkipping ? nil : .tooLong
                }
                guard hasEnded, waiting > 0 else { return nil }
                defer { forgetInput() }
                return isSkipping ? nil : Self.line(input[start...])
            }
            let line = Self.line(input[start..<end])
            start = end + 1
            searched = start
            if start == input.count { forgetInput() }
            if isSkipping {
                isSkipping = false
                continue
            }
            return line
        }
    }

    private static func line(_ bytes: ArraySlice<UInt8>) -> Line {
        if bytes.count > lineLimit { return .tooLong }
        return bytes.allSatisfy { $0 == 32 || $0 == 9 || $0 == 13 } ? .blank : .text(Array(bytes))
    }

    /// Where the end of the first line is; nil: it is not there yet.
    private func endOfLine() -> Int? {
        input.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, searched < bytes.count else { return nil }
            return memchr(base + searched, 10, bytes.count - searched).map { UnsafeRawPointer($0) - base }
        }
    }

    /// Whether `nextLine` has something.
    var hasLine: Bool { endOfLine() != nil || hasEnded && waiting > 0 }

    private func forgetInput() {
        input = []
        start = 0
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
                if errno != EAGAIN { leave() }
                break
            }
        }
        if written == output.count {
            output.removeAll(keepingCapacity: output.capacity <= Self.outputLimit)
            written = 0
            progress = time
        }
    }

    /// The other end is closed both ways: what only looks is done for nobody.
    func leave() {
        hasEnded = true
        isGone = true
        if let end = endLook {
            end()
            (endLook, call) = (nil, nil)
        }
        (reader, series) = (nil, nil)
    }
}

extension Connection {
    /// Whether there is a line that can be done now.
    var canGoOn: Bool { !isBusy && hasRoom && hasLine }
}

extension Connection.Line {
    /// How much of a turn it takes: its bytes, and what an answer costs.
    var cost: Int {
        switch self {
        case .text(let bytes): bytes.count + 64
        case .tooLong: Connection.lineLimit
        case .blank: 1
        }
    }
}
