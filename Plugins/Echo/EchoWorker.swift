// SPDX-License-Identifier: Apache-2.0
import CEcho
import NodeKit

/// A canceller that takes locks, on a thread of its own between two pipes. Every frame that comes gives one, so that what
/// is heard is late by the same at all times; where the thread was too late, what would come later is left out.
final class EchoWorker: @unchecked Sendable {
    // Sendable: `monitor` guards what two threads use; the rest belongs to the thread, or to the control half while there
    // is none.
    /// Plain data; the pipes outlive it.
    struct Processor: BitwiseCopyable {
        let pipe: CapturePipe.Writer
        let player: PlaybackPlayer
    }

    let processor: Processor
    /// Frames between an input and the output that it causes.
    let latency: Int
    let reports = Ring<EchoReport>(minimumCapacity: 256)

    private let capture: CapturePipe
    private let playback: PlaybackPipe
    private let canceller: OpaquePointer
    private let controls: Shared<EchoControls>
    private let frame, channels, mask: Int
    private var heard, played, given: [Float]
    /// The newest samples of the reference, a ring whose length is a power of two, and how many were ever written.
    private var line: [Float]
    private var written = 0
    private var filled = 0
    /// The frame of the graph that comes next, and that which the first frame of the pipe was heard at.
    private var next: UInt64?
    private var offset: UInt64?
    /// Frames that are left out of what is given, since they would be late.
    private var late = 0
    /// Frames that were left out since the start.
    private var skipped = 0
    private var report = EchoReport()

    private let monitor = Monitor()
    private var worker: Worker?
    private var isEnding = false

    /// Makes a canceller. [control]
    init(
        _ preparation: Preparation, settings: EchoSettings, controls: Shared<EchoControls>
    ) throws(NodeError) {
        guard let canceller = vg_webrtc_create(try Self.maker(), preparation.rate) else {
            throw Self.failure("no memory for the echo canceller of WebRTC")
        }
        self.canceller = canceller
        self.controls = controls
        channels = settings.channels
        frame = Int(vg_webrtc_frame(canceller))
        // A frame until it is complete, a block until the thread sees it, and as long again for the work.
        let wait = frame - 1 + preparation.maxBlock + max(preparation.maxBlock, frame)
        latency = wait + Int(vg_webrtc_delay(canceller))
        capture = CapturePipe(
            channels: 1 + settings.channels, frames: Int(preparation.rate), maxBlock: preparation.maxBlock)
        playback = PlaybackPipe(
            channels: 1, frames: wait + Int(preparation.rate), maxBlock: preparation.maxBlock, rate: preparation.rate)
        processor = Processor(pipe: capture.writer, player: playback.player)
        heard = [Float](repeating: 0, count: frame)
        (played, given) = (heard, heard)
        var length = 1
        while length < Int(EchoAudio.longestDelay * preparation.rate) + 1 { length *= 2 }
        line = [Float](repeating: 0, count: length)
        mask = length - 1
        let silence = [Float](repeating: 0, count: wait)
        _ = silence.withUnsafeBufferPointer { playback.write($0) }
    }

    deinit { vg_webrtc_destroy(canceller) }

    /// What makes one in the library; throws if that is not there. [control]
    @discardableResult
    static func maker() throws(NodeError) -> UnsafeMutableRawPointer {
        guard vg_webrtc_is_built() else {
            throw failure("this was built without the headers of libwebrtc-audio-processing-dev")
        }
        let name = "libwebrtc_audio_processing.so.1"
        let library: Library
        do throws(NodeError) { library = try Library(name) } catch {
            throw failure("cannot load \(name): \(error.message)")
        }
        guard let maker = library.address(of: VG_WEBRTC_MAKER) else { throw failure("\(name) is of another version") }
        return maker
    }

    private static func failure(_ reason: String) -> NodeError {
        NodeError(
            reason, hint: "apt install libwebrtc-audio-processing1, or engine = \"kalman\"",
            key: EchoSettings.engine.name)
    }

    /// Begins, unless somebody calls `work`. [control]
    func start() throws(NodeError) {
        isEnding = false
        worker = try Worker { [self] in
            while !monitor.locked({ isEnding }) {
                work()
                // The audio thread wakes nobody; this is a third of the time that there is for the work.
                monitor.locked { if !isEnding { monitor.wait(milliseconds: 3) } }
            }
        }
    }

    /// Ends. [control]
    func end() {
        monitor.locked {
            isEnding = true
            monitor.signal()
        }
        worker?.join()
        worker = nil
    }

    /// Frames that were not taken since the last call. [control]
    func takeLost() -> Int { capture.takeDropped() }

    /// Works on all that was heard until now. [worker]
    func work() {
        while let audio = capture.take() {
            // What did not fit into the pipe is silence, so that the rest comes in time.
            if let next, audio.position > next {
                for _ in 0..<min(Int(audio.position - next), capture.capacity) { take(0, 0) }
            }
            next = audio.position + UInt64(audio.frames)
            for index in 0..<audio.frames {
                let heard = audio.channels[0].unsafelyUnwrapped[index]
                let first = audio.channels[1].unsafelyUnwrapped[index]
                let second = audio.channels[channels].unsafelyUnwrapped[index]
                take(sound(heard, &report.broken), sound((first + second) * 0.5, &report.broken))
            }
        }
    }

    private func take(_ microphone: Float, _ reference: Float) {
        line[written & mask] = reference
        heard[filled] = microphone
        played[filled] = line[(written - controls.value.delay.load(ordering: .relaxed)) & mask]
        written += 1
        filled += 1
        guard filled == frame else { return }
        filled = 0
        var tuning = controls.value.tuning
        var measures = vg_echo_measures()
        vg_webrtc_process(canceller, heard, played, &given, &tuning, &measures)
        give()
        report.add(measures)
        guard report.frames >= 10 else { return }
        report.position = next ?? 0
        if reports.writer.push(report) { report = EchoReport() }
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
        given.withUnsafeBufferPointer { given in
            let rest = UnsafeBufferPointer(rebasing: given[left...])
            let count = playback.write(rest)
            report.lost += left + rest.count - count
        }
    }
}

/// What a processor of either kind does.
enum EchoProcessor: BitwiseCopyable {
    /// The canceller works on the audio thread.
    case here(AudioArray<EchoAudio.State>)
    /// It works elsewhere.
    case elsewhere(EchoWorker.Processor)
}

extension Echo {
    @_noLocks
    static func process(_ state: inout EchoProcessor, _ block: borrowing Block) {
        switch state {
        case .here(let canceller): cancelEcho(&canceller[0], block)
        case .elsewhere(let processor):
            // Before the output, which may be the same buffer.
            processor.pipe.write(block)
            processor.player.play(block)
        }
    }
}
