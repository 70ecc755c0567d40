// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// A low frequency oscillator: moves whatever its output is linked to.
///
/// A block's value is that at the block's end, which is the beginning of the next. The phase is a whole number of 2^64ths of
/// a cycle, so that it is the same however time is cut into blocks.
final class LFO: AudioNode {
    static let calls: NodeCalls = []
    static let descriptor = NodeDescriptor(
        "lfo", "moves a parameter up and down: sine, triangle, saw, square, random",
        doc: "Gives offset + depth * wave, where the wave goes from -1 to 1. Link its output to a parameter, and give "
            + "offset and depth in the unit of that. With beats, a cycle lasts that many beats of the transport while "
            + "its tempo is known, and begins with the beats while it rolls.",
        ports: [Port(VG_CONTROL_PORT, VG_OUTPUT, "out", doc: "the value at the end of each block")],
        parameters: Knob.all, settings: [wave, beats, seed], process: { LFO.process($0, $1, $2) })

    private static let wave = Key.choice("wave", "the form of a cycle", default: Wave.sine)
    private static let beats = Key.number(
        "beats", "beats of the transport that a cycle lasts; 0: it follows rate", default: 0, in: 0...1024)
    private static let seed = Key.integer("seed", "of random: another seed, other values", default: 1)

    /// Sine and triangle begin at 0 and rise, saw rises from -1 to 1, square begins at 1, random has a new value each
    /// cycle.
    enum Wave: String, CaseIterable, BitwiseCopyable {
        case sine, triangle, saw, square, random
    }

    fileprivate enum Knob: Int, ParameterList {
        case rate, depth, offset, phase

        var parameter: Parameter {
            switch self {
            case .rate:
                Parameter("rate", "cycles a second", 0.001...100, default: 1, unit: "Hz", scale: VG_LOGARITHMIC)
            case .depth: Parameter("depth", "how far it moves to each side of offset", -96000...96000, default: 1)
            case .offset: Parameter("offset", "the middle", -96000...96000, default: 0)
            case .phase: Parameter("phase", "how far ahead in its cycle it is", 0...360, default: 0, unit: "degrees")
            }
        }
    }

    struct Processor: BitwiseCopyable {
        var wave: Wave
        var beats: Double
        var seed: UInt64
        var time = CycleTime()
    }

    private let wave: Wave
    private let beats: Double
    private let seed: Int

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        wave = try settings[Self.wave]
        beats = try settings[Self.beats]
        seed = try settings[Self.seed]
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        Processor(wave: wave, beats: beats, seed: UInt64(bitPattern: Int64(seed)))
    }
}

/// Cycles since the start: whole ones, and 2^64ths of one.
struct CycleTime: BitwiseCopyable {
    var turns: UInt64 = 0
    var part: UInt64 = 0

    /// Goes on by `step` 2^64ths of a cycle, `count` times. [audio]
    @_noLocks
    mutating func advance(_ step: UInt64, times count: Int) {
        let way = step.multipliedFullWidth(by: UInt64(truncatingIfNeeded: count))
        let sum = part.addingReportingOverflow(way.low)
        part = sum.partialValue
        turns = turns &+ way.high &+ (sum.overflow ? 1 : 0)
    }

    /// The 2^64ths in a part of a cycle from 0 to 1; 0 for anything else. [audio]
    @_noLocks
    static func units(_ part: Double) -> UInt64 {
        part > 0 && part < 1 ? UInt64(part * 18_446_744_073_709_551_616) : 0
    }
}

extension LFO {
    @_noLocks
    static func process(_ state: inout Processor, _ block: borrowing Block) {
        let frames = block.frames
        let (beats, transport) = (state.beats, block.transport)
        if beats > 0, transport.bpm > 0 {
            let perFrame = transport.bpm / 60 / block.rate / beats
            if transport.rolling {
                let turns = transport.beat / beats + perFrame * Double(frames)
                let whole = vg_floor64(turns)
                state.time.part = CycleTime.units(turns - whole)
                state.time.turns = whole > 0 && whole < 1e18 ? UInt64(whole) : 0
            } else {
                state.time.advance(CycleTime.units(perFrame), times: frames)
            }
        } else {
            let rate = block[Knob.rate]
            let moved = rate.isSteady ? 0 : min(rate.end, frames)
            for frame in 0..<moved {
                state.time.advance(CycleTime.units(Double(rate[frame]) / block.rate), times: 1)
            }
            let step = CycleTime.units(Double(rate.target) / block.rate)
            state.time.advance(step, times: frames - moved)
        }
        var time = state.time
        let ahead = Double(block[Knob.phase][frames]) / 360
        time.advance(CycleTime.units(ahead - vg_floor64(ahead)), times: 1)
        let value = sample(state.wave, time, state.seed)
        let (depth, offset) = (block[Knob.depth][frames], block[Knob.offset][frames])
        block.setControl(0, Float(Double(offset) + Double(depth) * value))
    }
}

/// From -1 to 1. [audio]
@_noLocks
private func sample(_ wave: LFO.Wave, _ time: CycleTime, _ seed: UInt64) -> Double {
    let phase = Double(time.part >> 11) * (1 / 9_007_199_254_740_992)  // 2^-53: exact
    switch wave {
    case .sine: return vg_sin64(2 * .pi * phase)
    case .triangle: return phase < 0.25 ? 4 * phase : phase < 0.75 ? 2 - 4 * phase : 4 * phase - 4
    case .saw: return 2 * phase - 1
    case .square: return phase < 0.5 ? 1 : -1
    case .random:
        // One number for each turn, by the mixing step of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
        var z = seed &+ (time.turns &+ 1) &* 0x9E37_79B9_7F4A_7C15
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return Double(Int64(bitPattern: z ^ (z >> 31)) >> 11) * (1 / 4_503_599_627_370_496)
    }
}
