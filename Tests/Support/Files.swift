// SPDX-License-Identifier: Apache-2.0
import CSndfile
import Foundation
import Glibc

/// The root of the package.
public let packageRoot = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path

/// The folder for data of whoever runs the tests, which nothing looks into but what asks for it: models may be installed
/// there. The environment of the tests names another.
public var userData: String { ProcessInfo.processInfo.environment[VG_TEST_USER_DATA] ?? "" }

/// A folder of its own that goes away with the test.
public final class Scratch: Sendable {
    /// Where it is.
    public let path: String

    /// Makes the folder.
    public init() throws {
        path = FileManager.default.temporaryDirectory.path + "/voicegraph-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of a file in the folder.
    public func file(_ name: String) -> String { path + "/" + name }

    /// Writes a text file into the folder and returns its path.
    @discardableResult
    public func write(_ name: String, _ text: String) throws -> String {
        try text.write(toFile: file(name), atomically: true, encoding: .utf8)
        return file(name)
    }
}

/// What a text file holds; empty where there is none. Of a file in /proc, which has no size, `String(contentsOfFile:)` reads
/// one page.
public func contents(_ path: String) -> String {
    guard let file = fopen(path, "re") else { return "" }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        let count = fread(&piece, 1, piece.count, file)
        if count == 0 { return String(decoding: bytes, as: UTF8.self) }
        bytes += piece[..<count]
    }
}

/// A sound file in memory.
public struct SoundFile: Sendable {
    /// Hz.
    public var rate: Int
    /// Per channel, full scale 1.
    public var samples: [[Float]]
    /// libsndfile's name of the format, for example `SF_FORMAT_WAV | SF_FORMAT_FLOAT`.
    public var format = Int(SF_FORMAT_WAV | SF_FORMAT_FLOAT)

    /// Describes a file.
    public init(rate: Int, samples: [[Float]]) {
        self.rate = rate
        self.samples = samples
    }

    /// Reads a file.
    public init(_ path: String) throws {
        var info = SF_INFO()
        let file = try #require(sf_open(path, Int32(SFM_READ), &info), "\(path): \(String(cString: sf_strerror(nil)))")
        defer { sf_close(file) }
        let channels = Int(info.channels)
        rate = Int(info.samplerate)
        format = Int(info.format)
        samples = Array(repeating: [], count: channels)
        var buffer = [Float](repeating: 0, count: 4096 * channels)
        while true {
            let count = Int(sf_readf_float(file, &buffer, 4096))
            if count <= 0 { break }
            for channel in 0..<channels { samples[channel] += (0..<count).map { buffer[$0 * channels + channel] } }
        }
    }

    /// Writes 32-bit float WAV.
    public func write(_ path: String) throws {
        var info = SF_INFO()
        info.samplerate = Int32(rate)
        info.channels = Int32(samples.count)
        info.format = Int32(SF_FORMAT_WAV | SF_FORMAT_FLOAT)
        let file = try #require(sf_open(path, Int32(SFM_WRITE), &info))
        let frames = samples[0].count
        let interleaved = (0..<frames).flatMap { frame in samples.map { $0[frame] } }
        #expect(sf_writef_float(file, interleaved, sf_count_t(frames)) == frames)
        sf_close(file)
    }
}

/// How many bytes a file has.
public func fileSize(_ path: String) throws -> Int {
    var status = stat()
    try #require(stat(path, &status) == 0)
    return Int(status.st_size)
}
