// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import Synchronization

/// Makes test signals. Equal settings give the same samples, bit for bit, however the signal is cut into blocks.
final class Tone: AudioNode {
    static let calls: NodeCalls = .idle
    static let descriptor = NodeDescriptor(
        "tone", "test signals: sine, square, saw, triangle, sweep, noise, pink, impulse",
        doc: """
            level_db is the peak level. square, saw and triangle are band-limited: harmonics up to 0.455 of the sample \
            rate have the amplitudes of the ideal wave, aliases are below -90 dB; level_db is the peak of the ideal \
            wave, and the edges of square and saw swing up to 2.1 dB beyond it. The frequency of a sweep at the time t \
            is start * (end / start)^(t / seconds). pink falls by 3 dB an octave (within 0.2 dB from 20 Hz to 0.475 of \
            the rate); its rms is 15 dB below level_db, which its peaks all but never reach. What is beyond half the \
            rate is silent, and the log says so. All channels carry the same signal, but for noise and pink, where \
            each has its own.
            """,
        ports: Port.audio(VG_OUTPUT, channels: 1, doc: "the signal"),
        parameters: Knob.all, settings: [wave, channels, start, end, seconds, repeats, period, seed],
        otherNames: ["oscillator", "sine", "noise", "generator", "signal"], process: { Tone.process($0, $1, $2) })

    private static let wave = Key.choice("wave", "the kind of signal", default: Wave.sine)
    private static let channels = Key.channels("audio channels out")
    private static let start = Key.number("start", "where a sweep begins", default: 20, in: 0.1...96000, unit: "Hz")
    private static let end = Key.number("end", "where a sweep ends", default: 20000, in: 0.1...96000, unit: "Hz")
    private static let seconds = Key.number(
        "seconds", "how long a sweep takes", default: 10, in: 0.01...3600, unit: "s")
    private static let repeats = Key.flag(
        "repeat", "whether a sweep begins again; if not, it fades in its last 5 ms", default: true)
    private static let period = Key.number(
        "period", "from impulse to impulse; the first is at once", default: 1, in: 0.0001...3600, unit: "s")
    private static let seed = Key.integer("seed", "of noise and pink: another seed, another noise", default: 1)

    enum Wave: String, CaseIterable, BitwiseCopyable {
        case sine, square, saw, triangle, sweep, noise, pink, impulse, silence
    }

    fileprivate enum Knob: Int, ParameterList {
        case frequency, level

        var parameter: Parameter {
            switch self {
            case .frequency:
                Parameter(
                    "frequency", "of sine, square, saw and triangle; silent beyond half the rate", 0.1...96000,
                    default: 440, unit: "Hz", scale: VG_LOGARITHMIC)
            case .level:
                Parameter(
                    "level_db", "peak level in dBFS; -120 and below is silence", silenceDB...0, default: -20,
                    unit: "dB", scale: VG_DECIBEL)
            }
        }
    }

    struct Processor: BitwiseCopyable {
        var wave: Wave
        var gain = GainCache()
        /// In cycles, 0..<1; of a sweep: where it began.
        var phase = 0.0
        /// The frequency in cycles per frame.
        var step = 0.0
        /// Frames since the start, of the sweep or since the last impulse.
        var frame: UInt64 = 0
        /// Frames of a sweep, or from impulse to impulse.
        var length: UInt64 = 1
        var repeats = true
        var law = SweepLaw(start: 1, end: 1, seconds: 1, rate: 1)
        var gate: NyquistGate
        /// What band-limited waves are made of; nil for others.
        var edges: AudioArray<EdgePoint>?
        var seed: UInt64 = 0
        /// Of pink noise; nil for others.
        var pink: PinkFilter?
        /// 1 until a sweep that does not begin again has ended.
        var playing: SharedCell<Atomic<Int>>
    }

    let layout: Layout
    private let wave: Wave
    private let start, end, seconds, period: Double
    private let repeats: Bool
    private let seed: Int
    private let playing = SharedCount(count: 0)
    private var pink: PinkMemory?

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        wave = try settings[Self.wave]
        start = try settings[Self.start]
        end = try settings[Self.end]
        seconds = try settings[Self.seconds]
        period = try settings[Self.period]
        repeats = try settings[Self.repeats]
        seed = try settings[Self.seed]
        layout = Layout(
            ports: Port.audio(VG_OUTPUT, channels: try settings[Self.channels], doc: "the signal"),
            parameters: Knob.all)
        playing.count = wave == .sweep && !repeats ? 1 : 0
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        playing.count = wave == .sweep && !repeats ? 1 : 0
        let span = wave == .impulse ? period : seconds
        var processor = Processor(wave: wave, repeats: repeats, gate: NyquistGate(preparation), playing: playing.cell)
        processor.length = UInt64(max(1, span * preparation.rate + 0.5))
        processor.law = SweepLaw(start: start, end: end, seconds: seconds, rate: preparation.rate)
        processor.seed = UInt64(bitPattern: Int64(seed))
        switch wave {
        case .square, .saw, .triangle: processor.edges = edgeTable.points.array
        case .pink:
            let memory = PinkMemory(channels: layout.ports.count, rate: preparation.rate)
            processor.pink = memory.filter
            pink = memory
        default: break
        }
        return processor
    }

    /// An endless signal is a background, not something to wait for.
    var isIdle: Bool { playing.count == 0 }
}

