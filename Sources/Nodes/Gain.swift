// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Makes its channels louder or quieter by `gain_db`.
final class Gain: Node {
    static let descriptor = NodeDescriptor(
        "gain", "louder or quieter",
        ports: Port.audio(VG_INPUT, channels: 1) + Port.audio(VG_OUTPUT, channels: 1),
        parameters: [Parameter("gain_db", "gain", -120...36, default: 0, unit: "dB", scale: VG_DECIBEL)],
        settings: [Setting("channels", VG_SET_INTEGER, "audio channels", default: "1", range: 1...64)],
        flags: VG_IN_PLACE, process: gainProcess)

    struct Processor: BitwiseCopyable {
        /// The linear gain of `decibels`, kept so that a steady gain costs no power function.
        var decibels: Float = 0
        var linear: Float = 1
    }

    let layout: Layout

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        let channels = settings.integer("channels") ?? 1
        layout = Layout(
            ports: Port.audio(VG_INPUT, channels: channels) + Port.audio(VG_OUTPUT, channels: channels),
            parameters: Self.descriptor.layout.parameters)
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor { Processor() }
}

@_noLocks
private func gainProcess(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let state = memory.assumingMemoryBound(to: Gain.Processor.self)
    let gain = io.parameter(0)
    if gain.target != state.pointee.decibels {
        state.pointee.decibels = gain.target
        state.pointee.linear = vg_linear(gain.target)
    }
    for channel in 0..<io.outputCount {
        let input = io.input(channel)
        let output = io.output(channel)
        if gain.isSteady {
            let linear = state.pointee.linear
            for frame in 0..<cycle.frames { output[frame] = input[frame] * linear }
        } else {
            for frame in 0..<cycle.frames { output[frame] = input[frame] * vg_linear(gain[frame: frame]) }
        }
        if io.isSilent(input: channel) { io.markSilent(output: channel) }
    }
}
