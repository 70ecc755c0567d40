// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Places a mono signal between left and right with constant power: left = cos a, right = sin a, with a from 0 to
/// pi / 2; 3 dB down on both sides in the centre, exactly 0 on the far side at the ends.
final class Pan: Node {
    static let calls: NodeCalls = []
    static let descriptor = NodeDescriptor(
        "pan", "places a mono signal between left and right",
        doc: "Constant power: each side is 3 dB down in the centre.",
        ports: [
            Port(VG_AUDIO_PORT, VG_INPUT, "in", doc: "the mono signal"),
            Port(VG_AUDIO_PORT, VG_OUTPUT, "left", doc: "the left side"),
            Port(VG_AUDIO_PORT, VG_OUTPUT, "right", doc: "the right side"),
        ],
        parameters: [Parameter("position", "-1 is left, 0 the centre, 1 right", -1...1, default: 0)],
        flags: VG_IN_PLACE | VG_LIGHT, process: panProcess)

    struct Processor: BitwiseCopyable {
        /// The position that `left` and `right` belong to; NaN at first, which equals nothing.
        var position = Float.nan
        var left: Float = 0
        var right: Float = 0
    }

    init(settings: Settings, host: NodeHost) throws(NodeError) {}

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor { Processor() }
}

@_noLocks
private func panProcess(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let state = memory.assumingMemoryBound(to: Pan.Processor.self)
    let (input, left, right) = (io.input(0), io.output(0), io.output(1))
    let frames = cycle.frames
    if io.isSilent(input: 0) {
        vg_zero(left, UInt32(frames))
        vg_zero(right, UInt32(frames))
        io.markSilent(output: 0)
        io.markSilent(output: 1)
        return
    }
    let ramp = io.parameter(0)
    let position = min(max(ramp.target, -1), 1)
    if position != state.pointee.position {
        state.pointee.position = position
        state.pointee.left = position == 1 ? 0 : Float(vg_cos64(panAngle(position)))
        state.pointee.right = position == -1 ? 0 : Float(vg_sin64(panAngle(position)))
    }
    let ramped = min(Int(ramp.pointee.frames), frames)
    if ramped > 0 {
        // The angle moves by the same step each frame, so (cos, sin) turns by the same rotation: no sine per sample.
        var (x, y) = (vg_cos64(panAngle(ramp.pointee.value)), vg_sin64(panAngle(ramp.pointee.value)))
        let turn = Double(ramp.pointee.step) * .pi / 4
        let (turnX, turnY) = (vg_cos64(turn), vg_sin64(turn))
        for frame in 0..<ramped {
            let sample = input[frame]
            right[frame] = sample * Float(y)
            left[frame] = sample * Float(x)
            (x, y) = (x * turnX - y * turnY, x * turnY + y * turnX)
        }
    }
    // Right first: left may be the input's buffer.
    let (leftGain, rightGain) = (state.pointee.left, state.pointee.right)
    for frame in ramped..<frames { right[frame] = input[frame] * rightGain }
    for frame in ramped..<frames { left[frame] = input[frame] * leftGain }
}

@_noLocks
private func panAngle(_ position: Float) -> Double { (Double(position) + 1) * .pi / 4 }
