// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import Resampling

/// Reads a file ahead of the audio thread, into a pipe.
final class FileReader: @unchecked Sendable {
    // Sendable: `monitor` guards what both threads change, but for the pipe, which has two ends; what is read of the file
    // belongs to the worker while it runs.
    private let file: PlayedFile
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

    /// Plays a file from its first frame on.
    init(_ file: PlayedFile) {
        self.file = file
        anchor.place = file.range.lowerBound
    }

    /// Makes the pipe; a file that was playing goes on where it was. Only while no worker runs. [control]
    func prepare(rate: Double, maxBlock: Int, isOffline: Bool) throws(NodeError) -> PlaybackPipe {
        if let pipe {
            anchor.place += Int64(Double(max(0, pipe.played - anchor.index)) * file.rate / pipe.rate)
        }
        // Where it is not known, as of a stream that was cut off, libsndfile must not look for the end: it finds nothing after.
        let length = min(file.length ?? .max, file.range.upperBound)
        let first = file.range.lowerBound
        if file.loops, length > first { anchor.place = first + (anchor.place - first) % (length - first) }
        anchor = (0, wanted ?? min(anchor.place, max(length, 0)))
        wanted = nil
        _ = file.seek(to: anchor.place, from: anchor.place)
        resampler = try Resampler(
            from: file.rate, to: rate, channels: file.channels, quality: isOffline ? .offline : .live)
        // Offline it is waited for.
        let frames = isOffline ? rate : min(Self.ahead.seconds * rate, Double(Self.ahead.bytes / (4 * file.channels)))
        let fresh = PlaybackPipe(
            channels: file.channels, frames: max(Int(frames), 8 * maxBlock), maxBlock: maxBlock, rate: rate,
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
        let place = seconds.isFinite && abs(seconds) < 1e9 ? Int64((seconds * file.rate).rounded()) : -1
        let last = min(file.range.upperBound, file.length ?? .max)
        guard place >= file.range.lowerBound, place < last else {
            let first = secondsText(Double(file.range.lowerBound) / file.rate)
            throw NodeError(
                "cannot go to \(secondsText(seconds)) s of \(file.path)",
                hint: last == .max
                    ? "it is played from \(first) s on"
                    : "it is played from \(first) to \(secondsText(Double(last) / file.rate)) s",
                key: File.position.name)
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
        if let refusal { throw NodeError("cannot go to \(secondsText(seconds)) s of \(file.path): \(refusal)") }
    }

    /// The first frame of the pipe since the last jump, before which there may be a pause that is none of its own.
    var newest: Int { monitor.locked { anchor.index } }

    /// Fills the pipe until the node ends, or until the file does, and again after a jump. [worker]
    func run() {
        guard let pipe, let resampler else { return }
        var turn = PlayedFile.Turn(place: anchor.place)
        while !monitor.locked({ ending }) {
            if let target = monitor.locked({ wanted }) {
                jump(to: target, &turn, pipe, resampler)
            } else if !turn.isOver {
                let samples = read(&turn, resampler)
                if write(samples, pipe), turn.isOver { finish() }
            } else {
                waitForMore()
            }
        }
    }

    /// The next samples as the pipe takes them.
    private func read(_ turn: inout PlayedFile.Turn, _ resampler: Resampler) -> [Float] {
        let samples = file.read(&turn)
        if let fault = turn.problem { monitor.locked { problem = fault } }
        return resampler.process(samples, end: turn.isOver)
    }

    /// Makes what waits in the pipe stale, and puts what is there behind it.
    private func jump(
        to target: Int64, _ turn: inout PlayedFile.Turn, _ pipe: PlaybackPipe, _ resampler: Resampler
    ) {
        if let reason = file.seek(to: target, from: turn.place) {
            return monitor.locked {
                (wanted, refusal) = (nil, reason)
                monitor.signal()
            }
        }
        resampler.reset()
        turn = PlayedFile.Turn(place: target)
        monitor.locked { problem = nil }
        // What is to be heard at once, before what is heard now falls: there is no pause between them.
        let channels = file.channels
        var samples: [Float] = []
        while samples.count < min(pipe.capacity / 8, PlayedFile.chunk) * channels, !turn.isOver {
            samples += read(&turn, resampler)
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

    /// Writes all of it, when there is room, but a quarter of the pipe stays free; false: something else is to be done
    /// before that.
    private func write(_ samples: [Float], _ pipe: PlaybackPipe) -> Bool {
        var done = 0
        while true {
            let room = min(max(0, pipe.space - pipe.capacity / 4) * file.channels, samples.count - done)
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
