// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit

/// What the thread of a recorder does.
extension FileWriter {
    /// Writes what comes, until it is asked to end and everything is written. [worker]
    func run(_ pipe: CapturePipe) {
        // What is not on disk for certain, and since when.
        var isUnsaved = false
        var (saved, synchronized) = (vg_nanoseconds(), vg_nanoseconds())
        while true {
            // Asked before the pipe is read: what was in it when `settle` or `stopWorker` was called is then written
            // once it is empty.
            let (asked, ends, isRecording) = monitor.locked { (settling, ending, file != nil) }
            let audio = pipe.take()
            if let audio {
                if isRecording {
                    isUnsaved = true
                    follow(on: audio)
                    store(audio.samples, audio.frames, at: audio.position, audio.time)
                    tellLevels(audio)
                } else {
                    before.add(audio)
                }
            }
            let isLast = ends && audio == nil
            // So often that a crash costs no more than a quarter of a second, with what an encoder holds back.
            let now = vg_nanoseconds()
            let isDue = now &- saved > 100_000_000
            if let file = monitor.locked({ self.file }) {
                if isUnsaved, isDue || isLast || (asked && audio == nil) {
                    tellClipped(file)
                    if !isOffline || !file.saveShows { file.save() }
                    saved = now
                    // The disk has more to do for that.
                    isUnsaved = !isLast && !asked && now &- synchronized < 200_000_000
                    if !isUnsaved {
                        file.synchronize()
                        synchronized = vg_nanoseconds()
                    }
                }
                // It may have been set just now, and lie in the past.
                if framesToLimit <= 0 { end() }
            }
            lookAtInterruption()
            if isLast || (asked && audio == nil) { subscribers?.flush() }
            if isLast { return }
            monitor.locked {
                if audio == nil, asked { settling = false }
                monitor.signal()
                if audio == nil, !ending, !settling { monitor.wait(milliseconds: 50) }
            }
        }
    }

    /// Writes frames to the file, or to the next one where it is full, and ends the recording at its limit. By whoever has
    /// the file.
    func store(_ samples: UnsafePointer<Float>, _ frames: Int, at position: UInt64, _ time: UInt64) {
        var start = 0
        while start < frames, let file = monitor.locked({ self.file }) {
            // Only now, since more comes: there is no file of nothing at the end.
            if framesToNext <= 0 || isFull(file) {
                change()
                continue
            }
            let count = min(frames - start, framesToLimit, framesToNext, tenth - active % tenth)
            if count > 0 {
                subscribers?.at(
                    position + UInt64(start), time == 0 ? 0 : time + UInt64(Double(start) / rate * 1e9), rate: rate)
                if let reason = file.write(samples + start * channels, count) { return fail(reason, file.path) }
                active += count
                start += count
            }
            if isOffline, file.saveShows, active % tenth == 0 { file.save() }
            if framesToLimit <= 0 { end() }
        }
    }

    /// Whether the file is as large as it may be. It is looked at after each tenth of a second of audio, so that what is
    /// rendered is divided in the same way each time.
    private func isFull(_ file: TakeFile) -> Bool {
        guard let largest = options.largest, active % tenth == 0, seconds > began else { return false }
        return file.size >= largest
    }

    /// Frames of a tenth of a second of audio.
    private var tenth: Int { max(1, Int(rate / 10)) }

    /// Frames that the recording may still have.
    private var framesToLimit: Int { frames(until: monitor.locked { limit }) }
    /// Frames that the file may still have.
    private var framesToNext: Int { frames(until: options.longest.map { began + $0 }) }

    private func frames(until seconds: Double?) -> Int {
        guard let seconds else { return .max }
        return Int(saturating: min((seconds - earlier) * rate, 1e18).rounded()) - active
    }

    /// The recording is as long as it may be.
    private func end() {
        host.publish(RecordEvent.limit, [("seconds", .number(seconds))])
        monitor.locked { pipe?.isOpen = before.length > 0 }
        do throws(NodeError) { try complete() } catch {}
    }

