// SPDX-License-Identifier: Apache-2.0
import CSndfile
import Glibc
import NodeKit
import Resampling

/// What is played of a file.
struct FilePart {
    /// Seconds of the file; `end` nil: its end.
    var start = 0.0
    var end: Double?
    /// Whether it begins again at the end.
    var loops = false
}

/// Reads a file ahead of the audio thread, into a pipe.
final class FileReader: @unchecked Sendable {
    // Sendable: `monitor` guards what both threads change, but for the pipe, which has two ends; the file belongs to the
    // worker while it runs.
    let path: String
    let loops: Bool
    let channels: Int

    private let file: OpaquePointer
    /// What `file` reads; nil: libsndfile reads the file by itself.
    private let streamed: StreamedWave?
    private let fileRate: Double
    private let fileChannels: Int
    /// Frames of the file as its head says, which may be an estimate; nil: it does not say.
    private let length: Int64?
    /// The same; 0: nothing that can be relied on.
    private let claimed: Int64
    /// Frames of the file that are played: from the first, and up to the one after the last.
    private let range: Range<Int64>
    private let monitor = Monitor()
    private var pipe: PlaybackPipe?
    private var resampler: Resampler?
    /// What is at a place of the pipe, since the pipe began or something else was sought.
    private var anchor = (index: 0, place: Int64(0))
    /// Where to go on, as long as the worker has not gone there.
    private var wanted: Int64?
    /// Why it could not go there.
    private var refusal: String?
    private var isOffline = false
    private var ending = false
    private var exhausted = false
    private var problem: String?

    /// Seconds that are read ahead, and the bytes that this may take.
    private static let ahead = (seconds: 10.0, bytes: 64 << 20)
    /// Seconds in which the sound before a jump falls, and the one behind it rises.
    private static let fade = 0.01
    /// Frames that are read at once.
    private static let chunk = 4096

