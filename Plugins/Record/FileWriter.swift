// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Moves frames from a pipe to files, one recording after the other, on a thread of its own, and keeps the file readable
/// all the time. Control calls come one after another.
final class FileWriter: @unchecked Sendable {
    // Sendable: `monitor` guards what both threads change; the file's inside belongs to the worker while it runs.
    private let channels: Int
    private let overwrites: Bool
    private let host: NodeHost
    private let monitor = Monitor()
    private var pipe: CapturePipe?
    private var rate = 0.0
    private var worker: Worker?
    /// What is recorded to.
    private var file: TakeFile?
    private var target: RecordTarget?
    private var isWell = true
    /// Clipped samples that were told of.
    private var told = 0
    /// Frames of this recording that found no room.
    private var dropped = 0
    private var ending = false
    /// Raised by `settle`, lowered by the thread when all is saved.
    private var settling = false

    init(channels: Int, overwrites: Bool, host: NodeHost) {
        self.channels = channels
        self.overwrites = overwrites
        self.host = host
    }

    /// What is recorded to; nil: nothing is recorded. [any]
    var path: String? { monitor.locked { file?.path } }

    /// Makes the pipe: ten seconds. A file at another rate is finished, and `resume` begins the next. [control]
    func prepare(rate: Double, maxBlock: Int) -> CapturePipe {
        if let pipe, self.rate == rate, pipe.maxBlock >= maxBlock { return pipe }
        collectDropped()
        if self.rate == rate {
            stopWorker()
        } else if path != nil {
            let next = monitor.locked { target }
            finishIfOpen()
            monitor.locked { target = next }
        }
        let fresh = CapturePipe(
            channels: channels, frames: max(Int(rate * 10), 8 * maxBlock), maxBlock: maxBlock, order: .interleaved)
        fresh.isOpen = path != nil
        monitor.locked {
            pipe = fresh
            self.rate = rate
        }
        return fresh
    }

    /// Goes on with what was recorded when it was prepared anew, or begins with `first`. [control]
    func resume(with first: RecordTarget? = nil) {
        guard let next = monitor.locked({ target }) ?? first, worker == nil else { return }
        do throws(NodeError) {
            if path == nil { try start(next) } else { try startWorker() }
        } catch {
            fail(error.message, next.template)
        }
    }

    /// Begins a recording; throws while there is one, and when there can be none. [control]
    func start(_ target: RecordTarget) throws(NodeError) {
        if let path { throw NodeError("is recording to \(path) already", hint: "finish that first") }
        guard let pipe else { throw NodeError("is not prepared") }
        stopWorker()
        while pipe.take() != nil {}  // what came after the end of the one before
        collectDropped()
        told = 0
        let file = try TakeFile(target, channels: channels, rate: rate, overwrites: overwrites, host: host)
        monitor.locked {
            self.file = file
            self.target = target
            // One that goes on at another rate begins where this one ended.
            self.target?.skip = 0
        }
        dropped = 0
        pipe.isOpen = true
        do throws(NodeError) {
            try startWorker()
        } catch {
            pipe.isOpen = false
            monitor.locked {
                self.file = nil
                self.target = nil
            }
            throw error
        }
        if !isWell { host.health(.ok) }
        isWell = true
        host.publish(
            RecordEvent.started,
            [("path", .string(file.path)), ("rate", .number(rate)), ("channels", .integer(Int64(channels)))])
        tell("recording", file)
    }

    /// Ends the recording, after `frames` if those are still kept back, and completes the file; throws when there is none,
    /// and when the file is not complete. [control]
    func finish(after frames: Int? = nil) throws(NodeError) -> Take {
        pipe?.isOpen = false
        stopWorker()
        collectDropped()
        guard let file = monitor.locked({ self.file }) else { throw NodeError("is not recording", hint: "start first") }
        let fault = file.release(upTo: frames)
        tellClipped(file)
        if let reason = fault ?? file.close() {
            fail(reason, file.path)
            throw NodeError("\(file.path) is not complete: \(reason)")
        }
        monitor.locked {
            self.file = nil
            target = nil
        }
        let take = Take(
            path: file.path, frames: file.frames, seconds: Double(file.frames) / rate, dropped: dropped,
            clipped: file.clipped, peak: file.levels.peak, truePeak: file.levels.truePeak,
            loudness: file.levels.loudness)
        host.publish(RecordEvent.finished, take.fields)
        tell("finished", file)
        return take
    }

    /// Ends the thread, and completes the file if there is one; what goes wrong is told. [control]
    func finishIfOpen() {
        do throws(NodeError) { _ = try finish() } catch {}
    }

