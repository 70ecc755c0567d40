// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import Synchronization

/// Makes test signals. Equal settings give the same samples, bit for bit, however the signal is cut into blocks.
final class Tone: Node {
    static let calls: NodeCalls = .idle
    static let descriptor = NodeDescriptor(
        "tone", "test signals: sine, square, sweep, noise, impulse",
        doc: "level_db is the peak level. All channels carry the same signal, but for noise, where each has its own.",
        ports: Port.audio(VG_OUTPUT, channels: 1, doc: "the signal"),
        parameters: [
            Parameter(
                "frequency", "of sine and square; at most half the rate is played", 0.1...96000, default: 440,
                unit: "Hz", scale: VG_LOGARITHMIC),
            Parameter(
                "level_db", "peak level in dBFS; -120 and below is silence", silenceDB...0, default: -20, unit: "dB",
                scale: VG_DECIBEL),
        ],
        settings: [
            Setting("wave", VG_SET_STRING, "the kind of signal", default: "\"sine\"", choices: Tone.waves),
            .channels("audio channels out"),
            Setting("start", VG_SET_NUMBER, "where a sweep begins", default: "20.0", range: 0.1...96000, unit: "Hz"),
            Setting("end", VG_SET_NUMBER, "where a sweep ends", default: "20000.0", range: 0.1...96000, unit: "Hz"),
            Setting("seconds", VG_SET_NUMBER, "how long a sweep takes", default: "10.0", range: 0.01...3600, unit: "s"),
            Setting("repeat", VG_SET_BOOL, "whether a sweep begins again; silence follows if not", default: "true"),
            Setting(
                "period", VG_SET_NUMBER, "from impulse to impulse; the first is at once", default: "1.0",
                range: 0.0001...3600, unit: "s"),
            Setting("seed", VG_SET_INTEGER, "of noise: another seed, another noise", default: "1"),
        ],
        process: toneProcess)

    enum Wave: UInt8, BitwiseCopyable { case sine, square, sweep, noise, impulse, silence }
    private static let waves = ["sine", "square", "sweep", "noise", "impulse", "silence"]

    struct Processor: BitwiseCopyable {
        var wave: Wave
        var gain = GainCache()
        /// In cycles, 0..<1.
        var phase = 0.0
        /// Frames since the start, of the sweep or since the last impulse.
        var frame: UInt64 = 0
        /// Frames of a sweep, or from impulse to impulse.
        var length: UInt64 = 1
        var repeats = true
        var frequency = 0.0
        var startFrequency = 0.0
        /// What a sweep's frequency is multiplied by per frame.
        var ratio = 1.0
        var seed: UInt64 = 0
        /// 1 until a sweep that does not begin again has ended.
        var playing: UnsafeMutablePointer<Atomic<Int>>
    }

    let layout: Layout
    private let wave: Wave
    private let start, end, seconds, period: Double
    private let repeats: Bool
    private let seed: Int
    private let playing = SharedCount()

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        let name = settings.string("wave") ?? "sine"
        guard let index = Self.waves.firstIndex(of: name), let wave = Wave(rawValue: UInt8(index)) else {
            throw NodeError("has no wave \"\(name)\"", hint: "use " + Self.waves.joined(separator: ", "), key: "wave")
        }
        self.wave = wave
        start = try settings.finite("start", default: 20, in: 0.1...96000)
        end = try settings.finite("end", default: 20000, in: 0.1...96000)
        seconds = try settings.finite("seconds", default: 10, in: 0.01...3600)
        period = try settings.finite("period", default: 1, in: 0.0001...3600)
        repeats = settings.bool("repeat") ?? true
        seed = settings.integer("seed") ?? 1
        layout = Layout(
            ports: Port.audio(VG_OUTPUT, channels: try settings.channels(), doc: "the signal"),
            parameters: Self.descriptor.layout.parameters)
        playing.value = wave == .sweep && !repeats ? 1 : 0
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        playing.value = wave == .sweep && !repeats ? 1 : 0
        let span = wave == .impulse ? period : seconds
        var processor = Processor(wave: wave, repeats: repeats, playing: playing.cell)
        processor.length = UInt64(max(1, span * preparation.rate + 0.5))
        processor.startFrequency = start
        processor.frequency = start
        processor.ratio = pow(end / start, 1 / Double(processor.length))
        processor.seed = UInt64(bitPattern: Int64(seed))
        return processor
    }

    /// An endless signal is a background, not something to wait for.
    var isIdle: Bool { playing.value == 0 }
}

