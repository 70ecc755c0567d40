// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Moves frames from a pipe to files, one recording after the other, on a thread of its own, and keeps the file readable
/// all the time. Control calls come one after another.
final class FileWriter: @unchecked Sendable {
    // Sendable: `monitor` guards what both threads change; the file's inside, the history and what came before a recording
    // belong to the worker while it runs.
    let channels: Int
    let options: RecordOptions
    let host: NodeHost
    let monitor = Monitor()
    private(set) var pipe: CapturePipe?
    private(set) var rate = 0.0
    private(set) var isOffline = false
    private(set) var worker: Worker?
    /// What is recorded to.
    var file: TakeFile?
    /// Where the recording goes on when its file is full, or at another rate.
    var target: RecordTarget?
    /// Files that this recording has completed: none of them is overwritten by the next.
    private var written: Set<String> = []
    /// How the recording stands; with the monitor's lock.
    var standing = Standing()
    /// Seconds of audio that the recording has at most; nil: as many as come.
    var limit: Double?
    /// Seconds that were recorded at rates before the one now, and frames at this one.
    private(set) var earlier = 0.0
    var active = 0
    /// Seconds that were recorded before the file.
    private(set) var began = 0.0
    var before = Preroll(frames: 0, channels: 1)
    var history = LevelHistory(channels: 1, rate: 48000)
    /// Who gets what is recorded besides the file; nil: nobody.
    let subscribers: TakeAudio?
    var isWell = true
    /// Clipped samples that were told of.
    var told = 0
    /// What this recording is without.
    let lost = Lock(Lost())
    var untold: Untold?
    var toldLoss: UInt64 = 0
    private(set) var ending = false
    /// The levels, for whoever asks.
    let shown = Lock((values: [Float](), seconds: 0.0))
    /// Raised by `settle`, lowered by the thread when all is saved.
    var settling = false

    init(channels: Int, options: RecordOptions, host: NodeHost) {
        self.channels = channels
        self.options = options
        self.host = host
        subscribers = options.publishes ? TakeAudio(block: options.publishedBlock, host: host) : nil
    }

    /// What is recorded to; nil: nothing is recorded. [any]
    var path: String? { monitor.locked { file?.path } }

    /// Seconds that were recorded; pauses do not count. By whoever has the file.
    var seconds: Double { earlier + Double(active) / max(rate, 1) }

    /// Makes the pipe: ten seconds. A file that has the rate of the audio is finished when that changes, and `resume` begins
    /// the next. [control]
    func prepare(_ preparation: Preparation) -> CapturePipe {
        let (rate, maxBlock) = (preparation.rate, preparation.maxBlock)
        if let pipe, self.rate == rate, pipe.maxBlock >= maxBlock { return pipe }
        collectDropped()
        stopWorker()
        if self.rate != rate, let file {
            earlier = seconds
            active = 0
            if target?.rate != nil, file.take(rate: rate) == nil {
                // It goes on in the same file.
            } else {
                let next = target
                let kept = (limit, monitor.locked { standing })
                finishIfOpen()
                (target, limit) = (next, kept.0)
                monitor.locked { standing = kept.1 }
            }
        }
        let fresh = CapturePipe(
            channels: channels, frames: max(Int(rate * 10), 8 * maxBlock), maxBlock: maxBlock, order: .interleaved)
        before = Preroll(frames: Int(options.preroll * rate), channels: channels)
        history = LevelHistory(channels: channels, rate: rate)
        monitor.locked {
            pipe = fresh
            (self.rate, isOffline) = (rate, preparation.offline)
        }
        open()
        return fresh
    }

    /// Lets the audio in, if anybody wants it.
    func open() {
        let (silence, isPaused) = monitor.locked { (standing.silence, standing.isPaused) }
        pipe?.isOpen = silence == nil && (path != nil ? !isPaused : before.length > 0)
    }

    /// Goes on with what was recorded when it was prepared anew, or begins with `first`. [control]
    func resume(with first: RecordTarget? = nil, limit firstLimit: Double? = nil) {
        let next =
            monitor.locked {
                standing.isInactive = false
                return target
            } ?? first
        guard worker == nil else { return tellAgain() }
        do throws(NodeError) {
            if let next, path == nil {
                let goesOn = monitor.locked { target } != nil
                if goesOn {
                    // At another rate, in another file.
                    try record(next)
                } else {
                    try start(next, limit: firstLimit)
                }
                open()
            } else if path != nil || before.length > 0 {
                try startWorker()
            }
            tellAgain()
        } catch {
            fail(error.message, next?.template ?? "")
        }
    }

