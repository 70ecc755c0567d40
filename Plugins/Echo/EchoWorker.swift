// SPDX-License-Identifier: Apache-2.0
import CEcho
import Frames
import NodeKit

/// A canceller that takes locks, on a thread of its own.
final class EchoWorker: @unchecked Sendable {
    // Sendable: what changes belongs to the thread of `frames`, or to the control half while there is none.

    let reports = Ring<EchoReport>(minimumCapacity: 256)
    private(set) var frames: FrameWorker!
    private let canceller: OpaquePointer
    private let controls: Shared<EchoControls>
    private let channels, mask: Int
    private var heard, played: [Float]
    /// The newest samples of the reference, a ring whose length is a power of two, and how many were ever written.
    private var line: [Float]
    private var written = 0
    private var report = EchoReport()

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
        let frame = Int(vg_webrtc_frame(canceller))
        heard = [Float](repeating: 0, count: frame)
        played = heard
        var length = 1
        while length < Int(EchoAudio.longestDelay * preparation.rate) + 1 { length *= 2 }
        line = [Float](repeating: 0, count: length)
        mask = length - 1
        frames = FrameWorker(
            preparation, inputs: 1 + settings.channels, frame: frame, time: frame,
            delay: Int(vg_webrtc_delay(canceller))
        ) { [unowned self] inputs, output, end in cancel(inputs, &output, end) }
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

    private func cancel(_ inputs: [[Float]], _ output: inout [Float], _ end: UInt64) {
        let delay = controls.value.delay.load(ordering: .relaxed)
        for place in heard.indices {
            heard[place] = sound(inputs[0][place], &report.broken)
            // One channel is its own mean.
            line[written & mask] = sound((inputs[1][place] + inputs[channels][place]) * 0.5, &report.broken)
            played[place] = line[(written - delay) & mask]
            written += 1
        }
        var tuning = controls.value.tuning
        var measures = vg_echo_measures()
        vg_webrtc_process(canceller, heard, played, &output, &tuning, &measures)
        report.add(measures)
        guard report.frames >= 10 else { return }
        report.position = end
        if reports.writer.push(report) { report = EchoReport() }
    }
}

/// What a processor of either kind does.
enum EchoProcessor: BitwiseCopyable {
    /// The canceller works on the audio thread.
    case here(AudioArray<EchoAudio.State>)
    /// It works elsewhere.
    case elsewhere(FrameWorker.Processor)
}

extension Echo {
    @_noLocks
    static func process(_ state: inout EchoProcessor, _ block: borrowing Block) {
        switch state {
        case .here(let canceller): cancelEcho(&canceller[0], block)
        case .elsewhere(let frames): frames.process(block)
        }
    }
}
