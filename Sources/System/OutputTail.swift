// SPDX-License-Identifier: Apache-2.0

/// The end of what a program printed, at most `limit` bytes of it: often the only reason there is for its end.
public struct OutputTail: Sendable {
    private let limit: Int
    private var bytes: [UInt8] = []

    /// Nothing was printed yet.
    public init(limit: Int = 8192) { self.limit = limit }

    /// Adds what was printed since.
    public mutating func append(_ more: ArraySlice<UInt8>) {
        bytes += more
        if bytes.count > limit { bytes.removeFirst(bytes.count - limit) }
    }

    /// Its lines without the empty ones, the newest twelve.
    public var lines: [String] {
        bytes.split(separator: UInt8(ascii: "\n")).suffix(12).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The last line with something in it, at most 200 characters; empty: there is none.
    public var lastLine: String {
        let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
        var line = lines.last { !$0.allSatisfy(\.isWhitespace) } ?? ""
        line = line.drop(while: \.isWhitespace)
        while line.last?.isWhitespace == true { line.removeLast() }
        return String(line.prefix(200))
    }
}
