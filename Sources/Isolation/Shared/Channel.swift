// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import Realtime

/// One end of the stream of frames between host and child. Any thread sends; one receives.
final class Channel: @unchecked Sendable {
    // Sendable: `sending` guards what is sent; what is received belongs to the one thread that does.
    private let descriptor: Int32
    private let sending = Monitor()
    private var isBroken = false
    private var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    private var received: [UInt8] = []
    /// A descriptor that came along and was not fetched yet.
    private var passed: Int32 = -1

    /// More than this is no frame.
    private static let longest = 64 << 20

    /// Takes over a descriptor.
    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit {
        if passed >= 0 { Glibc.close(passed) }
        Glibc.close(descriptor)
    }

    /// Sends a frame, with a descriptor if need be; waits at most so long while the other side does not read. False:
    /// it could not be sent; then no later one can be, if a part of this one was. [any]
    func send(_ frame: FrameWriter, passing extra: Int32 = -1, milliseconds: Int32 = 1000) -> Bool {
        let bytes = frame.finished
        return sending.locked {
            guard !isBroken else { return false }
            var done = 0
            while done < bytes.count {
                let count = bytes.withUnsafeBytes {
                    vg_channel_send(
                        descriptor, $0.baseAddress! + done, bytes.count - done, done == 0 ? extra : -1, milliseconds)
                }
                if count <= 0 {
                    isBroken = count < 0 || done > 0
                    return false
                }
                done += count
            }
            return true
        }
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
