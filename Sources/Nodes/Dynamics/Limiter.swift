// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Keeps the true peak below a ceiling: what lies between the samples, not only the samples, as ITU-R BS.1770-4, annex 2,
/// estimates it at four times the rate. See `TruePeakDetector` and `PeakEnvelope`.
///
/// The gain that the estimate asks for is reached before the peak comes. It aims 0.15 dB below the ceiling, since a gain
/// that moves changes a little what lies between the samples, and meters differ by some hundredths of a decibel. Without
/// the estimate no sample is above the ceiling. Infinite samples and NaN become 0.
final class Limiter: AudioNode {
    static let calls: NodeCalls = [.poll, .latency, .idle]
    static let descriptor = NodeDescriptor(
        "limiter", "keeps the true peak below a ceiling",
        doc: "All channels get the gain that the loudest of them asks for. What stays 0.15 dB below the ceiling passes "
            + "unchanged. The sound is later by lookahead_ms and 35 frames; the host makes up for it. With "
            + "true_peak = false it looks at the samples alone, in half of the time, and is later by lookahead_ms less a frame.",
        ports: Layout.through(channels: 1).ports, parameters: Knob.all, settings: [channels, lookAhead, truePeak],
        series: .gainReduction, otherNames: ["limit", "maximizer"], flags: VG_IN_PLACE,
        process: { Limiter.process($0, $1, $2) })

    /// Frames of the shortest look-ahead: a gain that moves faster would make peaks of its own.
    private static let shortest = 16
    private static let channels = Key.channels()
    private static let lookAhead = Key.number(
        "lookahead_ms", "how early the gain begins to fall; at least 16 frames", default: 5, in: 0.1...50, unit: "ms")

    private static let truePeak = Key.flag(
        "true_peak", "whether what lies between the samples stays below the ceiling too", default: true)

    fileprivate enum Knob: Int, ParameterList {
        case ceiling, release

        var parameter: Parameter {
            switch self {
            case .ceiling:
                Parameter(
                    "ceiling_db", "true peak, in dBTP, or sample peak that is not exceeded", -40...0, default: -1,
                    unit: "dB",
                    scale: VG_DECIBEL)
            case .release:
                Parameter("release_ms", "time constant of getting louder again", 1...5000, default: 100, unit: "ms")
            }
        }
    }

    struct Processor: BitwiseCopyable {
        var rate: Double
        /// One a channel; owned by the node. nil: the samples alone count.
        var detectors: AudioArray<TruePeakDetector>?
        var envelope: PeakEnvelope
        var lookAhead: LookAhead
        var meter: ReductionMeter
        // Of a part; owned by the node.
        var clean, peaks, gains: AudioArray<Float>
        var reductions: AudioArray<Double>
        /// Linear, below the ceiling.
        var limit: Float = 1
        /// See `smoothing`.
        var release = 0.0
        // What the above was computed from; NaN, which equals nothing, at first.
        var ceilingDB = Float.nan
        var releaseMS = Float.nan
    }

    let layout: Layout
    private let channels: Int
    private let milliseconds: Double
    private let isTrue: Bool
    private let line = LookAheadMemory()
    private let clean = AudioArrayMemory<Float>(repeating: 0, count: partFrames)
    private let peaks = AudioArrayMemory<Float>(repeating: 0, count: partFrames)
    private let gains = AudioArrayMemory<Float>(repeating: 0, count: partFrames)
    private let reductions = AudioArrayMemory<Double>(repeating: 0, count: partFrames)
    private let reduction: ReductionPublisher
    private var detectors: TruePeakChannels?
    private var envelope: PeakEnvelopeMemory?

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        channels = try settings[Self.channels]
        milliseconds = try settings[Self.lookAhead]
        isTrue = try settings[Self.truePeak]
        layout = .through(channels: channels, parameters: Knob.all)
        reduction = ReductionPublisher(host: host, scale: .oneMinusGain)
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        let detectors = isTrue ? TruePeakChannels(channels: channels) : nil
        let envelope = PeakEnvelopeMemory(
            length: max(Self.shortest, Int(milliseconds * preparation.rate / 1000 + 0.5)),
            margin: isTrue ? TruePeakDetector.margin : 0)
        (self.detectors, self.envelope) = (detectors, envelope)
        let delay = isTrue ? TruePeakDetector.delay : 0
        return Processor(
            rate: preparation.rate, detectors: detectors.map { AudioArray($0.detectors, count: channels) },
            envelope: envelope.envelope(), lookAhead: line.make(channels: channels, frames: delay + envelope.delay),
            meter: reduction.meter(rate: preparation.rate), clean: clean.array, peaks: peaks.array, gains: gains.array,
            reductions: reductions.array)
    }

    func poll() { reduction.poll() }
    var latency: Int { line.frames }
    var isIdle: Bool { line.isEmpty }
}

