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
    private let fileChannels: Int
    /// What the head says; 0: nothing that can be relied on.
    private let claimed: Int64
    private let monitor = Monitor()
    private var pipe: PlaybackPipe?
    private var resampler: Resampler?
    /// Frames of the file at which the pipe began.
    private var base: Int64 = 0
    private var ending = false
    private var exhausted = false
    private var problem: String?

    /// Seconds that are read ahead, and the bytes that this may take.
    private static let ahead = (seconds: 10.0, bytes: 64 << 20)

    /// Opens the file and reads its head; `channels` nil: as many as it has. [control]
    init(path: String, loops: Bool, channels wanted: Int?) throws(NodeError) {
        let hint = "give an audio file that libsndfile knows: WAV, FLAC, OGG, MP3, AIFF, ..."
        var facts = stat()
        // A pipe or a device could keep whoever opens it waiting for ever.
        if stat(path, &facts) == 0, facts.st_mode & S_IFMT != S_IFREG {
            throw NodeError("cannot read \(path): it is not a file", hint: hint, key: "path")
        }
        var info = SF_INFO()
        guard let file = sf_open(path, Int32(SFM_READ), &info) else {
            throw NodeError("cannot read \(path): \(String(cString: sf_strerror(nil)))", hint: hint, key: "path")
        }
        self.path = path
        self.loops = loops && info.frames > 0
        self.file = file
        fileChannels = Int(info.channels)
        channels = wanted ?? fileChannels
        fileRate = Double(info.samplerate)
        // The length of compressed formats other than FLAC may be an estimate.
        let isExact = ![SF_FORMAT_OGG, SF_FORMAT_MPEG].contains(Int(info.format) & Int(SF_FORMAT_TYPEMASK))
        claimed = isExact && info.frames < Int64(1) << 48 ? info.frames : 0
    }

    deinit { sf_close(file) }

    /// What becomes of the file's channels where they are not those of the node; nil: they are.
    var mapping: String? {
        guard channels != fileChannels else { return nil }
        if fileChannels == 1 { return "its one channel is played on all \(channels)" }
        if channels == 1 { return "its \(fileChannels) channels are played as their mean" }
        return channels < fileChannels
            ? "of its \(fileChannels) channels the first \(channels) are played"
            : "it has \(fileChannels) channels; the others of \(channels) are silent"
    }

    /// Makes the pipe; a file that was playing goes on where it was. Only while no worker runs. [control]
    func prepare(rate: Double, maxBlock: Int, isOffline: Bool) throws(NodeError) -> PlaybackPipe {
        if let pipe { base += Int64(Double(pipe.played) * fileRate / pipe.rate) }
        let length = sf_seek(file, 0, Int32(SF_SEEK_END))
        if loops, length > 0 { base %= length }
        base = min(base, max(length, 0))
        sf_seek(file, base, Int32(SF_SEEK_SET))
        resampler = try Resampler(from: fileRate, to: rate, channels: channels, isOffline: isOffline)
        // Offline it is waited for.
        let frames = isOffline ? rate : min(Self.ahead.seconds * rate, Double(Self.ahead.bytes / (4 * channels)))
        let fresh = PlaybackPipe(
            channels: channels, frames: max(Int(frames), 8 * maxBlock), maxBlock: maxBlock, rate: rate)
        pipe = fresh
        ending = false
        exhausted = false
        return fresh
    }

    /// Fills the pipe until the file or the node ends. [worker]
    func run() {
        guard let pipe, let resampler else { return }
        let chunk = 4096
        let buffer = UnsafeMutableBufferPointer<Float>.allocate(capacity: chunk * fileChannels)
        let mapped = UnsafeMutableBufferPointer<Float>.allocate(capacity: chunk * channels)
        defer {
            buffer.deallocate()
            mapped.deallocate()
        }
        // Frames of the file so far, in this turn of the loop.
        var place = base
        var last = false
        while !last, !monitor.locked({ ending }) {
            let count = max(0, Int(sf_readf_float(file, buffer.baseAddress, sf_count_t(chunk))))
            place += Int64(count)
            if count < chunk {
                if let fault = fault(at: place) {
                    monitor.locked { problem = fault }
                    last = true
                } else if !loops {
                    last = count == 0
                } else if place == 0 {
                    monitor.locked { problem = "nothing comes from it when it is begun again" }
                    last = true
                } else if sf_seek(file, 0, Int32(SF_SEEK_SET)) == 0 {
                    place = 0
                } else {
                    monitor.locked { problem = "it cannot be begun again: \(String(cString: sf_strerror(file)))" }
                    last = true
                }
            }
            map(buffer, mapped, count)
            let samples = resampler.process(UnsafeBufferPointer(rebasing: mapped[..<(count * channels)]), end: last)
            if !write(samples, pipe) { return }
        }
        monitor.locked {
            exhausted = true
            monitor.signal()
        }
    }

    /// Why no more frames came; nil: it is the end.
    private func fault(at place: Int64) -> String? {
        if sf_error(file) != 0 { return String(cString: sf_strerror(file)) }
        return place < claimed ? "it ends after \(place) of \(claimed) frames" : nil
    }

    /// The channels of the file as those of the node.
    private func map(
        _ input: UnsafeMutableBufferPointer<Float>, _ output: UnsafeMutableBufferPointer<Float>, _ frames: Int
    ) {
        let (from, to) = (fileChannels, channels)
        for frame in 0..<frames {
            if to == 1, from > 1 {
                var sum: Float = 0
                for channel in 0..<from { sum += input[frame * from + channel] }
                output[frame] = sum / Float(from)
            } else {
                for channel in 0..<to {
                    output[frame * to + channel] =
                        from == 1 ? input[frame] : channel < from ? input[frame * from + channel] : 0
                }
            }
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
