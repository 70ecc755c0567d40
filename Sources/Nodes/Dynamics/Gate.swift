// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Lets through what is louder than a threshold, and makes quieter what is not.
///
/// It opens when the magnitude of a sample of any channel reaches the threshold. It stays open while magnitudes reach
/// the threshold less the hysteresis, and for the hold time after the last one that did. The linear gain goes to its new
/// value exponentially (U. Zölzer, "DAFX", 2nd edition, 2011, section 4.2: noise gate).
final class Gate: AudioNode {
    static let calls: NodeCalls = .poll
    static let descriptor = NodeDescriptor(
        "gate", "silences what is quieter than a threshold",
        doc: "All channels open and close together, by the magnitude of their samples. hold_ms should be longer than "
            + "half a period of the lowest sound: a sine is quiet at every zero. Attack and release are time constants: "
            + "63 % of the way.",
        ports: Layout.through(channels: 1).ports, parameters: Knob.all, settings: [channels],
        series: .gainReduction, otherNames: ["noisegate", "noise-gate"], flags: VG_IN_PLACE,
        process: { Gate.process($0, $1, $2) })

    private static let channels = Key.channels()

    fileprivate enum Knob: Int, ParameterList {
        case threshold, hysteresis, attack, hold, release, range

        var parameter: Parameter {
            switch self {
            case .threshold:
                Parameter(
                    "threshold_db", "peak level that opens it", -100...0, default: -45, unit: "dB", scale: VG_DECIBEL)
            case .hysteresis:
                Parameter(
                    "hysteresis_db", "how far below the threshold the level must fall until it closes", 0...40,
                    default: 6, unit: "dB")
            case .attack: Parameter("attack_ms", "time constant of opening", 0...2000, default: 1, unit: "ms")
            case .hold:
                Parameter(
                    "hold_ms", "how long it stays open after the last loud sample", 0...5000, default: 100, unit: "ms")
            case .release: Parameter("release_ms", "time constant of closing", 0...5000, default: 100, unit: "ms")
            case .range:
                Parameter(
                    "range_db", "gain while it is closed; -120 is silence", closedDB...0, default: -60, unit: "dB",
                    scale: VG_DECIBEL)
            }
        }
    }

    struct Processor: BitwiseCopyable {
        var rate: Double
        var meter: ReductionMeter
        /// Of a part; owned by the node.
        var levels: AudioArray<Float>
        var gains: AudioArray<Float>
        var closed: AudioArray<Double>
        var isOpen = false
        /// Frames until it may close.
        var holding = 0
        /// Linear; NaN before the first frame.
        var gain = Double.nan
        // What follows from the parameters: linear levels, see `smoothing`, frames, linear gain.
        var opening = 1.0
        var closing = 1.0
        var rising = 0.0
        var falling = 0.0
        var hold = 0
        var floor = 1.0
        // What that was computed from; NaN, which equals nothing, at first.
        var threshold = Float.nan
        var hysteresis = Float.nan
        var attack = Float.nan
        var release = Float.nan
        var range = Float.nan
    }

    let layout: Layout
    private let reduction: ReductionPublisher
    private let levels = AudioArrayMemory<Float>(repeating: 0, count: partFrames)
    private let gains = AudioArrayMemory<Float>(repeating: 0, count: partFrames)
    private let closed = AudioArrayMemory<Double>(repeating: 0, count: partFrames)

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        layout = .through(channels: try settings[Self.channels], parameters: Knob.all)
        reduction = ReductionPublisher(host: host, scale: .oneMinusGain)
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        Processor(
            rate: preparation.rate, meter: reduction.meter(rate: preparation.rate), levels: levels.array,
            gains: gains.array, closed: closed.array)
    }

    func poll() { reduction.poll() }
}

/// At this range a closed gate is silent.
private let closedDB: Float = -120