    /// Nothing is recorded yet. [control]
    func tellIdle() { tell("idle", nil) }

    /// Returns when everything is on disk and the file's head says so. [control]
    func settle() {
        monitor.locked {
            guard worker != nil else { return }
            settling = true
            monitor.signal()
            while settling, file != nil { monitor.wait() }
        }
    }

    /// Wakes the writer when much waits for it; it looks by itself otherwise. Tells what was lost. [control]
    func poll() {
        collectDropped()
        guard let pipe, pipe.waiting > pipe.capacity / 8 else { return }
        monitor.locked { monitor.signal() }
    }

    /// Offline: returns when `frames` fit into the pipe. [control]
    func wait(frames: Int) {
        guard let pipe, !pipe.hasRoom(for: frames) else { return }
        monitor.locked {
            while file != nil, worker != nil, !pipe.hasRoom(for: frames) {
                monitor.signal()
                monitor.wait()
            }
        }
    }

    /// Tells of samples that were beyond full scale where they became integers. By whoever has the file.
    private func tellClipped(_ file: TakeFile) {
        let fresh = file.clipped - told
        guard fresh > 0 else { return }
        if told == 0 {
            host.log(
                VG_LOG_WARNING,
                "\(file.path) is clipped: what comes is beyond full scale; make it quieter, or record 32-bit .wav")
        }
        told += fresh
        host.count("clipped", fresh)
        host.publish(RecordEvent.clipped, [("samples", .integer(Int64(fresh))), ("total", .integer(Int64(told)))])
    }

    private func collectDropped() {
        guard let lost = pipe?.takeDropped(), lost > 0 else { return }
        dropped += lost
        isWell = false
        host.count("dropped", lost)
        host.publish(RecordEvent.dropped, [("frames", .integer(Int64(lost))), ("total", .integer(Int64(dropped)))])
        host.log(VG_LOG_WARNING, "\(lost) frames were lost: the disk is too slow")
        host.health(.degraded("\(dropped) frames of the recording were lost: the disk is too slow"))
    }

    private func tell(_ state: String, _ file: TakeFile?, reason: String = "") {
        host.publish(
            RecordEvent.state,
            [
                ("state", .string(state)), ("path", .string(file?.path ?? "")),
                ("frames", .integer(Int64(file?.frames ?? 0))), ("dropped", .integer(Int64(dropped))),
                ("reason", .string(reason)),
            ])
    }

    /// The recording is over, because it cannot go on. By whoever has the file.
    private func fail(_ reason: String, _ path: String) {
        let file = monitor.locked {
            pipe?.isOpen = false
            isWell = false
            target = nil
            defer { self.file = nil }
            return self.file
        }
        _ = file?.close()
        host.log(VG_LOG_ERROR, "recording to \(path) ended: \(reason)")
        host.health(.failed("the recording ended: \(reason)"))
        host.publish(
            RecordEvent.failed,
            [("path", .string(path)), ("reason", .string(reason)), ("frames", .integer(Int64(file?.frames ?? 0)))])
        tell("failed", file, reason: reason)
        monitor.signal()
    }

    // MARK: - worker

    private func startWorker() throws(NodeError) {
        guard let pipe, let file = monitor.locked({ self.file }) else { return }
        monitor.locked { ending = false }
        worker = try Worker { [self] in run(pipe, file) }
    }

    /// Returns when the pipe is on disk and the thread has ended. [control]
    private func stopWorker() {
        monitor.locked {
            ending = true
            monitor.signal()
        }
        worker?.join()
        worker = nil
    }

    private func run(_ pipe: CapturePipe, _ file: TakeFile) {
        // What is not on disk for certain, and since when.
        var unsaved = 0
        var saved = vg_nanoseconds()
        while true {
            // Asked before the pipe is read: what was in it when `settle` or `stopWorker` was called is then written
            // once it is empty.
            let (asked, ends) = monitor.locked { (settling, ending) }
            let audio = pipe.take()
            if let audio {
                unsaved += audio.frames
                if let reason = file.write(audio.samples, audio.frames) { return fail(reason, file.path) }
            }
            let isLast = ends && audio == nil
            // Four times a second at least: what a crash can cost.
            let isDue = vg_nanoseconds() &- saved > 200_000_000
            if unsaved > 0, isDue || isLast || (asked && audio == nil) {
                tellClipped(file)
                file.save()
                unsaved = 0
                saved = vg_nanoseconds()
            }
            if isLast { return }
            monitor.locked {
                if audio == nil, asked { settling = false }
                monitor.signal()
                if audio == nil, !ending, !settling { monitor.wait(milliseconds: 50) }
            }
        }
    }
}
