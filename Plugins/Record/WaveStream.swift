// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit

/// A WAV that is written from its first byte to its last, as a pipe wants it: libsndfile goes back to a head when it ends.
/// A pipe gets the first 64 MiB at once, when they are there or the sound has ended, so that the head of most tells the
/// length, and nothing has to guess the format from half a head. Of more than that the head says that the length is not
/// known, as streaming writers do. In an ordinary file the length is filled in at the end, beyond 4 GiB as RF64 (EBU Tech
/// 3306). The descriptor stays open.
final class WaveStream: SampleSink {
    private let descriptor: Int32
    /// Of an integer; nil: floats.
    private let bits: Int?
    private let channels: Int
    /// Where in its file it begins; nil: there is no going back.
    private let start: off_t?
    private let headSize: Int
    /// Where the length of the sound stands in the head.
    private var lengthPlace: Int { headSize - 4 }
    private(set) var size = 0
    private(set) var fault = ""
    private var bytes: [UInt8] = []
    /// Whether nothing was written yet, because the sound may end soon.
    private var waits: Bool

    /// What stands for a length that is not known.
    private static let unknown = UInt32.max
    /// Bytes that wait for the end.
    private static let longestWait = 64 << 20

    /// Begins with the head. `bits` nil: floats. [control]
    init(_ descriptor: Int32, bits: Int?, channels: Int, rate: Double) throws(NodeError) {
        self.descriptor = descriptor
        self.bits = bits
        self.channels = channels
        var facts = stat()
        let isFile = fstat(descriptor, &facts) == 0 && facts.st_mode & S_IFMT == S_IFREG
        // With O_APPEND everything goes to the end, wherever it is meant to go.
        let isAppended = fcntl(descriptor, F_GETFL) & O_APPEND != 0
        start = isFile && !isAppended ? lseek(descriptor, 0, SEEK_CUR) : nil
        let head = Self.head(bits: bits, channels: channels, rate: rate, isFile: start != nil)
        headSize = head.count
        bytes = head
        waits = start == nil
        if !put() { throw NodeError(fault) }
    }

    /// RIFF, fmt and the head of data (Microsoft, "Multiple Channel Audio Data and WAVE Files", 2001).
    private static func head(bits: Int?, channels: Int, rate: Double, isFile: Bool) -> [UInt8] {
        // What is no more than the oldest readers know is told as they know it: some stumble over the longer form of floats.
        let isPlain = channels <= 2 && (bits == 16 || bits == nil)
        let width = (bits ?? 32) / 8
        var head = Array("RIFF".utf8) + little(unknown) + Array("WAVE".utf8)
        // Room for the sizes of 64 bits.
        if isFile { head += Array("JUNK".utf8) + little(UInt32(28)) + [UInt8](repeating: 0, count: 28) }
        head += Array("fmt ".utf8) + little(UInt32(isPlain ? bits == nil ? 18 : 16 : 40))
        head += little(UInt16(isPlain ? bits == nil ? 3 : 1 : 0xFFFE)) + little(UInt16(channels)) + little(UInt32(rate))
        head += little(UInt32(rate) * UInt32(channels * width)) + little(UInt16(channels * width))
        head += little(UInt16(width * 8))
        if isPlain, bits == nil { head += little(UInt16(0)) }
        if !isPlain {
            // The usual places of loudspeakers, as libsndfile tells them.
            let places: [Int: UInt32] = [1: 0x4, 2: 0x3, 4: 0x33, 6: 0x3F, 8: 0xFF]
            head += little(UInt16(22)) + little(UInt16(width * 8)) + little(places[channels] ?? 0)
            head += little(UInt16(bits == nil ? 3 : 1))
            head += [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71]
        }
        return head + Array("data".utf8) + little(unknown)
    }

    func write(_ samples: UnsafePointer<Float>, _ frames: Int) -> Int {
        // All machines that this runs on have the byte order of WAV.
        bytes += UnsafeRawBufferPointer(start: samples, count: frames * channels * MemoryLayout<Float>.size)
        return put() ? frames : 0
    }

    func write(_ integers: [Int32], _ frames: Int) -> Int {
        let unused = (32 - (bits ?? 32)) / 8
        bytes.reserveCapacity(integers.count * (4 - unused))
        for value in integers {
            for place in unused..<4 { bytes.append(UInt8(truncatingIfNeeded: value >> Int32(8 * place))) }
        }
        return put() ? frames : 0
    }

    /// Nothing waits here, and whoever has opened the file is to say when it is to be on a disk.
    func save() {}
    func synchronize() {}

    func close() -> String? {
        if waits { return closeWaiting() }
        let data = size - headSize
        guard let start, fault.isEmpty, data >= 0 else { return nil }
        // A chunk of an odd length has a byte behind it.
        bytes = data % 2 == 0 ? [] : [0]
        if !put() { return fault }
        let isWhole: Bool
        if size < Int(Self.unknown) {
            isWhole =
                fill(Self.little(UInt32(size - 8)), at: start + 4)
                && fill(Self.little(UInt32(data)), at: start + off_t(lengthPlace))
        } else {
            let sizes = Self.little(UInt64(size - 8)) + Self.little(UInt64(data)) + Self.little(UInt64(0))
            isWhole =
                fill(Array("ds64".utf8) + Self.little(UInt32(28)) + sizes + Self.little(UInt32(0)), at: start + 12)
                && fill(Array("RF64".utf8), at: start)
        }
        return isWhole ? nil : String(cString: strerror(errno))
    }

    /// Writes all that there is, with a head that says how long it is.
    private func closeWaiting() -> String? {
        waits = false
        let data = bytes.count - headSize
        bytes.replaceSubrange(lengthPlace..<headSize, with: Self.little(UInt32(data)))
        if data % 2 != 0 { bytes.append(0) }
        bytes.replaceSubrange(4..<8, with: Self.little(UInt32(bytes.count - 8)))
        return put() ? nil : fault
    }

    private func fill(_ number: [UInt8], at place: off_t) -> Bool {
        pwrite(descriptor, number, number.count, place) == number.count
    }

    /// Writes what waits, and waits for a reader that is slow; false: `fault` says why that cannot be.
    private func put() -> Bool {
        if waits, bytes.count < Self.longestWait { return true }
        waits = false
        defer { bytes.removeAll(keepingCapacity: true) }
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress! + done, $0.count - done) }
            if count > 0 {
                done += count
            } else if count < 0, errno == EAGAIN {
                var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&entry, 1, -1)
            } else if count == 0 || errno != EINTR {
                fault = errno == EPIPE ? "its reader has gone away" : String(cString: strerror(errno))
                return false
            }
        }
        size += done
        return true
    }

    private static func little<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }
}
