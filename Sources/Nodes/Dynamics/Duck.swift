// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Lowers what passes while something else is to be heard: music under an announcement.
///
/// Its gain moves between 0 dB and the depth, evenly in decibels with a raised cosine (no sudden change of slope), and
/// turns round at any time from where it is.
final class Duck: AudioNode {
    static let calls: NodeCalls = .poll
    static let descriptor = NodeDescriptor(
        "duck", "lowers what passes while something else sounds",
        doc: """
            It is down while a sample of the bus `key` reaches the threshold, or the control input `control` is above \
            0.5, as vad.speech is; then for the hold time. Link what is to be heard to `key`. Attack and release are \
            the times of the whole way. All channels move together.
            """,
        ports: layout(channels: 1, keys: 1).ports, parameters: Knob.all, settings: [channels, keys],
        series: .gainReduction, otherNames: ["ducker", "sidechain"], flags: VG_IN_PLACE,
        process: { Duck.process($0, $1, $2) })

    private static let channels = Key.channels()
    private static let keys = Key.integer("key_channels", "inputs that it listens to", default: 1, in: 0...64)

    fileprivate enum Knob: Int, ParameterList {
        case depth, threshold, attack, hold, release

        var parameter: Parameter {
            switch self {
            case .depth:
                Parameter(
                    "depth_db", "gain while something else sounds", -120...0, default: -15, unit: "dB",
                    scale: VG_DECIBEL)
            case .threshold:
                Parameter("threshold_db", "peak level of the key that lowers it", -100...0, default: -45, unit: "dB")
            case .attack: Parameter("attack_ms", "time until it is down", 1...5000, default: 80, unit: "ms")
            case .hold:
                Parameter(
                    "hold_ms", "how long it stays down after the last loud sample", 0...10000, default: 500, unit: "ms")
            case .release: Parameter("release_ms", "time until it is up again", 1...20000, default: 600, unit: "ms")
            }
        }
    }

    struct Processor: BitwiseCopyable {
        var rate: Double
        var channels: Int
        var keys: Int
        var meter: ReductionMeter
        /// 0: up, 1: down; how far on the way.
        var place = 0.0
        /// Frames until it may rise.
        var holding = 0
        // What follows from the place and the depth, and from which.
        var decibels = 0.0
        var gain: Float = 1
        var known = (place: 0.0, depth: Float.nan)
    }

    let layout: Layout
    private let channels, keys: Int
    private let reduction: ReductionPublisher

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        channels = try settings[Self.channels]
        keys = try settings[Self.keys]
        layout = Self.layout(channels: channels, keys: keys)
        reduction = ReductionPublisher(host: host, scale: .decibels)
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        Processor(
            rate: preparation.rate, channels: channels, keys: keys, meter: reduction.meter(rate: preparation.rate))
    }

    func poll() { reduction.poll() }

    private static func layout(channels: Int, keys: Int) -> Layout {
        var layout = Layout.through(channels: channels, parameters: Knob.all)
        let key = (0..<keys).map {
            Port(
                VG_AUDIO_PORT, VG_INPUT, keys == 1 ? "key" : "key_\($0 + 1)",
                doc: keys == 1 ? "what is to be heard" : "what is to be heard, channel \($0 + 1)", bus: "key")
        }
        let control = Port(VG_CONTROL_PORT, VG_INPUT, "control", doc: "above 0.5: it is down", bus: "key")
        layout.ports.insert(contentsOf: key + [control], at: channels)
        return layout
    }
}

extension Duck {
    @_noLocks
    static func process(_ state: inout Processor, _ block: borrowing Block) {
        let (frames, channels) = (block.frames, state.channels)
        let keys = channels..<channels + state.keys
        let isTold = block.control(0) > 0.5
        let hears = !block.isSilent(keys)
        if !isTold, !hears, state.place == 0 {
            // Up, and stays so.
            for channel in 0..<channels {
                block.pass(channel, to: channel)
            }
            state.holding = 0
            state.meter.feed(0, block: block)
            return
        }
        for frame in 0..<frames {
            var isDown = isTold
            if hears, !isDown {
                let threshold = amplitude(Double(block[Knob.threshold][frame]))
                for key in keys where Double(magnitude(block.input(key)[frame])) >= threshold { isDown = true }
            }
            if isDown {
                state.holding = Int(Double(block[Knob.hold][frame]) * state.rate / 1000 + 0.5)
            } else if state.holding > 0 {
                state.holding -= 1
                isDown = true
            }
            let time = Double(block[isDown ? Knob.attack : Knob.release][frame])
            let step = 1000 / (time * state.rate)
            state.place = isDown ? min(1, state.place + step) : max(0, state.place - step)
            let depth = block[Knob.depth][frame]
            if state.known != (state.place, depth) {
                state.known = (state.place, depth)
                state.decibels = Double(depth) * raisedCosine(state.place)
                state.gain = state.place == 0 ? 1 : Float(amplitude(state.decibels))
            }
            for channel in 0..<channels { block.output(channel)[frame] = block.input(channel)[frame] * state.gain }
            state.meter.feed(-state.decibels, next: block.position &+ UInt64(frame) &+ 1)
        }
        for channel in 0..<channels where block.isSilent(channel) { block.markSilent(channel) }
    }
}
