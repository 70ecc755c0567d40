// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Makes its channels louder or quieter by `gain_db`. At -120 dB and below the output is exactly 0.
final class Gain: Node {
    static let calls: NodeCalls = []
    static let descriptor = NodeDescriptor(
        "gain", "louder or quieter",
        doc: "Multiplies every channel by gain_db. A change is a ramp that is even in decibels.",
        ports: Layout.through(channels: 1).ports, parameters: Knob.all, settings: [channels],
        otherNames: ["volume", "amplify", "amp"], flags: VG_IN_PLACE | VG_LIGHT, process: gainProcess)

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

@_noLocks
private func gainProcess(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let state = memory.assumingMemoryBound(to: Gain.Processor.self)
    let frames = cycle.frames
    let gain = blockGain(io[Gain.Knob.gain], &state.pointee.gain, frames)
    for channel in 0..<io.outputCount {
        applyGain(gain, io.input(channel), io.output(channel), frames)
        if gain.isZero || io.isSilent(input: channel) { io.markSilent(output: channel) }
    }
}
