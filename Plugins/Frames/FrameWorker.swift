// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit

/// Work on sound in frames of its own length, on a thread of its own between two pipes: for what may lock or allocate, such as
/// a model. Every frame that comes gives one, so that what is heard is late by the same at all times; where the thread was too
/// late, what would come later is left out.
///
///     worker = FrameWorker(preparation, inputs: 1, frame: 480, time: 480, delay: 0) { inputs, output, end in ... }
///     try worker.start()                                   // in `activate`, unless offline
///     state.worker.process(block)                          // [audio]
///     if isOffline { worker.work() }                       // in `wait(frames:)`
public final class FrameWorker: @unchecked Sendable {
    // Sendable: `monitor` guards what two threads use; the rest belongs to the thread, or to the control half while there
    // is none.

    /// Works on a frame: the samples of each input, as many to be given, and the first frame of the graph after it. [worker]
    public typealias Work = (_ inputs: [[Float]], _ output: inout [Float], _ end: UInt64) -> Void

    /// The processor's end; plain data. The worker must outlive it.
    public struct Processor: BitwiseCopyable {
        fileprivate let pipe: CapturePipe.Writer
        fileprivate let player: PlaybackPlayer

        /// Takes a block of all audio inputs, and gives one. The output may be the buffer of the input. [audio]
        @_noLocks
        public func process(_ block: borrowing Block) {
            pipe.write(block)
            player.play(block)
        }
    }

    /// For the node's processor.
    public let processor: Processor
    /// Frames between an input and the output that it causes.
    public let latency: Int

    private let capture: CapturePipe
    private let playback: PlaybackPipe
    private let frame: Int
    private let perform: Work
    private var inputs: [[Float]]
    private var output: [Float]
    /// Of the next frame, what is there.
    private var filled = 0
    /// The frame of the graph that comes next, and that which the first frame of the pipe was heard at.
    private var next: UInt64?
    private var offset: UInt64?
    /// Frames that are left out of what is given, since they would be late.
    private var late = 0
    /// Frames that were left out since the start.
    private var skipped = 0
    private let missed = Lock(0)

    private let monitor = Monitor()
    private var worker: Worker?
    private var isEnding = false

    /// Makes the pipes. `frame`: samples that `work` takes at once and gives; it may take as long as `time` frames of audio,
    /// and what it gives is late by `delay` frames of its own. [control]
    public init(
        _ preparation: Preparation, inputs count: Int, frame: Int, time: Int, delay: Int, work: @escaping Work
    ) {
        self.frame = frame
        perform = work
        // A frame until it is complete, a block until the thread sees it, and the time for the work.
        let wait = frame - 1 + preparation.maxBlock + max(preparation.maxBlock, time)
        latency = wait + delay
        capture = CapturePipe(channels: count, frames: Int(preparation.rate), maxBlock: preparation.maxBlock)
        playback = PlaybackPipe(
            channels: 1, frames: wait + Int(preparation.rate), maxBlock: preparation.maxBlock, rate: preparation.rate)
        processor = Processor(pipe: capture.writer, player: playback.player)
        output = [Float](repeating: 0, count: frame)
        inputs = Array(repeating: output, count: count)
        let silence = [Float](repeating: 0, count: wait)
        _ = silence.withUnsafeBufferPointer { playback.write($0) }
    }

    /// Begins. Whoever drives time calls `work` instead. [control]
    public func start() throws(NodeError) {
        isEnding = false
        worker = try Worker { [self] in
            // Below every audio thread, and before what has no deadline; where that is not allowed it stays as it is.
            var priority = sched_param(sched_priority: 1)
            pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority)
            while !monitor.locked({ isEnding }) {
                work()
                // The audio thread wakes nobody; this is a part of the time that there is for the work.
                monitor.locked { if !isEnding { monitor.wait(milliseconds: 3) } }
            }
        }
    }

    /// Ends. [control]
    public func end() {
        monitor.locked {
            isEnding = true
            monitor.signal()
        }
        worker?.join()
        worker = nil
    }

    /// Frames that were not taken or not given since the last call. [control]
    public func takeLost() -> Int {
        let missed = missed.withLock { missed in
            defer { missed = 0 }
            return missed
        }
        return capture.takeDropped() + missed
    }

    /// Works on all that was heard until now. [worker]
    public func work() {
        while let audio = capture.take() {
            // What did not fit into the pipe is silence, so that the rest comes in time.
            if let next, audio.position > next { takeSilence(min(Int(audio.position - next), capture.capacity)) }
            var index = 0
            while index < audio.frames {
                let count = min(audio.frames - index, frame - filled)
                for channel in inputs.indices {
                    let samples = audio.channels[channel].unsafelyUnwrapped
                    for place in 0..<count { inputs[channel][filled + place] = samples[index + place] }
                }
                index += count
                advance(count, end: audio.position + UInt64(index))
            }
            next = audio.position + UInt64(audio.frames)
        }
    }

    private func takeSilence(_ frames: Int) {
        var left = frames
        while left > 0 {
            let count = min(left, frame - filled)
            for channel in inputs.indices {
                for place in 0..<count { inputs[channel][filled + place] = 0 }
            }
            left -= count
            advance(count, end: (next ?? 0) + UInt64(frames - left))
        }
    }

    private func advance(_ count: Int, end: UInt64) {
        filled += count
        guard filled == frame else { return }
        filled = 0
        perform(inputs, &output, end)
        give()
    }

    private func give() {
        while let run = playback.nextRun() {
            let offset = offset ?? run.position - UInt64(run.index)
            self.offset = offset
            late = max(0, Int(run.position) - run.index - Int(offset)) - skipped
        }
        let left = min(max(0, late), frame)
        late -= left
        skipped += left
        let given = output.withUnsafeBufferPointer { playback.write(UnsafeBufferPointer(rebasing: $0[left...])) }
        if given < frame { missed.withLock { $0 += frame - given } }
    }
}