/// Computes what follows from the parameters at a frame, where they have moved. [audio]
@_noLocks
private func tune(_ state: inout Limiter.Processor, _ block: borrowing Block, _ frame: Int) {
    let (ceiling, release) = (block[Limiter.Knob.ceiling][frame], block[Limiter.Knob.release][frame])
    if ceiling != state.ceilingDB {
        state.ceilingDB = ceiling
        // For samples alone only what rounding may add.
        state.limit = Float(amplitude(Double(ceiling) - (state.detectors == nil ? 1e-5 : 0.15)))
    }
    if release != state.releaseMS {
        state.releaseMS = release
        state.release = smoothing(milliseconds: release, rate: state.rate)
    }
}

extension Limiter {
    @_noLocks
    static func process(_ state: inout Processor, _ block: borrowing Block) {
        let (frames, channels) = (block.frames, block.outputs.count)
        let wasEmpty = state.lookAhead.sounding == 0
        // The line is longer than what the detectors look at, so they have nothing either.
        if wasEmpty, state.envelope.isResting, block.isSilent(0..<channels) {
            block.silence()
            state.meter.feed(0, block: block)
            return
        }
        let moves = block.moves(parameters: 2)
        tune(&state, block, 0)
        var start = 0
        while start < frames {
            let part = part(of: block, from: start, alone: false)
            // The lowest limit of the part: a parameter goes one way in it.
            if moves { tune(&state, block, part.upperBound - 1) }
            var limit = state.limit
            if moves {
                tune(&state, block, start)
                limit = min(limit, state.limit)
            }
            for index in 0..<part.count { state.peaks[index] = 0 }
            for channel in 0..<channels { take(&state, block, channel, part, limit) }
            state.lookAhead.advance(part.count)
            if follow(&state, block, part, moves: moves) {
                for channel in 0..<channels { multiply(block.output(channel).part(part), state.gains) }
            }
            state.meter.feed(state.reductions, part, of: block)
            start = part.upperBound
        }
        state.lookAhead.report()
        for channel in 0..<channels where wasEmpty && block.isSilent(channel) { block.markSilent(channel) }
    }
}

/// Delays a part of a channel and raises the peaks to its own. [audio]
@_noLocks
private func take(
    _ state: inout Limiter.Processor, _ block: borrowing Block, _ channel: Int, _ part: Range<Int>, _ limit: Float
) {
    let (clean, peaks, count) = (state.clean, state.peaks, part.count)
    let input = block.input(channel).part(part)
    for frame in 0..<count {
        let sample = input[frame]
        // Bounded, so that nothing that is computed from it is infinite.
        clean[frame] = abs(sample) < .infinity ? min(max(sample, -1e9), 1e9) : 0
    }
    if let detectors = state.detectors {
        detectors[channel].raise(peaks.pointer, by: clean.pointer, count: count, limit: limit)
    } else {
        for frame in 0..<count { peaks[frame] = max(peaks[frame], abs(clean[frame])) }
    }
    state.lookAhead.pass(clean.samples(0..<count).written, channel, to: block.output(channel).part(part))
}

/// Turns the peaks of a part into gains and what these take away; whether there is any that is not 1. [audio]
@_noLocks
private func follow(
    _ state: inout Limiter.Processor, _ block: borrowing Block, _ part: Range<Int>, moves: Bool
) -> Bool {
    var isAny = false
    for frame in part {
        if moves { tune(&state, block, frame) }
        let index = frame - part.lowerBound
        // 1 where there is no more than the limit.
        let needed = Double(state.limit) / Double(max(state.peaks[index], state.limit))
        let gain = state.envelope.next(needed, release: state.release)
        state.gains[index] = Float(gain)
        state.reductions[index] = 1 - gain
        if gain != 1 { isAny = true }
    }
    return isAny
}
