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
        /// One a channel; owned by the node.
        var bands: AudioArray<BandSplit>
        /// What came out above, one a channel; owned by the node.
        var parts: AudioArray<SplitSample>
        /// Frames after which nothing of a filter without input is left that a Float could show.
        var settling: Int
        /// Frames since the last sample that was not 0.
        var quiet: Int
        var tuning = SplitTuning()
        var computer = GainComputer()
        var ballistics = Ballistics()
        /// The most decibels that are taken away.
        var most = 0.0
        // What the above was computed from; NaN, which equals nothing, at first.
        var frequency = Float.nan
        var threshold = Float.nan
        var ratio = Float.nan
        var attack = Float.nan
        var release = Float.nan
    }

    let layout: Layout
    private let isWide: Bool
    private let bands: AudioArrayMemory<BandSplit>
    private let parts: AudioArrayMemory<SplitSample>
    private let reduction: ReductionPublisher

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        let channels = try settings[Self.channels]
        isWide = try settings[Self.mode] == .wide
        layout = .through(channels: channels, parameters: Knob.all)
        bands = AudioArrayMemory(repeating: BandSplit(), count: channels)
        parts = AudioArrayMemory(repeating: SplitSample(low: 0, high: 0), count: channels)
        reduction = ReductionPublisher(host: host, scale: .decibels)
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        bands.fill(BandSplit())
        // A Butterworth filter of 1 kHz falls by 3800 dB in 0.1 s.
        let settling = Int(preparation.rate / 10)
        return Processor(
            rate: preparation.rate, isWide: isWide, meter: reduction.meter(rate: preparation.rate), bands: bands.array,
            parts: parts.array, settling: settling, quiet: settling)
    }

    func poll() { reduction.poll() }
}

/// Computes what follows from the parameters at a frame, where they have moved. [audio]
@_noLocks
private func tune(_ state: inout Deesser.Processor, _ block: borrowing Block, _ frame: Int) {
    let (frequency, threshold) = (block[Deesser.Knob.frequency][frame], block[Deesser.Knob.threshold][frame])
    let (ratio, range) = (block[Deesser.Knob.ratio][frame], block[Deesser.Knob.range][frame])
    let (attack, release) = (block[Deesser.Knob.attack][frame], block[Deesser.Knob.release][frame])
    state.most = Double(-range)
    if frequency != state.frequency {
        state.frequency = frequency
        state.tuning = SplitTuning(frequency: Double(frequency), rate: state.rate)
    }
    if threshold != state.threshold || ratio != state.ratio {
        (state.threshold, state.ratio) = (threshold, ratio)
        state.computer = GainComputer(threshold: threshold, ratio: ratio, knee: 0)
    }
    if attack != state.attack {
        state.attack = attack
        state.ballistics.attack = smoothing(milliseconds: attack, rate: state.rate)
    }
    if release != state.release {
        state.release = release
        state.ballistics.release = smoothing(milliseconds: release, rate: state.rate)
    }
}

extension Deesser {
    @_noLocks
    static func process(_ state: inout Processor, _ block: borrowing Block) {
        let (frames, channels) = (block.frames, block.outputs.count)
        let wasAtRest = state.quiet >= state.settling
        if wasAtRest, state.ballistics.isResting, block.isSilent(0..<channels) {
            block.silence()
            state.meter.feed(0, block: block)
            return
        }
        let moves = block.moves(parameters: 6)
        tune(&state, block, 0)
        for frame in 0..<frames {
            if moves { tune(&state, block, frame) }
            var level = 0.0
            state.quiet &+= 1
            for channel in 0..<channels {
                let sample = block.input(channel)[frame]
                if sample != 0 { state.quiet = 0 }
                // The filters would keep what is not a number.
                let number = sample.isFinite ? Double(sample) : 0
                let parts = state.bands[channel].split(number, state.tuning)
                state.parts[channel] = state.isWide ? SplitSample(low: 0, high: number) : parts
                level = max(level, min(abs(parts.high), 1000))
            }
            let reduction = state.ballistics.next(min(state.computer.reduction(level), state.most))
            let gain = reduction == 0 ? 1 : amplitude(-reduction)
            for channel in 0..<channels {
                block.output(channel)[frame] = Float(state.parts[channel].low + state.parts[channel].high * gain)
            }
            state.meter.feed(reduction, next: block.position &+ UInt64(frame) &+ 1)
            state.quiet = min(state.quiet, state.settling)
        }
        for channel in 0..<channels where block.isSilent(channel) && (wasAtRest || state.isWide) {
            block.markSilent(channel)
        }
    }
}
