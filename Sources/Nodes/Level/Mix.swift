// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Adds several inputs of the same channel count, each with its own gain.
///
/// Input 1 is the main bus, so that `"a -> mix"` and `"b -> mix"` add up there; the others are side buses `in_2`,
/// `in_3`, ... Mono inputs are the ports `in_1`, `in_2`, ...; channel c of input n is `in_n_c` otherwise.
final class Mix: AudioNode {
    static let calls: NodeCalls = []
    static let descriptor = NodeDescriptor(
        "mix", "adds several inputs, each with its own gain",
        doc: "Links to the node itself add up in input 1; links to in_2, in_3, ... reach the other inputs.",
        ports: ports(inputs: 2, channels: 1), parameters: parameters(inputs: 2),
        settings: [inputs, channels], otherNames: ["mixer", "sum", "bus"], flags: VG_IN_PLACE,
        process: { Mix.process($0, $1, $2) })

    private static let inputs = Key.integer("inputs", "inputs that have a gain of their own", default: 2, in: 1...64)
    private static let channels = Key.channels("audio channels of each input and of the output")

    struct Processor: BitwiseCopyable {
        /// One per input; owned by the node.
        var gains: AudioArray<GainCache>
    }

    let layout: Layout
    private let gains: AudioArrayMemory<GainCache>

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        let inputs = try settings[Self.inputs]
        let channels = try settings[Self.channels]
        layout = Layout(
            ports: Self.ports(inputs: inputs, channels: channels), parameters: Self.parameters(inputs: inputs))
        gains = AudioArrayMemory(repeating: GainCache(), count: inputs)
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        Processor(gains: gains.array)
    }

    private static func ports(inputs: Int, channels: Int) -> [Port] {
        var ports: [Port] = []
        for input in 1...inputs {
            for channel in 1...channels {
                ports.append(
                    Port(
                        VG_AUDIO_PORT, VG_INPUT, channels == 1 ? "in_\(input)" : "in_\(input)_\(channel)",
                        doc: channels == 1 ? "input \(input)" : "input \(input), channel \(channel)",
                        bus: input == 1 ? nil : "in_\(input)"))
            }
        }
        return ports + Port.audio(VG_OUTPUT, channels: channels, doc: "the sum")
    }

    private static func parameters(inputs: Int) -> [Parameter] {
        (1...inputs).map { gainParameter("gain_\($0)_db", "gain of input \($0); -120 and below is silence") }
    }
}

extension Mix {
    @_noLocks
    static func process(_ state: inout Processor, _ block: borrowing Block) {
        let channels = block.outputs.count
        for channel in 0..<channels {
            let output = block.output(channel)
            var silent = true
            for input in 0..<state.gains.count {
                let port = input * channels + channel
                let gain = blockGain(block.parameter(input), &state.gains[input], block.frames)
                let hasNothing = gain.isZero || block.isSilent(port)
                if input == 0 {
                    // Input 1 goes first even when it has nothing: the output may be its buffer.
                    applyGain(gain, block.input(port), output)
                } else if !hasNothing {
                    addWithGain(gain, block.input(port), output)
                }
                if !hasNothing { silent = false }
            }
            if silent { block.markSilent(channel) }
        }
    }
}
