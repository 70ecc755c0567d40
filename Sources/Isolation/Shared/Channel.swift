// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import Realtime

/// One end of the stream of frames between host and child. Any thread sends; one receives.
final class Channel: @unchecked Sendable {
    // Sendable: `sending` guards what is sent; what is received belongs to the one thread that does.
    private let descriptor: Int32
    private let sending = Lock(Sending())
    private var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    private var received: [UInt8] = []
    /// A descriptor that came along and was not fetched yet.
    private var passed: Int32 = -1

    private struct Sending {
        /// Whether a thread sends just now.
        var isBusy = false
        var isBroken = false
        /// What is left of a frame of which a part was sent: it goes before anything else.
        var rest: [UInt8] = []
    }

    /// More than this is no frame.
    private static let longest = 64 << 20

    /// Takes over a descriptor.
    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit {
        if passed >= 0 { Glibc.close(passed) }
        Glibc.close(descriptor)
    }

    /// Sends a frame, with a descriptor if need be; waits at most so long while the other side does not read, or while
    /// others send. A frame of which a part was sent in time counts as sent: the rest goes with the next one, or with
    /// `flush`. False: nothing of it was sent. [any]
    func send(_ frame: FrameWriter, passing extra: Int32 = -1, milliseconds: Int32 = 1000) -> Bool {
        let deadline = monotonicSeconds() + Double(milliseconds) / 1000
        guard var rest = begin(deadline) else { return false }
        var isBroken = write(&rest, -1, deadline)
        var isSent = false
        if !isBroken, rest.isEmpty {
            let whole = frame.finished
            rest = whole
            isBroken = write(&rest, extra, deadline)
            isSent = !isBroken && rest.count < whole.count
            // Of a frame that was not begun nothing is owed.
            if !isSent { rest = [] }
        }
        end(rest, isBroken)
        return isSent
    }

    /// Sends what is left of the last frame, as far as the other side takes it now. [any]
    func flush() {
        let deadline = monotonicSeconds()
        guard sending.withLock({ !$0.rest.isEmpty }), var rest = begin(deadline) else { return }
        let isBroken = write(&rest, -1, deadline)
        end(rest, isBroken)
    }

    /// Makes this thread the one that sends; returns what must go first. Nil: not in time, or never again.
    private func begin(_ deadline: Double) -> [UInt8]? {
        sending.wait(until: deadline) { state -> [UInt8]?? in
            if state.isBroken { return .some(nil) }
            if state.isBusy { return nil }
            state.isBusy = true
            defer { state.rest = [] }
            return state.rest
        } ?? nil
    }

    private func end(_ rest: [UInt8], _ isBroken: Bool) {
        sending.withLock { state in
            state.rest = rest
            state.isBroken = isBroken
            state.isBusy = false
        }
        sending.signal()
    }

    /// Takes off `bytes` what was sent in time; true: the other side is gone.
    private func write(_ bytes: inout [UInt8], _ extra: Int32, _ deadline: Double) -> Bool {
        var done = 0
        defer { bytes.removeFirst(done) }
        while done < bytes.count {
            let milliseconds = Int32(clamping: Int(max(0, deadline - monotonicSeconds()) * 1000))
            let count = bytes.withUnsafeBytes {
                // In bounds: `done` is less than the count.
                vg_channel_send(
                    descriptor, $0.baseAddress! + done, bytes.count - done, done == 0 ? extra : -1, milliseconds)
            }
            if count < 0 { return true }
            if count == 0 { return false }
            done += count
        }
        return false
    }

    /// Whether `receive` has something to do within so many milliseconds. [any, one thread]
    func wait(milliseconds: Int32) -> Bool {
        if hasFrame { return true }
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, milliseconds) > 0
    }

    private var hasFrame: Bool {
        guard received.count >= 4 else { return false }
        return received.count >= 4 + Int(received.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) })
    }

    /// The next frame; waits for it. Nil: there will be none. [any, one thread]
    func receive() -> FrameReader? {
        while true {
            if received.count >= 4 {
                let length = Int(received.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) })
                guard length <= Self.longest else { return nil }
                if received.count >= 4 + length {
                    let frame = FrameReader(Array(received[4..<4 + length]))
                    received.removeFirst(4 + length)
                    return frame
                }
            }
            let count = vg_channel_receive(descriptor, &buffer, buffer.count, &passed)
            guard count > 0 else { return nil }
            received += buffer[..<count]
        }
    }

    /// The descriptor that came with the last frames; -1: none. The caller closes it. [any, one thread]
    func takeDescriptor() -> Int32 {
        defer { passed = -1 }
        return passed
    }

    /// Ends `receive` on both sides. [any]
    func shut() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}
