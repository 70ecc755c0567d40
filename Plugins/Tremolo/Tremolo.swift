// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Moves the level up and down, `rate_hz` times a second: an example of a node in Swift.
///
/// A node has two halves. This class is the control half: ordinary Swift, never on the audio thread. It makes the state of
/// the other half, `Processor`, and `process` runs that for each block.
final class Tremolo: AudioNode {
    // All that the host knows of the node: it checks files against this, and prints it for `voicegraph describe`.
    static let descriptor = NodeDescriptor(
        "tremolo", "moves the level up and down",
        ports: Port.audio(VG_INPUT, channels: 1) + Port.audio(VG_OUTPUT, channels: 1),
        parameters: Knob.all, settings: [channels], flags: VG_IN_PLACE, process: { Tremolo.process($0, $1, $2) })

    private static let channels = Key.integer("channels", "audio channels", default: 1, in: 1...64)

    /// What may be turned while it plays.
    enum Knob: Int, ParameterList {
        case rate, depth

        var parameter: Parameter {
            switch self {
            case .rate: Parameter("rate_hz", "how often", 0.05...40, default: 5, unit: "Hz", scale: VG_LOGARITHMIC)
            case .depth: Parameter("depth", "how far down: 1 is silence", 0...1, default: 0.5)
            }
        }
    }

    /// What the audio thread needs, and nothing that counts references: the compiler refuses it otherwise.
    struct Processor: BitwiseCopyable {
        /// Where in its turn the level is, 0 to 1; kept here, so that it goes on over the block's end.
        var phase = 0.0
    }

    /// The ports of this very node; they may depend on the settings.
    let layout: Layout

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        let channels = try settings[Self.channels]
        layout = Layout(
            ports: Port.audio(VG_INPUT, channels: channels) + Port.audio(VG_OUTPUT, channels: channels),
            parameters: Knob.all)
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor { Processor() }

    /// The audio half. `@_noLocks` makes the compiler refuse whatever could wait or allocate.
    @_noLocks
    static func process(_ state: inout Processor, _ block: borrowing Block) {
        let rate = block[Knob.rate]
        let depth = block[Knob.depth]
        var phase = state.phase
        for channel in block.outputs {
            let input = block.input(channel)
            let output = block.output(channel)
            phase = state.phase
            for frame in 0..<block.frames {
                // Parameters are read frame by frame, because they may be on their way to a new value.
                let low = depth[frame] * 0.5
                output[frame] = input[frame] * (1 - low + low * vg_cos(Float(phase) * 2 * .pi))
                phase += Double(rate[frame]) / block.rate
                phase -= vg_floor64(phase)
            }
            // Silence in is silence out; who listens may then rest.
            if block.isSilent(channel) { block.markSilent(channel) }
        }
        state.phase = phase
    }
}

/// The one symbol that the host looks for. [control]
@c(vg_plugin_entry) public func pluginEntry(_ hostABI: UInt32) -> UnsafePointer<vg_plugin>? {
    exportPlugin(Tremolo.self, name: "tremolo", version: "1.0", license: "Apache-2.0", hostABI: hostABI)
}
