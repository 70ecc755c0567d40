// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Places a mono signal between left and right, exactly 0 on the far side at the ends. With a from 0 to pi / 2 and x from 0
/// to 1, right is, by law: sin a (constant power), x (constant sum), or the root of their product, which is half way
/// between them in decibels. Left is the same from the other end.
final class Pan: AudioNode {
    static let calls: NodeCalls = []
    static let descriptor = NodeDescriptor(
        "pan", "places a mono signal between left and right",
        doc: "The law says how far each side is down in the centre: -3dB keeps the power (for a room), -6dB keeps the "
            + "sum (for what becomes mono), -4.5dB is half way between them. At the ends a side has 0 dB.",
        ports: [
            Port(VG_AUDIO_PORT, VG_INPUT, "in", doc: "the mono signal"),
            Port(VG_AUDIO_PORT, VG_OUTPUT, "left", doc: "the left side"),
            Port(VG_AUDIO_PORT, VG_OUTPUT, "right", doc: "the right side"),
        ],
        parameters: Knob.all, settings: [law], flags: VG_IN_PLACE | VG_LIGHT, process: { Pan.process($0, $1, $2) })

    private static let law = Key.choice("law", "level of each side in the centre", default: Law.power)

    enum Law: String, CaseIterable, BitwiseCopyable {
        case power = "-3dB"
        case between = "-4.5dB"
        case sum = "-6dB"
    }

    fileprivate enum Knob: Int, ParameterList {
        case position

        var parameter: Parameter { Parameter("position", "-1 is left, 0 the centre, 1 right", -1...1, default: 0) }
    }

    struct Processor: BitwiseCopyable {
        var law: Law
        /// The position that `left` and `right` belong to; NaN at first, which equals nothing.
        var position = Float.nan
        var left: Float = 0
        var right: Float = 0
        /// Where it is on the way from one position to another.
        var heard = CurvedValue()
    }

    private let law: Law

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        law = try settings[Self.law]
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor { Processor(law: law) }
}

extension Pan {
    @_noLocks
    static func process(_ state: inout Processor, _ block: borrowing Block) {
        let input = block.input(0)
        let left = block.output(0)
        let right = block.output(1)
        let frames = block.frames
        let ramp = block[Knob.position]
        let position = min(max(ramp.target, -1), 1)
        let law = state.law
        let start = Double(ramp.value)
        let curve = state.heard.move(ramp, from: start, to: Double(position), frames)
        if block.isSilent(0) {
            return block.silence()
        }
        if position != state.position {
            state.position = position
            (state.left, state.right) = sides(position, law)
        }
        let end = ramp.isSteady ? 0 : min(ramp.end, frames)
        for frame in 0..<end {
            let place = if let curve { Float(curve.value(frame)) } else { ramp[frame] }
            let (leftGain, rightGain) = sides(min(max(place, -1), 1), law)
            let sample = input[frame]
            right[frame] = sample * rightGain
            left[frame] = sample * leftGain
        }
        place(input, left, right, state.left, state.right, end..<frames)
    }
}

@_noLocks @inline(__always)
private func place(
    _ input: borrowing InputSamples, _ left: borrowing OutputSamples, _ right: borrowing OutputSamples,
    _ leftGain: Float, _ rightGain: Float, _ frames: Range<Int>
) {
    // Right first: left may be the input's buffer.
    for frame in frames { right[frame] = input[frame] * rightGain }
    for frame in frames { left[frame] = input[frame] * leftGain }
}

/// What left and right are multiplied by at a position from -1 to 1.
@_noLocks
private func sides(_ position: Float, _ law: Pan.Law) -> (left: Float, right: Float) {
    if position == -1 { return (1, 0) }
    if position == 1 { return (0, 1) }
    let (leftSum, rightSum) = ((1 - Double(position)) / 2, (1 + Double(position)) / 2)
    if law == .sum { return (Float(leftSum), Float(rightSum)) }
    let (leftPower, rightPower) = (vg_cos64(panAngle(position)), vg_sin64(panAngle(position)))
    if law == .power { return (Float(leftPower), Float(rightPower)) }
    return (Float(vg_root(leftSum * leftPower)), Float(vg_root(rightSum * rightPower)))
}

@_noLocks
private func panAngle(_ position: Float) -> Double { (Double(position) + 1) * .pi / 4 }