    /// Completes the file and goes on with the next.
    private func change() {
        guard let target = monitor.locked({ target }) else { return }
        do throws(NodeError) {
            try complete(isLast: false)
            try begin(target)
        } catch {
            fail(error.message, target.template)
        }
    }

    private func tellLevels(_ audio: CapturePipe.Audio) {
        let fresh = history.add(audio.samples, audio.frames)
        let position = audio.position + UInt64(audio.frames)
        if !fresh.isEmpty { shown.withLock { $0 = (history.values, seconds) } }
        guard !fresh.isEmpty, let file = monitor.locked({ file }) else { return }
        for level in fresh { host.publish([[level], [Float(seconds)]], at: position) }
        // Whoever comes later gets what is now; who is there has the series.
        host.publish(RecordEvent.levels, levels, at: position, silently: !history.isDue())
        let (told, state, reason) = monitor.locked { (standing.told, standing.state, standing.reason ?? "") }
        // Where it has just changed, who changes it tells it.
        if told == state { tell(state, file, reason: reason, silently: true) }
    }
}

/// The newest frames, for a recording that begins later. By one thread at a time.
struct Preroll {
    /// Frames that it keeps at most.
    let length: Int
    private let channels: Int
    private var samples: [Float] = []
    /// The frame of the graph after the newest.
    private var end: UInt64 = 0

    init(frames: Int, channels: Int) {
        length = frames
        self.channels = channels
    }

    /// Takes what follows. [worker]
    mutating func add(_ audio: CapturePipe.Audio) {
        if length == 0 { return }
        samples += UnsafeBufferPointer(start: audio.samples, count: audio.frames * channels)
        end = audio.position + UInt64(audio.frames)
        // Now and then, so that each sample is moved once.
        if samples.count > 2 * length * channels { samples.removeFirst(samples.count - length * channels) }
    }

    /// Gives the newest frames, interleaved, with the position of the first, and forgets them. [control]
    mutating func take() -> (samples: [Float], position: UInt64) {
        defer { samples = [] }
        let newest = Array(samples.suffix(length * channels))
        return (newest, end - min(end, UInt64(newest.count / channels)))
    }
}

/// The levels of the newest ten seconds of audio, of each tenth of a second: 20 log10(max(rms, 1e-6)), all channels
/// together. By one thread at a time.
struct LevelHistory {
    /// In dB, oldest first.
    private(set) var values: [Float] = []
    private let channels: Int
    private let length: Int
    private var square = 0.0
    private var frames = 0
    private var untold = 0
    private static let most = 100

    init(channels: Int, rate: Double) {
        self.channels = channels
        length = max(1, Int(rate / 10))
    }

    /// Takes interleaved frames; the levels that are new. [worker]
    mutating func add(_ samples: UnsafePointer<Float>, _ count: Int) -> [Float] {
        var fresh: [Float] = []
        var done = 0
        while done < count {
            let part = min(count - done, length - frames)
            square += squares(samples + done * channels, part * channels)
            done += part
            frames += part
            if frames < length { break }
            fresh.append(Float(10 * log10(max(square / Double(length * channels), 1e-12))))
            (square, frames) = (0, 0)
        }
        values = Array((values + fresh).suffix(Self.most))
        untold += fresh.count
        return fresh
    }

    /// The sum of squares of what is a number. [worker]
    private func squares(_ samples: UnsafePointer<Float>, _ count: Int) -> Double {
        let sum = DSP.measure(samples, frames: count).sumOfSquares
        if sum.isFinite { return Double(sum) }
        return (0..<count).reduce(0) { sum, index in
            let sample = Double(samples[index])
            return sample.isFinite ? sum + sample * sample : sum
        }
    }

    /// Whether a second has passed since this said so last. [worker]
    mutating func isDue() -> Bool {
        if untold < 10 { return false }
        untold = 0
        return true
    }
}
