// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Keeps the true peak below a ceiling: what lies between the samples, not only the samples, as ITU-R BS.1770-4, annex 2,
/// estimates it at four times the rate. See `TruePeakDetector` and `PeakEnvelope`.
///
/// The gain that the estimate asks for is reached before the peak comes. It aims 0.15 dB below the ceiling, since a gain
/// that moves changes a little what lies between the samples, and meters differ by some hundredths of a decibel. Infinite
/// samples and NaN become 0.
final class Limiter: AudioNode {
    static let calls: NodeCalls = [.poll, .latency, .idle]
    static let descriptor = NodeDescriptor(
        "limiter", "keeps the true peak below a ceiling",
        doc: "All channels get the gain that the loudest of them asks for. What stays 0.15 dB below the ceiling passes "
            + "unchanged. The sound is later by lookahead_ms and 35 frames; the host makes up for it.",
        ports: Layout.through(channels: 1).ports, parameters: Knob.all, settings: [channels, lookAhead],
        series: .gainReduction, otherNames: ["limit", "maximizer"], flags: VG_IN_PLACE,
        process: { Limiter.process($0, $1, $2) })

    /// Frames of the shortest look-ahead: a gain that moves faster would make peaks of its own.
    private static let shortest = 16
    private static let channels = Key.channels()
    private static let lookAhead = Key.number(
        "lookahead_ms", "how early the gain begins to fall; at least 16 frames", default: 5, in: 0.1...50, unit: "ms")

    fileprivate enum Knob: Int, ParameterList {
        case ceiling, release

        var parameter: Parameter {
            switch self {
            case .ceiling:
                Parameter(
                    "ceiling_db", "true peak that is not exceeded, in dBTP", -40...0, default: -1, unit: "dB",
                    scale: VG_DECIBEL)
            case .release:
                Parameter("release_ms", "time constant of getting louder again", 1...5000, default: 100, unit: "ms")
            }
        }
    }

    struct Processor: BitwiseCopyable {
        var rate: Double
        /// One a channel; owned by the node.
        var peaks: AudioArray<TruePeakDetector>
        var envelope: PeakEnvelope
        var lookAhead: LookAhead
        var meter: ReductionMeter
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
    private let line = LookAheadMemory()
    private let reduction: ReductionPublisher
    private var peaks: TruePeakChannels?
    private var envelope: PeakEnvelopeMemory?

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        channels = try settings[Self.channels]
        milliseconds = try settings[Self.lookAhead]
        layout = .through(channels: channels, parameters: Knob.all)
        reduction = ReductionPublisher(host: host, scale: .oneMinusGain)
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        let peaks = TruePeakChannels(channels: channels)
        let envelope = PeakEnvelopeMemory(length: max(Self.shortest, Int(milliseconds * preparation.rate / 1000 + 0.5)))
        (self.peaks, self.envelope) = (peaks, envelope)
        return Processor(
            rate: preparation.rate, peaks: AudioArray(peaks.detectors, count: channels), envelope: envelope.envelope(),
            lookAhead: line.make(channels: channels, frames: TruePeakDetector.delay + envelope.delay),
            meter: reduction.meter(rate: preparation.rate))
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
        state.limit = Float(amplitude(Double(ceiling) - 0.15))
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
        for frame in 0..<frames {
            if moves { tune(&state, block, frame) }
            var peak: Float = 0
            for channel in 0..<channels {
                let sample = block.input(channel)[frame]
                // Bounded, so that nothing that is computed from it is infinite.
                let number = sample.isFinite ? min(max(sample, -1e9), 1e9) : 0
                peak = max(peak, state.peaks[channel].next(number, limit: state.limit))
                block.output(channel)[frame] = state.lookAhead.pass(number, channel)
            }
            state.lookAhead.advance()
            let needed = peak > state.limit ? Double(state.limit) / Double(peak) : 1
            let gain = state.envelope.next(needed, release: state.release)
            if gain != 1 {
                for channel in 0..<channels { block.output(channel)[frame] *= Float(gain) }
            }
            state.meter.feed(1 - gain, next: block.position &+ UInt64(frame) &+ 1)
        }
        state.lookAhead.report()
        for channel in 0..<channels where wasEmpty && block.isSilent(channel) { block.markSilent(channel) }
    }
}
