// SPDX-License-Identifier: Apache-2.0
import Glibc

/// One file's text, with places by byte offset. What stands in a file keeps the text of it, so that what is wrong can be
/// shown as it was read, whatever has become of the file.
public final class SourceText: Sendable {
    /// The file as the user named it.
    public let file: String
    /// All of it.
    public let bytes: [UInt8]
    /// The number of its first line.
    private let first: Int
    private let lineStarts: [Int]

    /// Holds a file's text, or a part of it that begins with line number `first`.
    public init(file: String, bytes: [UInt8], first: Int = 1) {
        self.file = file
        self.bytes = bytes
        self.first = first
        var starts = [0]
        bytes.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress else { return }
            while let end = memchr(base + starts[starts.count - 1], 10, buffer.count - starts[starts.count - 1]) {
                starts.append(UnsafeRawPointer(end) - base + 1)
            }
        }
        lineStarts = starts
    }

    /// How many lines there are; a last empty one counts.
    package var lineCount: Int { lineStarts.count }

    /// The bytes of a line, counted from 1, without its end.
    package func line(_ number: Int) -> ArraySlice<UInt8> {
        let index = number - first
        guard lineStarts.indices.contains(index) else { return [] }
        var end = index + 1 < lineStarts.count ? lineStarts[index + 1] - 1 : bytes.count
        if end > lineStarts[index], bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
        return bytes[lineStarts[index]..<end]
    }

    /// The place of a range of bytes; the caret stays in the first line of it.
    package func location(_ range: Range<Int>) -> SourceLocation {
        var low = 0
        var high = lineStarts.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if lineStarts[middle] <= range.lowerBound { low = middle } else { high = middle }
        }
        let end = min(range.upperBound, max(range.lowerBound, line(low + first).endIndex))
        return SourceLocation(
            self, line: low + first, column: range.lowerBound - lineStarts[low] + 1,
            length: max(1, end - range.lowerBound))
    }
}
