// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Makes hissing consonants quieter: a compressor that hears only what lies above a frequency.
///
/// Split, it makes only that band quieter, and the sum of both bands has the phase of an all-pass filter of second order.
/// Wide, it makes the whole signal quieter, and changes nothing while there is nothing to do. Formulas: `BandSplit`,
/// `GainComputer`, `Ballistics`.
final class Deesser: AudioNode {
    static let calls: NodeCalls = .poll
    static let descriptor = NodeDescriptor(
        "deesser", "makes hissing consonants quieter",
        doc: "All channels get the gain that the loudest of them asks for, by the peaks of what lies above frequency. "
            + "Times are time constants: 63 % of the way.",
        ports: Layout.through(channels: 1).ports, parameters: Knob.all, settings: [channels, mode],
        series: .gainReduction, flags: VG_IN_PLACE, process: { Deesser.process($0, $1, $2) })

    private static let channels = Key.channels()
    private static let mode = Key.choice(
        "mode", "what is made quieter: the band above frequency (split) or everything (wide)", default: Mode.split)

    private enum Mode: String, CaseIterable {
        case split, wide
    }

    fileprivate enum Knob: Int, ParameterList {
        case frequency, threshold, ratio, range, attack, release

        var parameter: Parameter {
            switch self {
            case .frequency:
                Parameter(
                    "frequency", "where the band begins; at most 0.45 of the rate is used", 1000...20000, default: 6000,
                    unit: "Hz", scale: VG_LOGARITHMIC)
            case .threshold:
                Parameter(
                    "threshold_db", "peak level of the band above which it works", -80...0, default: -30, unit: "dB",
                    scale: VG_DECIBEL)
            case .ratio:
                Parameter(
                    "ratio", "decibels above the threshold for each of which one remains", 1...100, default: 4,
                    scale: VG_LOGARITHMIC)
            case .range:
                Parameter("range_db", "gain at which it stops to get quieter", -60...0, default: -12, unit: "dB")
            case .attack: Parameter("attack_ms", "time constant of getting quieter", 0...500, default: 1, unit: "ms")
            case .release:
                Parameter("release_ms", "time constant of getting louder again", 0...2000, default: 50, unit: "ms")
            }
        }
    }

    struct Processor: BitwiseCopyable {
        var rate: Double
        var isWide: Bool
        var meter: ReductionMeter
        var bands: BandSplit
        /// Of a part, channel after channel: all of it, and what lies above; owned by the node.
        var whole, high: AudioArray<Float>
        /// Frames after which nothing of a filter without input is left that a Float could show.
        var settling: Int
        /// Frames since the last sample that was not 0.
        var quiet: Int
        var gain: DynamicGain
        // What the above was computed from; NaN, which equals nothing, at first.
        var frequency = Float.nan
        var threshold = Float.nan
        var ratio = Float.nan
        var range = Float.nan
        var attack = Float.nan
        var release = Float.nan
    }

    let layout: Layout
    private let isWide: Bool
    private let states: AudioArrayMemory<Double>
    private let whole, high: AudioArrayMemory<Float>
    private let gain = DynamicGainMemory()
    private let reduction: ReductionPublisher

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        let channels = try settings[Self.channels]
        isWide = try settings[Self.mode] == .wide
        layout = .through(channels: channels, parameters: Knob.all)
        states = AudioArrayMemory(repeating: 0, count: BandSplit.size(channels: channels))
        whole = AudioArrayMemory(repeating: 0, count: channels * partFrames)
        high = AudioArrayMemory(repeating: 0, count: channels * partFrames)
        reduction = ReductionPublisher(host: host, scale: .decibels)
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        states.fill(0)
        // A Butterworth filter of 1 kHz falls by 3800 dB in 0.1 s.
        let settling = Int(preparation.rate / 10)
        return Processor(
            rate: preparation.rate, isWide: isWide, meter: reduction.meter(rate: preparation.rate),
            bands: BandSplit(states: states.array), whole: whole.array, high: high.array, settling: settling,
            quiet: settling, gain: gain.gain())
    }

    func poll() { reduction.poll() }
}

