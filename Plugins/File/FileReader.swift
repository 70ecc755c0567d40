// SPDX-License-Identifier: Apache-2.0
import CSndfile
import Glibc
import NodeKit
import Resampling

/// Reads a file ahead of the audio thread, into a pipe.
final class FileReader: @unchecked Sendable {
    // Sendable: `monitor` guards what both threads change, but for the pipe, which has two ends; the file belongs to the
    // worker while it runs.
    let path: String
    let loops: Bool
    let channels: Int

    private let file: OpaquePointer
    private let fileRate: Double
    private let monitor = Monitor()
    private var pipe: PlaybackPipe?
    private var resampler: Resampler?
    /// Frames of the file at which the pipe began.
    private var base: Int64 = 0
    private var ending = false
    private var exhausted = false
    private var problem: String?

    /// Opens the file and reads its head. [control]
    init(path: String, loops: Bool) throws(NodeError) {
        var info = SF_INFO()
        guard let file = sf_open(path, Int32(SFM_READ), &info) else {
            throw NodeError(
                "cannot read \(path): \(String(cString: sf_strerror(nil)))",
                hint: "give an audio file that libsndfile knows: WAV, FLAC, OGG, MP3, AIFF, ...", key: "path")
        }
        self.path = path
        self.loops = loops && info.frames > 0
        self.file = file
        channels = Int(info.channels)
        fileRate = Double(info.samplerate)
    }

    deinit { sf_close(file) }

    /// Makes the pipe; a file that was playing goes on where it was. Only while no worker runs. [control]
    func prepare(rate: Double, maxBlock: Int) throws(NodeError) -> PlaybackPipe {
        if let pipe { base += Int64(Double(pipe.played) * fileRate / pipe.rate) }
        let length = sf_seek(file, 0, Int32(SF_SEEK_END))
        if loops, length > 0 { base %= length }
        sf_seek(file, min(base, max(length, 0)), Int32(SF_SEEK_SET))
        resampler = try Resampler(from: fileRate, to: rate, channels: channels)
        let fresh = PlaybackPipe(
            channels: channels, frames: max(Int(rate), 8 * maxBlock), maxBlock: maxBlock, rate: rate)
        pipe = fresh
        ending = false
        exhausted = false
        return fresh
    }

    /// Fills the pipe until the file or the node ends. [worker]
    func run() {
        guard let pipe, let resampler else { return }
        let chunk = 4096
        let buffer = UnsafeMutableBufferPointer<Float>.allocate(capacity: chunk * channels)
        defer { buffer.deallocate() }
        var last = false
        while !last {
            var count = Int(sf_readf_float(file, buffer.baseAddress, sf_count_t(chunk)))
            if count < chunk, sf_error(file) != 0 {
                monitor.locked { problem = String(cString: sf_strerror(file)) }
                last = true
            } else if count == 0 {
                if loops, sf_seek(file, 0, Int32(SF_SEEK_SET)) == 0 { continue }
                last = true
            }
            count = max(count, 0)
            let samples = resampler.process(UnsafeBufferPointer(rebasing: buffer[..<(count * channels)]), end: last)
            if !write(samples, pipe) { return }
        }
        monitor.locked {
            exhausted = true
            monitor.signal()
        }
    }

    private func write(_ samples: [Float], _ pipe: PlaybackPipe) -> Bool {
        var done = 0
        while true {
            done += samples.withUnsafeBufferPointer { pipe.write(UnsafeBufferPointer(rebasing: $0[done...])) }
            let goesOn = monitor.locked {
                monitor.signal()
                if !ending, done < samples.count, pipe.space == 0 { monitor.wait(milliseconds: 50) }
                return !ending
            }
            if !goesOn { return false }
            if done == samples.count { return true }
        }
    }

    /// Wakes the worker when there is much room; it looks by itself otherwise. [control]
    func poll() {
        guard let pipe, pipe.waiting < pipe.capacity / 2 else { return }
        monitor.locked { monitor.signal() }
    }

    /// Offline: returns when `frames` can be played, or all that is left. [control]
    func wait(frames: Int) {
        guard let pipe, pipe.waiting < frames else { return }
        monitor.locked {
            while !ending, !exhausted, pipe.waiting < frames {
                monitor.signal()
                monitor.wait()
            }
        }
    }

    /// Whether everything was played. [control]
    var isFinished: Bool { monitor.locked { exhausted && pipe?.waiting == 0 } }

    /// What went wrong since the last call. [control]
    func takeProblem() -> String? {
        monitor.locked {
            defer { problem = nil }
            return problem
        }
    }

    /// Ends the worker. [control]
    func end() {
        monitor.locked {
            ending = true
            monitor.signal()
        }
    }
}
