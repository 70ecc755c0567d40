// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// The voice activity detector of WebRTC (Gaussian mixtures of six bands), which needs no model. It says yes or no, of
/// 30 ms at a time, and takes much of what is not speech for it.
final class WebRTCDetector: SpeechDetector {
    private typealias Create = @convention(c) () -> OpaquePointer?
    private typealias Free = @convention(c) (OpaquePointer) -> Void
    private typealias Init = @convention(c) (OpaquePointer) -> Int32
    private typealias SetMode = @convention(c) (OpaquePointer, Int32) -> Int32
    private typealias Process = @convention(c) (OpaquePointer, Int32, UnsafePointer<Int16>, Int) -> Int32

    /// How sure it must be, from 0 to 3.
    private static let mode: Int32 = 2

    let window = 480
    let name = "webrtc"
    private let state: OpaquePointer
    private let free: Free
    private let start: Init
    private let setMode: SetMode
    private let process: Process

    init() throws(NodeError) {
        let library = try Library(
            ["libwebrtc_audio_processing.so.1", "libwebrtc-audio-processing-1.so.3"],
            package: "libwebrtc-audio-processing1")
        free = try library.function("WebRtcVad_Free")
        start = try library.function("WebRtcVad_Init")
        setMode = try library.function("WebRtcVad_set_mode")
        process = try library.function("WebRtcVad_Process")
        let create: Create = try library.function("WebRtcVad_Create")
        guard let made = create() else { throw NodeError("no memory for the detector of WebRTC") }
        state = made
        reset()
    }

    deinit { free(state) }

    func probability(_ window: UnsafeBufferPointer<Float>) throws(NodeError) -> Float {
        let samples = window.map { $0.isFinite ? Int16(max(-32768, min(32767, $0 * 32768))) : 0 }
        let answer = process(state, Int32(speechRate), samples, samples.count)
        if answer < 0 { throw NodeError("the detector of WebRTC refuses a window of \(samples.count) samples") }
        return answer == 0 ? 0 : 1
    }

    func reset() {
        _ = start(state)
        _ = setMode(state, Self.mode)
    }
}
