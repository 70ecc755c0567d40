// SPDX-License-Identifier: Apache-2.0
import Glibc
import NIOCore

/// A part of a sound file that is being sent. It is closed with this.
final class TakeFile: Sendable {
    /// How many bytes of it are sent, and where they begin.
    let offset: Int
    let length: Int
    /// How long the whole file is.
    let size: Int
    private let descriptor: Int32

    /// Opens a file to send all of it, or what a header Range asks for; nil: it cannot be read.
    init?(_ path: String, range: String?) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            return nil
        }
        size = Int(status.st_size)
        let part = range.flatMap { [size] in Self.part($0, of: size) } ?? 0..<size
        (offset, length) = (part.lowerBound, part.count)
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// So many bytes from a place of the part on; fewer at its end, or where the file has become shorter. [worker]
    func read(_ place: Int, _ count: Int) -> ByteBuffer {
        var buffer = ByteBuffer()
        let wanted = min(count, length - place)
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: wanted) { memory in
            max(0, pread(descriptor, memory.baseAddress, wanted, off_t(offset + place)))
        }
        return buffer
    }

    /// Whether it is less than the whole.
    var isPart: Bool { length < size }

    /// Of `bytes=a-b`, `bytes=a-` or `bytes=-n` (RFC 9110, 14.1.2) what lies in the file; nil: all of it is meant, as of
    /// several ranges.
    static func part(_ range: String, of size: Int) -> Range<Int>? {
        guard range.hasPrefix("bytes="), size > 0 else { return nil }
        let ends = range.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        switch (Int(ends[0]), Int(ends[1])) {
        case (let first?, let last?) where first <= last && first < size && first >= 0:
            return first..<(min(last, size - 1) + 1)
        case (let first?, nil) where ends[1].isEmpty && first < size && first >= 0: return first..<size
        case (nil, let count?) where ends[0].isEmpty && count > 0: return max(0, size - count)..<size
        default: return nil
        }
    }

    /// The type that its name tells.
    static func type(_ path: String) -> String {
        switch path.split(separator: ".").last?.lowercased() {
        case "wav": "audio/wav"
        case "flac": "audio/flac"
        case "ogg", "opus": "audio/ogg"
        default: "application/octet-stream"
        }
    }
}