@_noLocks
private func toneProcess(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let state = memory.assumingMemoryBound(to: Tone.Processor.self)
    let frames = cycle.frames
    let gain = blockGain(io.parameter(1), &state.pointee.gain, frames)
    let output = io.output(0)
    var isSilent = gain.isZero
    switch state.pointee.wave {
    case .sine: sine(state, io.parameter(0), output, cycle)
    case .square: square(state, io.parameter(0), output, cycle)
    case .sweep: if sweep(state, output, cycle) { isSilent = true }
    case .impulse: if impulse(state, output, frames) { isSilent = true }
    case .silence:
        vg_zero(output, UInt32(frames))
        isSilent = true
    case .noise:
        for channel in 0..<io.outputCount {
            noise(state.pointee.seed, channel, from: state.pointee.frame, io.output(channel), frames)
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

/// Cycles per frame, at most half of one. [audio]
@_noLocks
private func advance(_ frequency: Double, _ rate: Double) -> Double { min(max(frequency / rate, 0), 0.5) }

@_noLocks
private func sine(
    _ state: UnsafeMutablePointer<Tone.Processor>, _ frequency: UnsafePointer<vg_ramp>,
    _ output: UnsafeMutablePointer<Float>, _ cycle: Cycle
) {
    var phase = state.pointee.phase
    for frame in 0..<cycle.frames {
        output[frame] = Float(vg_sin64(2 * .pi * phase))
        phase += advance(Double(vg_ramp_at(frequency, UInt32(truncatingIfNeeded: frame))), cycle.pointee.rate)
        if phase >= 1 { phase -= 1 }
    }
    state.pointee.phase = phase
}

/// A square whose edges are rounded by a polynomial over one frame on each side (PolyBLEP), so that it aliases little.
@_noLocks
private func square(
    _ state: UnsafeMutablePointer<Tone.Processor>, _ frequency: UnsafePointer<vg_ramp>,
    _ output: UnsafeMutablePointer<Float>, _ cycle: Cycle
) {
    var phase = state.pointee.phase
    for frame in 0..<cycle.frames {
        let step = advance(Double(vg_ramp_at(frequency, UInt32(truncatingIfNeeded: frame))), cycle.pointee.rate)
        let half = phase < 0.5 ? phase + 0.5 : phase - 0.5
        output[frame] = Float((phase < 0.5 ? 1 : -1) + edge(phase, step) - edge(half, step))
        phase += step
        if phase >= 1 { phase -= 1 }
    }
    state.pointee.phase = phase
}

/// What an upward step at phase 0 lacks of a band-limited one. [audio]
@_noLocks
private func edge(_ phase: Double, _ step: Double) -> Double {
    if phase < step {
        let t = phase / step
        return t + t - t * t - 1
    }
    if phase > 1 - step {
        let t = (phase - 1) / step
        return t * t + t + t + 1
    }
    return 0
}

/// A sine whose pitch rises evenly in octaves; the phase goes on when it begins again. True after its end. [audio]
@_noLocks
private func sweep(
    _ state: UnsafeMutablePointer<Tone.Processor>, _ output: UnsafeMutablePointer<Float>, _ cycle: Cycle
) -> Bool {
    if state.pointee.frame >= state.pointee.length, !state.pointee.repeats {
        vg_zero(output, UInt32(cycle.frames))
        state.pointee.playing.pointee.store(0, ordering: .releasing)
        return true
    }
    var (phase, frequency, index) = (state.pointee.phase, state.pointee.frequency, state.pointee.frame)
    for frame in 0..<cycle.frames {
        if index >= state.pointee.length {
            if !state.pointee.repeats {
                output[frame] = 0
                continue
            }
            index = 0
            frequency = state.pointee.startFrequency
        }
        output[frame] = Float(vg_sin64(2 * .pi * phase))
        phase += advance(frequency, cycle.pointee.rate)
        if phase >= 1 { phase -= 1 }
        frequency *= state.pointee.ratio
        index += 1
    }
    (state.pointee.phase, state.pointee.frequency, state.pointee.frame) = (phase, frequency, index)
    return false
}

/// White noise, evenly spread over -1..<1. Each sample is a function of seed, channel and frame alone (the mixing
/// step of SplitMix64: Steele, Lea, Flood, OOPSLA 2014). [audio]
@_noLocks
private func noise(
    _ seed: UInt64, _ channel: Int, from start: UInt64, _ output: UnsafeMutablePointer<Float>, _ frames: Int
) {
    let origin = scramble(seed &+ UInt64(channel) &* 0xD1B5_4A32_D192_ED03)
    for frame in 0..<frames {
        let bits = scramble(origin &+ (start &+ UInt64(frame) &+ 1) &* 0x9E37_79B9_7F4A_7C15)
        output[frame] = Float(Int64(bitPattern: bits) >> 40) * (1 / 8_388_608)
    }
}

@_noLocks
private func scramble(_ bits: UInt64) -> UInt64 {
    var z = bits
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
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