    /// Opens the file and reads its head; `channels` nil: as many as it has. [control]
    init(path: String, part: FilePart, channels wanted: Int?) throws(NodeError) {
        let hint = "give an audio file that libsndfile knows: WAV, FLAC, OGG, MP3, AIFF, ..."
        var facts = stat()
        // A pipe or a device could keep whoever opens it waiting for ever.
        if stat(path, &facts) == 0, facts.st_mode & S_IFMT != S_IFREG {
            throw NodeError("cannot read \(path): it is not a file", hint: hint, key: "path")
        }
        var info = SF_INFO()
        let head = SoundHead(path: path)
        let isStreamed = head.map { $0.format == .riff && $0.claimed == nil } ?? false
        streamed = isStreamed ? head.flatMap { StreamedWave(path: path, head: $0) } : nil
        guard let file = streamed.map({ $0.open(&info) }) ?? sf_open(path, Int32(SFM_READ), &info) else {
            throw NodeError("cannot read \(path): \(String(cString: sf_strerror(nil)))", hint: hint, key: "path")
        }
        let rate = Double(info.samplerate)
        length = info.frames > 0 && info.frames < Int64(1) << 48 ? info.frames : nil
        do throws(NodeError) { range = try part.frames(of: path, rate, length: length) } catch {
            sf_close(file)
            throw error
        }
        self.path = path
        loops = part.loops && info.frames > 0
        self.file = file
        fileChannels = Int(info.channels)
        channels = wanted ?? fileChannels
        fileRate = rate
        // The length of compressed formats other than FLAC may be an estimate.
        let isExact = ![SF_FORMAT_OGG, SF_FORMAT_MPEG].contains(Int(info.format) & Int(SF_FORMAT_TYPEMASK))
        claimed = isExact ? head?.frames(of: length ?? 0, channels: info.channels) ?? length ?? 0 : 0
        anchor.place = range.lowerBound
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

    /// That less is played than was asked for; nil: it is not.
    var shortage: String? {
        guard claimed > 0, range.upperBound < .max, range.upperBound > claimed else { return nil }
        let (end, length) = (Double(range.upperBound) / fileRate, Double(claimed) / fileRate)
        return "end = \(text(end)) s is behind its end; it is \(text(length)) s long"
    }

    /// Makes the pipe; a file that was playing goes on where it was. Only while no worker runs. [control]
    func prepare(rate: Double, maxBlock: Int, isOffline: Bool) throws(NodeError) -> PlaybackPipe {
        if let pipe {
            anchor.place += Int64(Double(max(0, pipe.played - anchor.index)) * fileRate / pipe.rate)
        }
        // Where it is not known, as of a stream that was cut off, libsndfile must not look for the end: it finds nothing after.
        let length = min(length ?? .max, range.upperBound)
        let first = range.lowerBound
        if loops, length > first { anchor.place = first + (anchor.place - first) % (length - first) }
        anchor = (0, wanted ?? min(anchor.place, max(length, 0)))
        wanted = nil
        sf_seek(file, anchor.place, Int32(SF_SEEK_SET))
        resampler = try Resampler(from: fileRate, to: rate, channels: channels, isOffline: isOffline)
        // Offline it is waited for.
        let frames = isOffline ? rate : min(Self.ahead.seconds * rate, Double(Self.ahead.bytes / (4 * channels)))
        let fresh = PlaybackPipe(
            channels: channels, frames: max(Int(frames), 8 * maxBlock), maxBlock: maxBlock, rate: rate,
            fade: Self.fade)
        pipe = fresh
        fresh.setExpectsMore(true)
        self.isOffline = isOffline
        ending = false
        exhausted = false
        return fresh
    }

    /// Goes on at `seconds` of the file, when it is prepared or at once: what is heard falls, and what is there rises.
    /// Returns when it can be played. [control]
    func seek(to seconds: Double) throws(NodeError) {
        let place = seconds.isFinite && abs(seconds) < 1e9 ? Int64((seconds * fileRate).rounded()) : -1
        let last = min(range.upperBound, length ?? .max)
        guard place >= range.lowerBound, place < last else {
            let first = text(Double(range.lowerBound) / fileRate)
            throw NodeError(
                "cannot go to \(text(seconds)) s of \(path)",
                hint: last == .max
                    ? "it is played from \(first) s on"
                    : "it is played from \(first) to \(text(Double(last) / fileRate)) s",
                key: "position")
        }
        // Offline what falls is waited for, as what is played is: how far the worker is must not be heard.
        if isOffline, let pipe { wait(frames: pipe.player.fadeFrames) }
        let refusal = monitor.locked { () -> String? in
            if pipe == nil {
                anchor.place = place
                return nil
            }
            (wanted, self.refusal) = (place, nil)
            monitor.signal()
            while wanted != nil, !ending { monitor.wait() }
            return self.refusal
        }
        if let refusal { throw NodeError("cannot go to \(text(seconds)) s of \(path): \(refusal)") }
    }

    /// The first frame of the pipe since the last jump, before which there may be a pause that is none of its own.
    var newest: Int { monitor.locked { anchor.index } }

    /// Fills the pipe until the node ends, or until the file does, and again after a jump. [worker]
    func run() {
        guard let pipe, let resampler else { return }
        let buffer = UnsafeMutableBufferPointer<Float>.allocate(capacity: Self.chunk * fileChannels)
        let mapped = UnsafeMutableBufferPointer<Float>.allocate(capacity: Self.chunk * channels)
        defer {
            buffer.deallocate()
            mapped.deallocate()
        }
        var turn = Turn(place: anchor.place)
        while !monitor.locked({ ending }) {
            if let target = monitor.locked({ wanted }) {
                jump(to: target, &turn, pipe, resampler, buffer, mapped)
            } else if !turn.isOver {
                let samples = read(&turn, resampler, buffer, mapped)
                if write(samples, pipe), turn.isOver { finish() }
            } else {
                waitForMore()
            }
        }
    }

    /// Where the worker is.
    private struct Turn {
        /// Frames of the file so far, in this turn of the loop.
        var place: Int64
        /// Whether no more comes.
        var isOver = false
        /// Frames of the file since the last jump, or in this turn of the loop.
        var read: Int64 = 0
    }

    /// The next samples as the node gives them.
    private func read(
        _ turn: inout Turn, _ resampler: Resampler, _ buffer: UnsafeMutableBufferPointer<Float>,
        _ mapped: UnsafeMutableBufferPointer<Float>
    ) -> [Float] {
        let asked = Int(min(Int64(Self.chunk), max(0, range.upperBound - turn.place)))
        let count = asked == 0 ? 0 : max(0, Int(sf_readf_float(file, buffer.baseAddress, sf_count_t(asked))))
        turn.place += Int64(count)
        turn.read += Int64(count)
        if count < Self.chunk {
            if let fault = fault(at: turn.place) {
                give(problem: fault)
                turn.isOver = true
            } else if !loops {
                turn.isOver = count == 0 || turn.place >= range.upperBound
            } else if turn.read == 0 {
                give(problem: "nothing comes from it when it is begun again")
                turn.isOver = true
            } else if sf_seek(file, range.lowerBound, Int32(SF_SEEK_SET)) >= 0 {
                (turn.place, turn.read) = (range.lowerBound, 0)
            } else {
                give(problem: "it cannot be begun again: \(String(cString: sf_strerror(file)))")
                turn.isOver = true
            }
        }
        map(buffer, mapped, count)
        return resampler.process(UnsafeBufferPointer(rebasing: mapped[..<(count * channels)]), end: turn.isOver)
    }

    /// Makes what waits in the pipe stale, and puts what is there behind it.
    private func jump(
        to target: Int64, _ turn: inout Turn, _ pipe: PlaybackPipe, _ resampler: Resampler,
        _ buffer: UnsafeMutableBufferPointer<Float>, _ mapped: UnsafeMutableBufferPointer<Float>
    ) {
        guard sf_seek(file, target, Int32(SF_SEEK_SET)) == target else {
            let reason = String(cString: sf_strerror(file))
            sf_seek(file, turn.place, Int32(SF_SEEK_SET))
            return monitor.locked {
                (wanted, refusal) = (nil, reason)
                monitor.signal()
            }
        }
        resampler.reset()
        turn = Turn(place: target)
        monitor.locked { problem = nil }
        // What is to be heard at once, before what is heard now falls: there is no pause between them.
        var samples: [Float] = []
        while samples.count < min(pipe.capacity / 8, Self.chunk) * channels, !turn.isOver {
            samples += read(&turn, resampler, buffer, mapped)
        }
        let fade = min(samples.count / channels, Int(pipe.rate * Self.fade))
        for frame in 0..<fade {
            let gain = Float(0.5 - 0.5 * cos(.pi * Double(frame + 1) / Double(fade + 1)))
            for channel in 0..<channels { samples[frame * channels + channel] *= gain }
        }
        monitor.locked {
            anchor = (pipe.written, target)
            exhausted = false
        }
        pipe.setStale(before: pipe.written)
        pipe.setExpectsMore(true)
        // Nobody plays now, and what is played next is waited for.
        if isOffline { pipe.player.dropStale() }
        // There is room: `write` keeps some free for this.
        let done = samples.withUnsafeBufferPointer { pipe.write($0) }
        monitor.locked {
            if wanted == target { wanted = nil }
            monitor.signal()
        }
        if write(Array(samples[done...]), pipe), turn.isOver { finish() }
    }

    private func give(problem fault: String) { monitor.locked { problem = fault } }

    private func finish() {
        pipe?.setExpectsMore(false)
        monitor.locked {
            exhausted = true
            monitor.signal()
        }
    }

    /// Waits for a jump, or the end of the node.
    private func waitForMore() {
        monitor.locked { while !ending, wanted == nil { monitor.wait(milliseconds: 3_600_000) } }
    }

    /// Why no more frames came; nil: it is the end.
    private func fault(at place: Int64) -> String? {
        if sf_error(file) != 0 { return String(cString: sf_strerror(file)) }
        return place < min(claimed, range.upperBound) ? "it ends after \(place) of \(claimed) frames" : nil
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

    /// Writes all of it, when there is room, but a quarter of the pipe stays free; false: something else is to be done
    /// before that.
    private func write(_ samples: [Float], _ pipe: PlaybackPipe) -> Bool {
        var done = 0
        while true {
            let room = min(max(0, pipe.space - pipe.capacity / 4) * channels, samples.count - done)
            done += samples.withUnsafeBufferPointer {
                pipe.write(UnsafeBufferPointer(rebasing: $0[done..<done + room]))
            }
            let goesOn = monitor.locked {
                monitor.signal()
                if !ending, wanted == nil, done < samples.count { monitor.wait(milliseconds: 50) }
                return !ending && wanted == nil
            }
            if done == samples.count { return true }
            if !goesOn { return false }
        }
    }

    /// Wakes the worker when there is much room; it looks by itself otherwise. [control]
    func poll() {
        guard let pipe, pipe.waiting < pipe.capacity / 2 else { return }
        monitor.locked { monitor.signal() }
    }

    /// Offline: returns when `frames` can be played, or all that is left. [control]
    func wait(frames: Int) {
        guard let pipe else { return }
        monitor.locked {
            while !ending, !exhausted, fresh(pipe) < frames {
                monitor.signal()
                monitor.wait()
            }
        }
    }

    /// Frames that wait and are not stale.
    private func fresh(_ pipe: PlaybackPipe) -> Int { min(pipe.waiting, pipe.written - anchor.index) }

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
            pipe?.setExpectsMore(false)
            monitor.signal()
        }
    }
}

