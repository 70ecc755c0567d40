// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import Synchronization

/// Makes test signals. Equal settings give the same samples, bit for bit, however the signal is cut into blocks.
final class Tone: Node {
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
        otherNames: ["oscillator", "sine", "noise", "generator", "signal"], process: toneProcess)

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
        var edges: UnsafePointer<EdgePoint>?
        var seed: UInt64 = 0
        /// Of pink noise; nil for others.
        var pink: PinkFilter?
        /// 1 until a sweep that does not begin again has ended.
        var playing: UnsafeMutablePointer<Atomic<Int>>
    }

    let layout: Layout
    private let wave: Wave
    private let start, end, seconds, period: Double
    private let repeats: Bool
    private let seed: Int
    private let playing = SharedCount()
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
        playing.value = wave == .sweep && !repeats ? 1 : 0
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        playing.value = wave == .sweep && !repeats ? 1 : 0
        let span = wave == .impulse ? period : seconds
        var processor = Processor(wave: wave, repeats: repeats, gate: NyquistGate(preparation), playing: playing.cell)
        processor.length = UInt64(max(1, span * preparation.rate + 0.5))
        processor.law = SweepLaw(start: start, end: end, seconds: seconds, rate: preparation.rate)
        processor.seed = UInt64(bitPattern: Int64(seed))
        switch wave {
        case .square, .saw, .triangle: processor.edges = edgeTable.points
        case .pink:
            let memory = PinkMemory(channels: layout.ports.count, rate: preparation.rate)
            processor.pink = memory.filter
            pink = memory
        default: break
        }
        return processor
    }

    /// An endless signal is a background, not something to wait for.
    var isIdle: Bool { playing.value == 0 }
}

@_noLocks
private func toneProcess(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let state = memory.assumingMemoryBound(to: Tone.Processor.self)
    let frames = cycle.frames
    let gain = blockGain(io[Tone.Knob.level], &state.pointee.gain, frames)
    let output = io.output(0)
    var isSilent = gain.isZero
    switch state.pointee.wave {
    case .sine, .square, .saw, .triangle: if periodic(state, io, output, cycle) { isSilent = true }
    case .sweep: if sweep(state, io, output, cycle) { isSilent = true }
    case .impulse: if impulse(state, output, frames) { isSilent = true }
    case .silence:
        vg_zero(output, UInt32(frames))
        isSilent = true
    case .noise, .pink:
        for channel in 0..<io.outputCount {
            whiteNoise(state.pointee.seed, channel, from: state.pointee.frame, io.output(channel), frames)
            if let pink = state.pointee.pink { pink.apply(channel, io.output(channel), frames) }
            applyGain(gain, io.output(channel), io.output(channel), frames)
            if isSilent { io.markSilent(output: channel) }
        }
        state.pointee.frame += UInt64(frames)
        return
    }
    applyGain(gain, output, output, frames)
    for channel in 0..<io.outputCount {
        vg_copy(io.output(channel), output, UInt32(frames))
        if isSilent { io.markSilent(output: channel) }
    }
}

/// A wave of the parameter's frequency. True if it is silent, being beyond half the rate. [audio]
@_noLocks
private func periodic(
    _ state: UnsafeMutablePointer<Tone.Processor>, _ io: BlockIO, _ output: UnsafeMutablePointer<Float>, _ cycle: Cycle
) -> Bool {
    let ramp = io[Tone.Knob.frequency]
    let rate = cycle.pointee.rate
    let wave = state.pointee.wave
    var (phase, step) = (state.pointee.phase, state.pointee.step)
    var isSilent = true
    for frame in 0..<cycle.frames {
        let frequency = Double(ramp[frame: frame])
        let level = state.pointee.gate.next(frequency, io, cycle, frame)
        // What goes beyond half the rate fades as it was.
        if frequency <= 0.5 * rate { step = cyclesPerFrame(frequency, rate) }
        var sample = 0.0
        if level > 0 {
            isSilent = false
            switch wave {
            case .square: sample = squareWave(phase, step, state.pointee.edges)
            case .saw: sample = sawWave(phase, step, state.pointee.edges)
            case .triangle: sample = triangleWave(phase, step, state.pointee.edges)
            default: sample = vg_sin64(2 * .pi * phase)
            }
            if level < 1 { sample *= level }
        }
        output[frame] = Float(sample)
        phase += step
        if phase >= 1 { phase -= 1 }
    }
    (state.pointee.phase, state.pointee.step) = (phase, step)
    return isSilent
}

/// A sine whose pitch rises evenly in octaves; the phase goes on when it begins again. True after its end. [audio]
@_noLocks
private func sweep(
    _ state: UnsafeMutablePointer<Tone.Processor>, _ io: BlockIO, _ output: UnsafeMutablePointer<Float>, _ cycle: Cycle
) -> Bool {
    let length = state.pointee.length
    if state.pointee.frame >= length, !state.pointee.repeats {
        vg_zero(output, UInt32(cycle.frames))
        state.pointee.playing.pointee.store(0, ordering: .releasing)
        return true
    }
    var index = state.pointee.frame
    for frame in 0..<cycle.frames {
        if index >= length {
            if !state.pointee.repeats {
                output[frame] = 0
                continue
            }
            let (cycles, _) = state.pointee.law.at(length)
            state.pointee.phase += cycles
            state.pointee.phase -= vg_floor64(state.pointee.phase)
            index = 0
        }
        let (cycles, frequency) = state.pointee.law.at(index)
        var level = state.pointee.gate.next(frequency, io, cycle, frame)
        if !state.pointee.repeats { level *= state.pointee.law.fade(index, of: length) }
        let phase = state.pointee.phase + cycles
        output[frame] = level > 0 ? Float(level * vg_sin64(2 * .pi * (phase - vg_floor64(phase)))) : 0
        index += 1
    }
    state.pointee.frame = index
    return false
}

/// A single 1 every `length` frames. True if there is none in this block. [audio]
@_noLocks
private func impulse(
    _ state: UnsafeMutablePointer<Tone.Processor>, _ output: UnsafeMutablePointer<Float>, _ frames: Int
) -> Bool {
    vg_zero(output, UInt32(frames))
    let length = state.pointee.length
    let sinceLast = state.pointee.frame
    var next = sinceLast == 0 ? 0 : length - sinceLast
    let isEmpty = next >= UInt64(frames)
    while next < UInt64(frames) {
        output[Int(next)] = 1
        next += length
    }
    state.pointee.frame = (sinceLast + UInt64(frames)) % length
    return isEmpty
}
