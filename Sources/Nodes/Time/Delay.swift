// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Synchronization

/// Delays its channels; only the delayed signal comes out. Infinite samples and NaN become 0.
///
/// Whole times in frames give every sample as it came, others are interpolated (see `LineReader`). A new time is
/// reached without a click and without losing what is in the line: by a fade from the old time to the new one, or by
/// gliding there.
///
/// It may close a feedback loop: there the host calls `process` before `absorb`, and what comes out can only be what
/// went in at least one block earlier. So a delay that is shorter than `maxBlock` lasts `maxBlock` frames in a loop,
/// and the log says so; and a time that is not whole has fewer neighbours to interpolate from where it is less than 16
/// frames longer than that. Nothing else depends on the block size.
final class Delay: LoopNode {
    static let calls: NodeCalls = [.idle, .settings]
    static let descriptor = NodeDescriptor(
        "delay", "delays its channels; may close a feedback loop",
        doc: """
            Give ms, or frames for a time that is exact at every rate. Only the delayed signal comes out: mix it with \
            the original for an echo. Times between two frames are interpolated (within 0.001 dB up to 0.42 of the \
            sample rate from 16 frames on; by polynomials below that). A change keeps what is in the line. In a feedback \
            loop it lasts at least one block.
            """,
        ports: Layout.through(channels: 1, output: "the input, delayed").ports,
        parameters: [timeParameter(longest: longestOfAll)],
        settings: [channels, frames, longest, change, bend], otherNames: ["latency"],
        process: { Delay.process($0, $1, $2) }, absorb: { Delay.absorb($0, $1, $2) })

    private static let channels = Key.channels()
    private static let frames = Key.integer(
        "frames", "how long, exact to the frame; instead of ms", in: 0...11_520_000, unit: "frames", live: true)
    private static let longest = Key.number(
        "longest_ms", "the longest time that ms can be turned to; 2000, or ms if that is more", in: 1...longestOfAll,
        unit: "ms")
    private static let change = Key.choice(
        "change", "fade: a new time fades in within 20 ms; glide: it is reached by playing faster or slower",
        default: Change.fade)
    private static let bend = Key.number(
        "bend", "how much faster or slower a glide may play: 0.5 is from half to 1.5 times", default: 0.5,
        in: 0.001...1)
    /// What the file sets the parameter to: there has to be room for it.
    private static let time = Key.number(
        "ms", "how long; at most longest_ms", default: usualTime, in: 0...longestOfAll, unit: "ms")
    private static let usualTime = 250.0
    private static let longestOfAll = 60_000.0

    private enum Change: String, CaseIterable {
        case fade, glide
    }

    private static func timeParameter(longest: Double) -> Parameter {
        Parameter(
            time.name, time.setting.doc, 0...Float(longest), default: Float(min(usualTime, longest)), unit: "ms")
    }

    /// A delay line: channel c has the frame at position p at `line[c * size + (p & mask)]`.
    struct Processor: BitwiseCopyable {
        var line: AudioArray<Float>
        var mask: UInt64
        /// Frames of one channel.
        var size: Int { @_noLocks get { Int(mask) + 1 } }
        /// The shortest delay in a feedback loop.
        var block: UInt64
        /// The position after the last frame taken in. None yet: no position is ever this far.
        var end = UInt64.max
        /// The position after the last block that was not all zeros, and whether there was one.
        var soundEnd: UInt64 = 0
        var heard = false
        /// Frames until nothing audible is left in the line, for the control half.
        var remaining: SharedCell<Atomic<Int>>
        /// The position after the last block that was audible, and whether there was one.
        var audibleEnd: UInt64 = 0
        var isAudible = false
        /// Whether the log has it that a loop is shorter than a block.
        var isShortTold = false
        var clock: DelayClock
        /// What is heard; and what it fades to, while `faded` is not 0.
        var tap, next: LineReader
        var sinc: AudioArray<Float>
        /// Frames of a fade that are over, and its weights.
        var faded = 0
        var fade: AudioArray<Float>
        /// For one channel of the second tap, as many samples.
        var scratch: AudioArray<Float>
        var glides: Bool
        var glide: Glide
        var hasBegun = false
        /// The time that is heard or faded to, in frames.
        var wanted = 0.0
        /// The oldest frame that this block reads, in frames before the current one.
        var reach = 0
        /// The delay of the newest sample that there is: 0, or `block` in a loop.
        var least = 0
    }

    let layout: Layout
    private let frames: SharedCount?
    private let longest: Double
    private let glides: Bool
    private let bend: Double
    private let remaining = SharedCount(count: 0)
    private var memory: AudioArrayMemory<Float>?

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        var layout = Layout.through(channels: try settings[Self.channels], output: "the input, delayed")
        let time = try settings[Self.time]
        longest = try settings[Self.longest] ?? max(2000, time)
        if let count = try settings[Self.frames] {
            if settings.gives(Self.time) {
                throw NodeError("has both ms and frames", hint: "give one of the two", key: Self.frames.name)
            }
            frames = SharedCount(count: count)
        } else {
            frames = nil
            layout.parameters = [Self.timeParameter(longest: longest)]
        }
        self.layout = layout
        glides = try settings[Self.change] == .glide
        bend = try settings[Self.bend]
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        let (rate, block) = (preparation.rate, preparation.maxBlock)
        let most = max(Int((longest * rate / 1000).rounded(.up)), frames?.count ?? 0)
        lineFrames = most
        let needed = max(most, block) + block + 2 * interpolationReach
        var size = 1
        while size < needed { size *= 2 }
        let channels = layout.ports.count / 2
        let fadeFrames = max(1, Int(0.02 * rate))
        // The lines, the weights and windows of two taps, the fade and its scratch.
        let (weights, window) = (2 * sincReach, LineReader.windowFrames)
        let count = size * channels + 2 * (weights + window) + 2 * fadeFrames
        let memory = AudioArrayMemory<Float>(repeating: 0, count: count)
        self.memory = memory
        var used = 0
        func next(_ count: Int) -> AudioArray<Float> {
            used += count
            return memory.array.part(used - count..<used)
        }
        let line = next(size * channels)
        let taps = (
            LineReader(weights: next(weights), window: next(window)),
            LineReader(weights: next(weights), window: next(window))
        )
        let fade = next(fadeFrames)
        for frame in 0..<fadeFrames {
            fade[frame] = Float(0.5 - 0.5 * cos(.pi * (Double(frame) + 1) / (Double(fadeFrames) + 1)))
        }
        remaining.count = 0
        return Processor(
            line: line, mask: UInt64(size - 1), block: UInt64(block), remaining: remaining.cell,
            clock: DelayClock(rate: rate, longest: Double(most), frames: frames?.cell),
            tap: taps.0, next: taps.1, sinc: sincTable.weights.array, fade: fade, scratch: next(fadeFrames),
            glides: glides, glide: Glide(rate: rate, bend: bend))
    }

    /// The longest time that there is room for, in frames.
    private var lineFrames = 0

    func set(_ setting: String, to value: SettingValue) throws(NodeError) {
        guard setting == Self.frames.name, let frames else {
            throw NodeError("'\(setting)' cannot be changed while it plays")
        }
        guard let wanted = try Self.frames.value(of: value), wanted <= lineFrames else {
            throw NodeError("the line holds \(lineFrames) frames", hint: "make longest_ms longer", key: setting)
        }
        frames.count = wanted
    }

    /// Not before the echo of the last sound has come out.
    var isIdle: Bool { remaining.count <= 0 }
}