extension SoundHead {
    /// Frames that a file was to have of which `there` are there; nil: as many, or it does not say. [control]
    fileprivate func frames(of there: Int64, channels: Int32) -> Int64? {
        guard let claimed, claimed > available, there > 0, available > 0 else { return nil }
        // The last frame of what is there may be cut, too. Of compressed formats a frame is less than a byte.
        let size = available / there
        return size > 0 ? claimed / size : Int64((Double(there) * Double(claimed) / Double(available)).rounded())
    }
}

extension FilePart {
    /// The frames of the file that are played. Throws where there are none; `length` nil: it is not known. [control]
    fileprivate func frames(of path: String, _ rate: Double, length: Int64?) throws(NodeError) -> Range<Int64> {
        let known = length.map { "; it is \(text(Double($0) / rate)) s long" } ?? ""
        let first = Int64((start * rate).rounded())
        if let length, first > 0, first >= length {
            throw NodeError(
                "start = \(text(start)) s is not before the end of \(path)\(known)", hint: "let it start earlier",
                key: "start")
        }
        guard let end else { return first..<Int64.max }
        let last = Int64((end * rate).rounded())
        guard last > first else {
            throw NodeError(
                "nothing of \(path) is from start = \(text(start)) s to end = \(text(end)) s\(known)",
                hint: "let it end later than it starts", key: "end")
        }
        return first..<last
    }
}

/// Seconds as a person writes them: to the millisecond.
private func text(_ seconds: Double) -> String {
    let rounded = (seconds * 1000).rounded() / 1000
    return rounded == rounded.rounded() && abs(rounded) < 1e15 ? "\(Int(rounded))" : "\(rounded)"
}
