// SPDX-License-Identifier: Apache-2.0
import CEcho
import NodeKit

/// What the processor tells of a tenth of a second, in sums over frames of the canceller.
struct EchoReport: BitwiseCopyable {
    /// The first frame of the graph after it.
    var position: UInt64 = 0
    /// Frames of the canceller, and those in which the reference sounded.
    var frames = 0
    var farFrames = 0
    /// Mean squares while the reference sounded, of the microphone and of what was given.
    var heard: Float = 0
    var given: Float = 0
    /// Samples at full scale, and samples that were none.
    var clipped = 0
    var broken = 0
    var isLearnt = false
    var hasChanged = false

    /// Adds a frame. [audio]
    @_noLocks
    mutating func add(_ measures: vg_echo_measures) {
        frames &+= 1
        clipped &+= Int(measures.clipped)
        isLearnt = measures.is_learnt
        if measures.has_changed { hasChanged = true }
        guard measures.is_far else { return }
        farFrames &+= 1
        heard += measures.heard
        given += measures.given
    }
}

/// The memory of the audio half, and what it points to: a canceller that works in frames of its own, between two buffers.
final class EchoAudio {
    /// Plain data; what it points to belongs to `EchoAudio`.
    struct State: BitwiseCopyable {
        let canceller: OpaquePointer
        let controls: SharedCell<EchoControls>
        let reports: RingWriter<EchoReport>
        let frame: Int
        let channels: Int
        /// One frame each.
        let heard, played, given: AudioArray<Float>
        /// The newest samples of the reference, a ring whose length is a power of two.
        let line: AudioArray<Float>
        let mask: Int
        var written = 0
        /// Samples of the next frame that are there.
        var filled = 0
        var report = EchoReport()
    }

    /// Seconds that the reference can wait.
    static let longestDelay = 2.0
    /// Beyond +24 dBFS nothing is sound.
    static let loudest: Float = 16

    /// One: for the processor.
    let state: AudioArrayMemory<State>
    /// Of its buffers.
    private let memory: [AudioArrayMemory<Float>]
    let reports = Ring<EchoReport>(minimumCapacity: 256)

    /// Frames between an input and the output that it causes: the last frame of the canceller is complete with its last
    /// sample, and what is given is the frame before.
    var latency: Int { 2 * state.array[0].frame - 1 }

    /// Makes a canceller for a rate, in Hz. [control]
    init(
        rate: Double, settings: EchoSettings, speex: vg_speex?, controls: Shared<EchoControls>
    ) throws(NodeError) {
        let tail = Int((settings.tail * rate).rounded(.up))
        let canceller: OpaquePointer?
        if let speex {
            canceller = withUnsafePointer(to: speex) { vg_echo_create(rate, Int32(tail), $0) }
        } else {
            canceller = vg_echo_create(rate, Int32(tail), nil)
        }
        guard let canceller else {
            throw NodeError(
                "no memory for an echo of \(tail) frames", hint: "a shorter one", key: EchoSettings.tail.name)
        }
        let frame = Int(vg_echo_frame(rate))
        var length = 1
        while length < Int(Self.longestDelay * rate) + 1 { length *= 2 }
        memory = [frame, frame, frame, length].map { AudioArrayMemory(repeating: 0, count: $0) }
        state = AudioArrayMemory([
            State(
                canceller: canceller, controls: controls.cell, reports: reports.writer, frame: frame,
                channels: settings.channels, heard: memory[0].array, played: memory[1].array, given: memory[2].array,
                line: memory[3].array, mask: length - 1)
        ])
    }

    deinit { vg_echo_destroy(state.array[0].canceller) }
}

/// A sample, or 0 for what is none. [audio]
@_noLocks
func sound(_ sample: Float, _ broken: inout Int) -> Float {
    // False also for what is no number.
    if sample.magnitude <= EchoAudio.loudest { return sample }
    broken &+= 1
    return 0
}

/// Work on a frame that is complete. [audio]
@_noLocks
private func cancel(_ state: inout EchoAudio.State, _ position: UInt64) {
    var measures = vg_echo_measures()
    var tuning = state.controls.value.tuning
    vg_echo_process(
        state.canceller, state.heard.pointer, state.played.pointer, state.given.pointer, &tuning, &measures)
    state.report.add(measures)
    guard state.report.frames >= 10 else { return }
    state.report.position = position
    // What does not fit is told with the next.
    if state.reports.push(state.report) { state.report = EchoReport() }
}

/// The block of a canceller that works on the audio thread. [audio]
@_noLocks
func cancelEcho(_ state: inout EchoAudio.State, _ block: borrowing Block) {
    let heard = block.input(0)
    let first = block.input(1)
    let second = block.input(state.channels)
    let output = block.output(0)
    let delay = state.controls.value.delay.load(ordering: .relaxed)
    var done = 0
    while done < block.frames {
        let count = min(block.frames &- done, state.frame &- state.filled)
        for index in done..<done &+ count {
            state.heard[state.filled &+ index &- done] = sound(heard[index], &state.report.broken)
            // One channel is its own mean.
            let played = sound((first[index] + second[index]) * 0.5, &state.report.broken)
            state.line[state.written & state.mask] = played
            state.played[state.filled &+ index &- done] = state.line[(state.written &- delay) & state.mask]
            state.written &+= 1
        }
        // What is given of a frame begins with the last sample of the next one.
        let isComplete = state.filled &+ count == state.frame
        let given = isComplete ? count &- 1 : count
        for index in 0..<given { output[done &+ index] = state.given[state.filled &+ 1 &+ index] }
        state.filled &+= count
        done &+= count
        if isComplete {
            cancel(&state, block.position &+ UInt64(done))
            state.filled = 0
            output[done &- 1] = state.given[0]
        }
    }
}
