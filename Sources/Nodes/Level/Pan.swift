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
        (state.pointee.left, state.pointee.right) = sides(position)
    }
    var end = 0
    if !ramp.isSteady {
        let start = Int(ramp.pointee.start)
        let held = min(start + 1, frames)
        let (leftBefore, rightBefore) = sides(min(max(ramp.pointee.value, -1), 1))
        place(input, left, right, leftBefore, rightBefore, 0..<held)
        end = min(start + Int(ramp.pointee.frames), frames)
        // The angle moves by the same step each frame, so (cos, sin) turns by the same rotation: no sine per sample.
        var (x, y) = (vg_cos64(panAngle(ramp.pointee.value)), vg_sin64(panAngle(ramp.pointee.value)))
        let turn = Double(ramp.pointee.step) * .pi / 4
        let (turnX, turnY) = (vg_cos64(turn), vg_sin64(turn))
        for frame in held..<end {
            (x, y) = (x * turnX - y * turnY, x * turnY + y * turnX)
            let sample = input[frame]
            right[frame] = sample * Float(y)
            left[frame] = sample * Float(x)
        }
    }
    place(input, left, right, state.pointee.left, state.pointee.right, end..<frames)
}

@_noLocks @inline(__always)
private func place(
    _ input: UnsafePointer<Float>, _ left: UnsafeMutablePointer<Float>, _ right: UnsafeMutablePointer<Float>,
    _ leftGain: Float, _ rightGain: Float, _ frames: Range<Int>
) {
    // Right first: left may be the input's buffer.
    for frame in frames { right[frame] = input[frame] * rightGain }
    for frame in frames { left[frame] = input[frame] * leftGain }
}

/// What left and right are multiplied by at a position from -1 to 1.
@_noLocks
private func sides(_ position: Float) -> (left: Float, right: Float) {
    (
        position == 1 ? 0 : Float(vg_cos64(panAngle(position))),
        position == -1 ? 0 : Float(vg_sin64(panAngle(position)))
    )
}

@_noLocks
private func panAngle(_ position: Float) -> Double { (Double(position) + 1) * .pi / 4 }
