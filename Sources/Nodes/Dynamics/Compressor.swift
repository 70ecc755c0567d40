// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Makes what is louder than a threshold quieter, all channels by the same gain.
///
/// The gain computer and the ballistics are those of D. Giannoulis, M. Massberg, J. D. Reiss, "Digital Dynamic Range
/// Compressor Design", JAES 60 (6), 2012: `GainComputer` and `Ballistics`.
final class Compressor: AudioNode {
    static let calls: NodeCalls = [.poll, .latency, .idle]
    static let descriptor = NodeDescriptor(
        "compressor", "makes loud parts quieter",
        doc: "All channels get the gain that the loudest of them asks for. A sine of 0 dBFS peak has a level of 0 dBFS "
            + "for the peak detector and of -3 dBFS for the RMS detector. Times are time constants: 63 % of the way. "
            + "With sidechain_channels it listens to the inputs of the bus sidechain and not to its own. The series leaves makeup out.",
        ports: layout(channels: 1, sideChain: 0).ports, parameters: Knob.all,
        settings: [channels, sideChain, detector, rms, lookAhead],
        series: .gainReduction, otherNames: ["comp", "drc"], flags: VG_IN_PLACE,
        process: { Compressor.process($0, $1, $2) })

    private static let channels = Key.channels()
    private static let sideChain = Key.integer(
        "sidechain_channels", "inputs that it listens to in place of its own; 0: none", default: 0, in: 0...64)
    private static let detector = Key.choice("detector", "what counts as the level", default: Detector.rms)
    private static let rms = Key.number(
        "rms_ms", "time constant of the mean square of the RMS detector", default: 10, in: 0...1000, unit: "ms")
    private static let lookAhead = Key.lookAhead(default: 0)

    private enum Detector: String, CaseIterable {
        case peak, rms
    }

    fileprivate enum Knob: Int, ParameterList {
        case threshold, ratio, knee, attack, release, makeup

        var parameter: Parameter {
            switch self {
            case .threshold:
                Parameter(
                    "threshold_db", "level above which it makes quieter", -80...0, default: -18, unit: "dB",
                    scale: VG_DECIBEL)
            case .ratio:
                Parameter(
                    "ratio", "decibels above the threshold for each of which one remains", 1...100, default: 4,
                    scale: VG_LOGARITHMIC)
            case .knee:
                Parameter(
                    "knee_db", "width of the bend around the threshold; 0 is a corner", 0...24, default: 6, unit: "dB")
            case .attack: Parameter("attack_ms", "time constant of getting quieter", 0...2000, default: 20, unit: "ms")
            case .release:
                Parameter("release_ms", "time constant of getting louder again", 0...5000, default: 100, unit: "ms")
            case .makeup:
                Parameter("makeup_db", "gain of the result", -60...60, default: 0, unit: "dB", scale: VG_DECIBEL)
            }
        }
    }

    struct Processor: BitwiseCopyable {
        var rate: Double
        var detector: LevelDetector
        /// The first input that is listened to.
        var key: Int
        var lookAhead: LookAhead
        var meter: ReductionMeter
        var gain: DynamicGain
        /// Linear.
        var makeup = 1.0
        // What the above was computed from; NaN, which equals nothing, at first.
        var threshold = Float.nan
        var ratio = Float.nan
        var knee = Float.nan
        var attack = Float.nan
        var release = Float.nan
        var makeupDB = Float.nan
    }