extension Tone {
    @_noLocks
    static func process(_ state: inout Processor, _ block: borrowing Block) {
        let frames = block.frames
        let gain = blockGain(block[Knob.level], &state.gain, frames)
        let output = block.output(0)
        var isSilent = gain.isZero
        switch state.wave {
        case .sine, .square, .saw, .triangle: if periodic(&state, block, output) { isSilent = true }
        case .sweep: if sweep(&state, block, output) { isSilent = true }
        case .impulse: if impulse(&state, output) { isSilent = true }
        case .silence:
            output.clear()
            isSilent = true
        case .noise, .pink:
            for channel in block.outputs {
                let output = block.output(channel)
                whiteNoise(state.seed, channel, from: state.frame, output)
                if let pink = state.pink { pink.apply(channel, output) }
                applyGain(gain, output.written, output)
                if isSilent { block.markSilent(channel) }
            }
            state.frame += UInt64(frames)
            return
        }
        applyGain(gain, output.written, output)
        for channel in block.outputs {
            block.output(channel).copy(output.written)
            if isSilent { block.markSilent(channel) }
        }
    }
}

/// A wave of the parameter's frequency. True if it is silent, being beyond half the rate. [audio]
@_noLocks
private func periodic(
    _ state: inout Tone.Processor, _ block: borrowing Block, _ output: borrowing OutputSamples
) -> Bool {
    let ramp = block[Tone.Knob.frequency]
    let rate = block.rate
    let wave = state.wave
    // Copies, which stay in registers.
    var (phase, step, gate) = (state.phase, state.step, state.gate)
    let edges = state.edges
    var isSilent = true
    for frame in 0..<block.frames {
        let frequency = Double(ramp[frame])
        let level = gate.next(frequency, block, frame)
        // What goes beyond half the rate fades as it was.
        if frequency <= 0.5 * rate { step = cyclesPerFrame(frequency, rate) }
        var sample = 0.0
        if level > 0 {
            isSilent = false
            switch wave {
            case .square: sample = squareWave(phase, step, edges)
            case .saw: sample = sawWave(phase, step, edges)
            case .triangle: sample = triangleWave(phase, step, edges)
            default: sample = vg_sin64(2 * .pi * phase)
            }
            if level < 1 { sample *= level }
        }
        output[frame] = Float(sample)
        phase += step
        if phase >= 1 { phase -= 1 }
    }
    (state.phase, state.step, state.gate) = (phase, step, gate)
    return isSilent
}

/// A sine whose pitch rises evenly in octaves; the phase goes on when it begins again. True after its end. [audio]
@_noLocks
private func sweep(
    _ state: inout Tone.Processor, _ block: borrowing Block, _ output: borrowing OutputSamples
) -> Bool {
    let length = state.length
    if state.frame >= length, !state.repeats {
        output.clear()
        state.playing.value.store(0, ordering: .releasing)
        return true
    }
    var index = state.frame
    for frame in 0..<block.frames {
        if index >= length {
            if !state.repeats {
                output[frame] = 0
                continue
            }
            let (cycles, _) = state.law.at(length)
            state.phase += cycles
            state.phase -= vg_floor64(state.phase)
            index = 0
        }
        let (cycles, frequency) = state.law.at(index)
        var level = state.gate.next(frequency, block, frame)
        if !state.repeats { level *= state.law.fade(index, of: length) }
        let phase = state.phase + cycles
        output[frame] = level > 0 ? Float(level * vg_sin64(2 * .pi * (phase - vg_floor64(phase)))) : 0
        index += 1
    }
    state.frame = index
    return false
}

/// A single 1 every `length` frames. True if there is none in this block. [audio]
@_noLocks
private func impulse(_ state: inout Tone.Processor, _ output: borrowing OutputSamples) -> Bool {
    output.clear()
    let frames = output.count
    let length = state.length
    let sinceLast = state.frame
    var next = sinceLast == 0 ? 0 : length - sinceLast
    let isEmpty = next >= UInt64(frames)
    while next < UInt64(frames) {
        output[Int(next)] = 1
        next += length
    }
    state.frame = (sinceLast + UInt64(frames)) % length
    return isEmpty
}
