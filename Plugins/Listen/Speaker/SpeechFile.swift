// SPDX-License-Identifier: Apache-2.0
import CSndfile
import Glibc
import NodeKit
import Resampling

/// The sound of a file, as everything that listens takes it: mono at 16 kHz. [worker]
func speech(of path: String, most seconds: Double) throws(NodeError) -> [Float] {
    var facts = stat()
    // A pipe or a device could keep whoever opens it waiting for ever.
    if stat(path, &facts) == 0, facts.st_mode & S_IFMT != S_IFREG {
        throw NodeError("\(path) is not a file", key: "path")
    }
    var info = SF_INFO()
    guard let file = sf_open(path, Int32(SFM_READ), &info) else {
        throw NodeError(
            "cannot read \(path): \(String(cString: sf_strerror(nil)))",
            hint: "give an audio file that libsndfile knows: WAV, FLAC, OGG, MP3, AIFF, ...", key: "path")
    }
    defer { sf_close(file) }
    let (channels, rate) = (Int(info.channels), Double(info.samplerate))
    let resampler = try Resampler(from: rate, to: speechRate, channels: 1, quality: .offline)
    var result: [Float] = []
    var left = Int(seconds * rate)
    var frames = [Float](repeating: 0, count: 4096 * channels)
    while left > 0 {
        let read = Int(sf_readf_float(file, &frames, Int64(min(4096, left))))
        let mono = (0..<max(0, read)).map { frame in
            let sum = frames[frame * channels..<(frame + 1) * channels].reduce(0, +)
            return sum.isFinite ? sum / Float(channels) : 0
        }
        result += mono.withUnsafeBufferPointer { resampler.process($0, end: read < 4096) }
        if read <= 0 { break }
        left -= read
    }
    return result
}
