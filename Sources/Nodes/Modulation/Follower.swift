// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit

/// How loud its input is, as a control: one pole for the rise and one for the fall (Giannoulis, Massberg, Reiss: "Digital
/// Dynamic Range Compressor Design", JAES 60, 2012: smooth branching detector, without a hold).
///
/// A block's value is that after its last frame.
final class Follower: AudioNode {
    static let calls: NodeCalls = []
    static let descriptor = NodeDescriptor(
        "follower", "how loud its input is, as a control for other nodes",
        doc:
            "Gives offset + depth * level, where the level is linear (1 is full scale) or in dBFS, -120 at least. Link "
            + "its output to a parameter, and give offset and depth in the unit of that. attack and release are time "
            + "constants: after that time 63 % of a step are done; 0 is at once. Of several channels the loudest counts "
            + "(peak) or their mean power (rms). Infinite samples and NaN count as 0.",
        ports: ports(channels: 1), parameters: Knob.all, settings: [detector, window, scale, channels],
        process: { Follower.process($0, $1, $2) })

    private static let detector = Key.choice("detector", "what the level is", default: Detector.peak)
    private static let window = Key.number(
        "window", "time constant of the mean of rms", default: 10, in: 0.1...5000, unit: "ms")
    private static let scale = Key.choice("scale", "of the level", default: Scale.linear)
    private static let channels = Key.channels("audio channels in, measured together")

    private enum Detector: String, CaseIterable {
        case peak, rms
    }

    private enum Scale: String, CaseIterable {
        case linear, db
    }

    fileprivate enum Knob: Int, ParameterList {
        case attack, release, depth, offset

        var parameter: Parameter {
            switch self {
            case .attack: Parameter("attack", "time constant of the rise", 0...2000, default: 10, unit: "ms")
            case .release: Parameter("release", "time constant of the fall", 0...5000, default: 100, unit: "ms")
            case .depth: Parameter("depth", "what the level is multiplied by", -96000...96000, default: 1)
            case .offset: Parameter("offset", "what is added", -96000...96000, default: 0)
            }
        }
    }

    struct Processor: BitwiseCopyable {
        var isRMS: Bool
        var isDecibels: Bool
        /// What is left of the mean square after a frame.
        var meanKept: Double
        var mean = 0.0
        var level = 0.0
        var attack = SmoothingCache()
        var release = SmoothingCache()
    }

    let layout: Layout
    private let isRMS, isDecibels: Bool
    private let window: Double

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        isRMS = try settings[Self.detector] == .rms
        isDecibels = try settings[Self.scale] == .db
        window = try settings[Self.window]
        layout = Layout(ports: Self.ports(channels: try settings[Self.channels]), parameters: Knob.all)
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        Processor(
            isRMS: isRMS, isDecibels: isDecibels, meanKept: exp(-1000 / (window * preparation.rate)))
    }

    private static func ports(channels: Int) -> [Port] {
        Port.audio(VG_INPUT, channels: channels, doc: "what is measured")
            + [Port(VG_CONTROL_PORT, VG_OUTPUT, "level", doc: "offset + depth * level at the end of each block")]
    }
}

/// What is left after a frame of the way to go, kept for the last time constant. [audio]
struct SmoothingCache: BitwiseCopyable {
    /// NaN at first, which equals nothing.
    var milliseconds = Float.nan
    var kept = 0.0

    @_noLocks @inline(__always)
    mutating func kept(_ time: Float, _ rate: Double) -> Double {
        if time != milliseconds {
            milliseconds = time
            kept = time > 0 ? vg_exp64(-1000 / (Double(time) * rate)) : 0
        }
        return kept
    }
}

extension Follower {
    @_noLocks
    static func process(_ state: inout Processor, _ block: borrowing Block) {
        let (frames, rate) = (block.frames, block.rate)
        let attack = block[Knob.attack]
        let release = block[Knob.release]
        var (mean, level) = (state.mean, state.level)
        if !block.isSilent(block.inputs) || level != 0 || mean != 0 {
            for frame in 0..<frames {
                var now = loudness(block, frame, mean: state.isRMS)
                if state.isRMS {
                    mean = now + (mean - now) * state.meanKept
                    now = vg_root(mean)
                }
                let kept =
                    now > level
                    ? state.attack.kept(attack[frame], rate)
                    : state.release.kept(release[frame], rate)
                level = now + (level - now) * kept
            }
            // Too little to show, whatever comes next: it is over.
            if level < 1e-60, mean < 1e-120 { (level, mean) = (0, 0) }
            (state.level, state.mean) = (level, mean)
        }
        let shown = state.isDecibels ? level > 1e-6 ? 20 * Double(vg_log10(Float(level))) : -120 : level
        let (depth, offset) = (block[Knob.depth][frames], block[Knob.offset][frames])
        block.setControl(0, Float(Double(offset) + Double(depth) * shown))
    }
}

/// The largest magnitude of all channels, or the mean of their squares. [audio]
@_noLocks
private func loudness(_ block: borrowing Block, _ frame: Int, mean: Bool) -> Double {
    var (largest, sum) = (0.0, 0.0)
    for channel in block.inputs {
        let sample = finiteSample(block.input(channel)[frame])
        largest = max(largest, sample.magnitude)
        sum += sample * sample
    }
    return mean ? sum / Double(block.inputs.count) : largest
}