/// Computes what follows from the parameters at a frame, where they have moved. [audio]
@_noLocks
private func tune(_ state: inout Deesser.Processor, _ block: borrowing Block, _ frame: Int) {
    let (frequency, threshold) = (block[Deesser.Knob.frequency][frame], block[Deesser.Knob.threshold][frame])
    let (ratio, range) = (block[Deesser.Knob.ratio][frame], block[Deesser.Knob.range][frame])
    let (attack, release) = (block[Deesser.Knob.attack][frame], block[Deesser.Knob.release][frame])
    if frequency != state.frequency {
        state.frequency = frequency
        state.bands.tune(frequency: Double(frequency), rate: state.rate, whole: state.isWide)
    }
    if threshold != state.threshold || ratio != state.ratio || range != state.range {
        (state.threshold, state.ratio, state.range) = (threshold, ratio, range)
        state.gain.computer = GainComputer(threshold: threshold, ratio: ratio, knee: 0, most: -range)
    }
    if attack != state.attack {
        state.attack = attack
        state.gain.ballistics.attack = smoothing(milliseconds: attack, rate: state.rate)
    }
    if release != state.release {
        state.release = release
        state.gain.ballistics.release = smoothing(milliseconds: release, rate: state.rate)
    }
}

extension Deesser {
    @_noLocks
    static func process(_ state: inout Processor, _ block: borrowing Block) {
        let (frames, channels) = (block.frames, block.outputs.count)
        let wasAtRest = state.quiet >= state.settling
        if wasAtRest, state.gain.ballistics.isResting, block.isSilent(0..<channels) {
            block.silence()
            state.meter.feed(0, block: block)
            return
        }
        let moves = block.moves(parameters: 6)
        var start = 0
        while start < frames {
            let part = part(of: block, from: start, alone: moves)
            if start == 0 || moves { tune(&state, block, start) }
            var lastSound = 0
            var channel = 0
            while channel < channels {
                lastSound = max(lastSound, split(&state, block, channel, min(channel + 1, channels - 1), part))
                channel += 2
            }
            state.quiet = min(lastSound > 0 ? part.count - lastSound : state.quiet + part.count, state.settling)
            state.gain.follow(part.count, full: 1, next: block.position &+ UInt64(part.upperBound))
            let gains = state.gain.gains
            for channel in 0..<channels {
                let output = block.output(channel).part(part)
                let place = channel * partFrames
                let whole = state.whole.part(place..<place + partFrames)
                if state.isWide {
                    for frame in 0..<output.count { output[frame] = whole[frame] * gains[frame] }
                } else {
                    let high = state.high.part(place..<place + partFrames)
                    for frame in 0..<output.count { output[frame] = whole[frame] + high[frame] * (gains[frame] - 1) }
                }
            }
            state.meter.feed(state.gain.decibels, part, of: block)
            start = part.upperBound
        }
        for channel in 0..<channels where block.isSilent(channel) && (wasAtRest || state.isWide) {
            block.markSilent(channel)
        }
    }
}

/// Splits a part of two channels, which may be the same, and raises the levels to theirs; how many frames there are up to the
/// last sample that is not 0. [audio]
@_noLocks
private func split(
    _ state: inout Deesser.Processor, _ block: borrowing Block, _ one: Int, _ two: Int, _ part: Range<Int>
) -> Int {
    let (whole, high, levels) = (state.whole, state.high, state.gain.levels)
    var last = 0
    for channel in one...two {
        let input = block.input(channel).part(part)
        whole.samples(channel * partFrames..<channel * partFrames + part.count).copy(input)
        var end = part.count
        while end > last, input[end - 1] == 0 { end -= 1 }
        last = end
    }
    state.bands.split(whole, high, channel: one, other: two, stride: partFrames, count: part.count)
    for channel in one...two {
        let above = high.part(channel * partFrames..<channel * partFrames + part.count)
        for frame in 0..<part.count {
            let level = magnitude(above[frame])
            levels[frame] = channel == 0 ? level : max(levels[frame], level)
        }
    }
    return last
}