    let layout: Layout
    private let channels, sideChain: Int
    private let rms: Double?
    private let lookAhead: Double
    private let line = LookAheadMemory()
    private let gain = DynamicGainMemory()
    private let detector: LevelDetectorMemory
    private let reduction: ReductionPublisher

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        channels = try settings[Self.channels]
        sideChain = try settings[Self.sideChain]
        let averaging = try settings[Self.rms]
        rms = try settings[Self.detector] == .rms ? averaging : nil
        lookAhead = try settings[Self.lookAhead]
        layout = Self.layout(channels: channels, sideChain: sideChain)
        detector = LevelDetectorMemory(channels: sideChain > 0 ? sideChain : channels)
        reduction = ReductionPublisher(host: host, scale: .decibels)
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        let frames = Int(lookAhead * preparation.rate / 1000 + 0.5)
        return Processor(
            rate: preparation.rate, detector: detector.detector(rms: rms, rate: preparation.rate),
            key: sideChain > 0 ? channels : 0, lookAhead: line.make(channels: channels, frames: frames),
            meter: reduction.meter(rate: preparation.rate), gain: gain.gain())
    }

    func poll() { reduction.poll() }
    var latency: Int { line.frames }
    var isIdle: Bool { line.isEmpty }

    private static func layout(channels: Int, sideChain: Int) -> Layout {
        let main = Layout.through(channels: channels)
        let outputs = main.ports.count / 2
        let key = (0..<sideChain).map {
            Port(
                VG_AUDIO_PORT, VG_INPUT, sideChain == 1 ? "sidechain" : "sidechain_\($0 + 1)",
                doc: sideChain == 1 ? "what it listens to" : "what it listens to, channel \($0 + 1)", bus: "sidechain")
        }
        return Layout(ports: main.ports.prefix(outputs) + key + main.ports.suffix(outputs), parameters: Knob.all)
    }
}

extension Key where Value == Double {
    /// How far a processor hears ahead.
    static func lookAhead(default milliseconds: Double, in range: ClosedRange<Double> = 0...50) -> Key {
        .number(
            "lookahead_ms", "how early the gain begins to move; the sound is as much later", default: milliseconds,
            in: range, unit: "ms")
    }
}

/// Computes what follows from the parameters at a frame, where they have moved. [audio]
@_noLocks
private func tune(_ state: inout Compressor.Processor, _ block: borrowing Block, _ frame: Int) {
    let (threshold, ratio) = (block[Compressor.Knob.threshold][frame], block[Compressor.Knob.ratio][frame])
    let (knee, makeup) = (block[Compressor.Knob.knee][frame], block[Compressor.Knob.makeup][frame])
    let (attack, release) = (block[Compressor.Knob.attack][frame], block[Compressor.Knob.release][frame])
    if threshold != state.threshold || ratio != state.ratio || knee != state.knee {
        (state.threshold, state.ratio, state.knee) = (threshold, ratio, knee)
        state.gain.computer = GainComputer(
            threshold: threshold, ratio: ratio, knee: knee, squares: state.detector.squares != nil)
    }
    if attack != state.attack {
        state.attack = attack
        state.gain.ballistics.attack = smoothing(milliseconds: attack, rate: state.rate)
    }
    if release != state.release {
        state.release = release
        state.gain.ballistics.release = smoothing(milliseconds: release, rate: state.rate)
    }
    if makeup != state.makeupDB {
        state.makeupDB = makeup
        state.makeup = amplitude(Double(makeup))
    }
}

extension Compressor {
    @_noLocks
    static func process(_ state: inout Processor, _ block: borrowing Block) {
        let (frames, channels) = (block.frames, block.outputs.count)
        let wasEmpty = state.lookAhead.sounding == 0
        if wasEmpty, state.gain.ballistics.isResting, state.detector.isResting, block.isSilent(block.inputs) {
            block.silence()
            state.meter.feed(0, block: block)
            return
        }
        let moves = block.moves(parameters: 6)
        var start = 0
        while start < frames {
            let part = part(of: block, from: start, alone: moves)
            if start == 0 || moves { tune(&state, block, start) }
            state.detector.read(block, from: state.key, part, into: state.gain.levels)
            state.gain.follow(part.count, full: state.makeup, next: block.position &+ UInt64(part.upperBound))
            for channel in 0..<channels {
                let output = block.output(channel).part(part)
                state.lookAhead.pass(block.input(channel).part(part), channel, to: output)
                multiply(output, state.gain.gains)
            }
            state.lookAhead.advance(part.count)
            state.meter.feed(state.gain.decibels, part, of: block)
            start = part.upperBound
        }
        state.lookAhead.report()
        for channel in 0..<channels where wasEmpty && block.isSilent(channel) { block.markSilent(channel) }
    }
}