/// Computes what follows from the parameters at a frame, where they have moved. [audio]
@_noLocks
private func tune(_ state: inout Gate.Processor, _ block: borrowing Block, _ frame: Int) {
    let (threshold, hysteresis) = (block[Gate.Knob.threshold][frame], block[Gate.Knob.hysteresis][frame])
    let (attack, release) = (block[Gate.Knob.attack][frame], block[Gate.Knob.release][frame])
    let range = block[Gate.Knob.range][frame]
    state.hold = Int(Double(block[Gate.Knob.hold][frame]) * state.rate / 1000 + 0.5)
    if threshold != state.threshold || hysteresis != state.hysteresis {
        (state.threshold, state.hysteresis) = (threshold, hysteresis)
        state.opening = amplitude(Double(threshold))
        state.closing = amplitude(Double(threshold) - Double(hysteresis))
    }
    if attack != state.attack {
        state.attack = attack
        state.rising = smoothing(milliseconds: attack, rate: state.rate)
    }
    if release != state.release {
        state.release = release
        state.falling = smoothing(milliseconds: release, rate: state.rate)
    }
    if range != state.range {
        state.range = range
        state.floor = range <= closedDB ? 0 : amplitude(Double(range))
    }
    if state.gain.isNaN { state.gain = state.floor }
}

extension Gate {
    @_noLocks
    static func process(_ state: inout Processor, _ block: borrowing Block) {
        let (frames, channels) = (block.frames, block.outputs.count)
        let moves = block.moves(parameters: 6)
        tune(&state, block, 0)
        if block.isSilent(0..<channels), !moves, !state.isOpen, state.gain == state.floor {
            block.silence()
            state.meter.feed(1 - state.gain, block: block)
            return
        }
        var isZero = true
        var start = 0
        while start < frames {
            let part = part(of: block, from: start, alone: moves)
            if moves { tune(&state, block, start) }
            magnitudes(block, 0..<channels, part, into: state.levels)
            let steady = steadyGain(&state, part.count)
            if let steady {
                state.meter.feed(1 - state.gain, part, of: block)
                if steady != 0 { isZero = false }
            } else {
                for index in 0..<part.count {
                    follow(&state, Double(state.levels[index]))
                    state.gains[index] = Float(state.gain)
                    state.closed[index] = 1 - state.gain
                    if state.gains[index] != 0 { isZero = false }
                }
                state.meter.feed(state.closed, part, of: block)
            }
            for channel in 0..<channels {
                pass(block.input(channel).part(part), block.output(channel).part(part), steady, state.gains)
            }
            start = part.upperBound
        }
        for channel in 0..<channels where isZero || block.isSilent(channel) { block.markSilent(channel) }
    }
}

/// The gain that all of the next frames have, if it is known without looking at each; they are over then. [audio]
@_noLocks @inline(__always)
private func steadyGain(_ state: inout Gate.Processor, _ count: Int) -> Float? {
    if state.isOpen {
        // Open all the way, and held for as long.
        guard state.gain == 1, state.holding >= count, state.hold >= count else { return nil }
        var last = count
        while last > 0, Double(state.levels[last - 1]) < state.closing { last -= 1 }
        state.holding = last > 0 ? state.hold - (count - last) : state.holding - count
        return 1
    }
    guard state.gain == state.floor, state.holding == 0 else { return nil }
    var loudest: Float = 0
    for index in 0..<count { loudest = max(loudest, state.levels[index]) }
    return Double(loudest) < state.opening ? Float(state.floor) : nil
}

/// Samples with one gain, or with one for each. The two may be the same buffer. [audio]
@_noLocks @inline(__always)
private func pass(
    _ input: borrowing InputSamples, _ output: borrowing OutputSamples, _ steady: Float?, _ gains: AudioArray<Float>
) {
    guard let steady else {
        // Not NaN times 0.
        for frame in 0..<output.count { output[frame] = gains[frame] == 0 ? 0 : input[frame] * gains[frame] }
        return
    }
    if steady == 1 { return output.copy(input) }
    if steady == 0 { return output.clear() }
    for frame in 0..<output.count { output[frame] = input[frame] * steady }
}

/// One frame with this level. [audio]
@_noLocks @inline(__always)
private func follow(_ state: inout Gate.Processor, _ level: Double) {
    if level >= state.opening || (state.isOpen && level >= state.closing) {
        state.isOpen = true
        state.holding = state.hold
    } else if state.holding > 0 {
        state.holding -= 1
    } else {
        state.isOpen = false
    }
    let goal = state.isOpen ? 1 : state.floor
    // What it would compute anyway; so a frame need not wait for the one before.
    if state.gain == goal { return }
    let distance = (state.gain - goal) * (goal > state.gain ? state.rising : state.falling)
    // At last exactly there, so that an open gate changes nothing and a closed one is silent.
    state.gain = abs(distance) < 1e-6 ? goal : goal + distance
}
