// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Makes one side of a stereo signal quieter; nothing goes from one side to the other, and nothing gets louder.
final class Balance: AudioNode {
    static let calls: NodeCalls = []
    static let descriptor = NodeDescriptor(
        "balance", "makes one side of a stereo signal quieter",
        doc: "The side that position points to, and both in the centre, pass unchanged; the other is multiplied by "
            + "1 - |position|.",
        ports: [
            Port(VG_AUDIO_PORT, VG_INPUT, "in_1", doc: "the left side"),
            Port(VG_AUDIO_PORT, VG_INPUT, "in_2", doc: "the right side"),
            Port(VG_AUDIO_PORT, VG_OUTPUT, "out_1", doc: "the left side, quieter to the right of the centre"),
            Port(VG_AUDIO_PORT, VG_OUTPUT, "out_2", doc: "the right side, quieter to the left of the centre"),
        ],
        parameters: Knob.all, flags: VG_IN_PLACE | VG_LIGHT, process: { Balance.process($0, $1, $2) })

    fileprivate enum Knob: Int, ParameterList {
        case position

        var parameter: Parameter {
            Parameter("position", "-1 is left only, 0 both, 1 right only", -1...1, default: 0)
        }
    }

    struct Processor: BitwiseCopyable {
        /// Where it is on the way from one position to another.
        var heard = CurvedValue()
    }

    init(settings: Settings, host: NodeHost) throws(NodeError) {}

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor { Processor() }
}

extension Balance {
    @_noLocks
    static func process(_ state: inout Processor, _ block: borrowing Block) {
        let frames = block.frames
        let ramp = block[Knob.position]
        let start = Double(ramp.value)
        let curve = state.heard.move(ramp, from: start, to: Double(ramp.target), frames)
        let moved = ramp.isSteady ? 0 : min(ramp.end, frames)
        for side in 0...1 {
            let input = block.input(side)
            let output = block.output(side)
            for frame in 0..<moved {
                let position = if let curve { Float(curve.value(frame)) } else { ramp[frame] }
                output[frame] = input[frame] * sideGain(side, position)
            }
            let gain = sideGain(side, ramp.target)
            for frame in moved..<frames { output[frame] = input[frame] * gain }
            if gain == 0, moved == 0 { output.clear() }  // also of NaN
            if block.isSilent(side) || (gain == 0 && moved == 0) { block.markSilent(side) }
        }
    }
}

/// What the left side (0) or the right one (1) is multiplied by. [audio]
@_noLocks
private func sideGain(_ side: Int, _ position: Float) -> Float {
    let away = side == 0 ? position : -position
    return away > 0 ? away < 1 ? 1 - away : 0 : 1
}