    /// Begins a recording; throws while there is one, and when there can be none. [control]
    func start(_ target: RecordTarget, limit: Double? = nil) throws(NodeError) {
        if let path {
            throw NodeError("is recording to \(path) already", hint: "finish that first", kind: RecordFault.recording)
        }
        stopWorker()
        (earlier, written) = (0, [])
        self.limit = limit
        lost.withLock { $0 = Lost() }
        monitor.locked { standing.begin() }
        subscribers?.begin()
        try record(target)
        if monitor.locked({ standing.reason }) != nil { tellAgain() }
    }

    /// Records to a new file from now on. [control]
    private func record(_ target: RecordTarget) throws(NodeError) {
        guard let pipe else { throw NodeError("is not prepared") }
        stopWorker()
        // What came after the end of the one before, unless it is to be in this one.
        while let audio = pipe.take() { before.add(audio) }
        _ = pipe.takeDropped()
        (told, active) = (0, 0)
        try begin(target)
        open()
        do throws(NodeError) {
            let known = before.take()
            known.samples.withUnsafeBufferPointer {
                if let first = $0.baseAddress, !$0.isEmpty { store(first, $0.count / channels, at: known.position, 0) }
            }
            try startWorker()
        } catch {
            if let file { file.remove() }
            monitor.locked { (file, self.target) = (nil, nil) }
            open()
            throw error
        }
        if !isWell { host.health(.ok) }
        isWell = true
    }

    /// Makes the next file.
    func begin(_ target: RecordTarget) throws(NodeError) {
        let file = try TakeFile(
            target, channels: channels, rate: rate, overwrites: options.overwrites, keeping: written,
            subscribers: subscribers, isOffline: isOffline, host: host)
        began = seconds
        monitor.locked {
            self.file = file
            self.target = target
            // One that goes on begins where this one ended.
            self.target?.skip = 0
        }
        host.publish(
            RecordEvent.started,
            [
                ("path", .string(file.path)), ("place", .string(file.place)), ("rate", .number(file.rate)),
                ("channels", .integer(Int64(target.channels ?? channels))),
            ])
        tell(monitor.locked { standing.state }, file, reason: monitor.locked { standing.reason } ?? "")
    }

    /// Goes on keeping what comes for the next recording, if it is to have that.
    func restart() {
        guard before.length > 0, worker == nil else { return }
        open()
        do throws(NodeError) { try startWorker() } catch { fail(error.message, "") }
    }

    /// Completes the file, and the recording with it unless there is to be another. By whoever has the file.
    @discardableResult
    func complete(
        after frames: Int? = nil, isLast: Bool = true, reason ending: String = ""
    ) throws(NodeError) -> Take {
        guard let file = monitor.locked({ file }) else {
            throw NodeError("is not recording", kind: RecordFault.nothing)
        }
        let fault = file.release(upTo: frames)
        tellClipped(file)
        tellLosses()
        if let reason = fault ?? file.complete() {
            fail(reason, file.path)
            throw NodeError("\(file.path) is not complete: \(reason)", kind: RecordFault.disk(file.code))
        }
        let levels = file.levels.result
        let take = Take(
            path: file.path, frames: file.frames, seconds: Double(file.frames) / file.rate, lost: lost.withLock { $0 },
            clipped: file.clipped, peak: levels.peak, truePeak: levels.truePeak, loudness: levels.loudness,
            outline: levels.outline.values)
        told = 0
        written.insert(file.path)
        monitor.locked {
            self.file = nil
            if isLast { (target, standing.isPaused) = (nil, false) }
        }
        if isLast { subscribers?.flush() }
        host.publish(RecordEvent.finished, take.drawn)
        if isLast { tell("finished", file, reason: ending) }
        return take
    }

    /// Ends the thread, and completes the file if there is one; what goes wrong is told. [control]
    func finishIfOpen() {
        pipe?.isOpen = false
        stopWorker()
        collectDropped()
        if path != nil { do throws(NodeError) { try complete() } catch {} }
    }

    private func startWorker() throws(NodeError) {
        guard let pipe else { return }
        monitor.locked { ending = false }
        worker = try Worker { [self] in run(pipe) }
    }

    /// Returns when the pipe is on disk and the thread has ended. [control]
    func stopWorker() {
        monitor.locked {
            ending = true
            monitor.signal()
        }
        worker?.join()
        worker = nil
    }
}
