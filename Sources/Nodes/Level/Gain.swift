// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Makes its channels louder or quieter by `gain_db`. At -120 dB and below the output is exactly 0.
final class Gain: AudioNode {
    static let calls: NodeCalls = []
    static let descriptor = NodeDescriptor(
        "gain", "louder or quieter",
        doc: "Multiplies every channel by gain_db. A change is a ramp that is even in decibels.",
        ports: Layout.through(channels: 1).ports, parameters: Knob.all, settings: [channels],
        otherNames: ["volume", "amplify", "amp"], flags: VG_IN_PLACE | VG_LIGHT,
        process: { Gain.process($0, $1, $2) })

    private static let channels = Key.channels()

    fileprivate enum Knob: Int, ParameterList {
        case gain

        var parameter: Parameter { gainParameter("gain_db", "gain of all channels; -120 and below is silence") }
    }

    struct Processor: BitwiseCopyable {
        var gain = GainCache()
    }

    let layout: Layout

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        layout = .through(channels: try settings[Self.channels], parameters: Knob.all)
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor { Processor() }
}

extension Gain {
    @_noLocks
    static func process(_ state: inout Processor, _ block: borrowing Block) {
        let gain = blockGain(block[Knob.gain], &state.gain, block.frames)
        for channel in block.outputs {
            applyGain(gain, block.input(channel), block.output(channel))
            if gain.isZero || block.isSilent(channel) { block.markSilent(channel) }
        }
    }
}
