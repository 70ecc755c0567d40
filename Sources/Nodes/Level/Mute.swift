// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Silences its channels while `muted` is 1. Going either way takes 10 ms, so that nothing clicks;
/// the value in the file applies from the first frame.
final class Mute: AudioNode {
    static let calls: NodeCalls = []
    static let descriptor = NodeDescriptor(
        "mute", "silences its channels without a click",
        doc: "Fades out and in over 10 ms. Muted, the outputs are exactly 0.",
        ports: Layout.through(channels: 1).ports, parameters: Knob.all, settings: [channels],
        flags: VG_IN_PLACE | VG_LIGHT, process: { Mute.process($0, $1, $2) })

    private static let channels = Key.channels()

    fileprivate enum Knob: Int, ParameterList {
        case muted

        var parameter: Parameter {
            Parameter(
                "muted", "1 silences, 0 lets through", 0...1, default: 0, flags: VG_PARAM_TOGGLE | VG_PARAM_ABRUPT)
        }
    }

    struct Processor: BitwiseCopyable {
        /// Frames that a whole fade takes.
        var fade: Int
        /// Where the fade stands: 0 is muted, `fade` is open; nil before the first block.
        var open: Int?
    }

    let layout: Layout

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        layout = .through(channels: try settings[Self.channels], parameters: Knob.all)
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        Processor(fade: max(1, Int(preparation.rate * 0.01)), open: nil)
    }
}

extension Mute {
    @_noLocks
    static func process(_ state: inout Processor, _ block: borrowing Block) {
        let frames = block.frames
        let ramp = block[Knob.muted]
        let change = min(ramp.end, frames)
        let wasClosed = change == 0 || fade(&state, block, 0..<change, muted: ramp.value >= 0.5)
        let isClosed = change == frames || fade(&state, block, change..<frames, muted: ramp.target >= 0.5)
        for channel in block.outputs where block.isSilent(channel) || (wasClosed && isClosed) {
            block.markSilent(channel)
        }
    }
}

/// Goes towards muted or open in these frames of the block. Whether all of them are zeros.
@_noLocks
private func fade(
    _ state: inout Mute.Processor, _ block: borrowing Block, _ frames: Range<Int>, muted: Bool
) -> Bool {
    let fade = state.fade
    let goal = muted ? 0 : fade
    let start = state.open ?? goal
    let step = goal > start ? 1 : -1
    // Counted in whole frames, so that the result does not depend on how the signal is cut into blocks.
    let ramped = min(abs(goal - start), frames.count)
    let scale = 1 / Double(fade)
    for channel in block.outputs {
        let input = block.input(channel)
        let output = block.output(channel)
        for index in 0..<ramped {
            let frame = frames.lowerBound + index
            output[frame] = input[frame] * Float(raisedCosine(Double(start + step * (index + 1)) * scale))
        }
        let rest = frames.lowerBound + ramped..<frames.upperBound
        if goal == 0 { output.clear(rest) } else { output.copy(input, rest) }
    }
    state.open = start + step * ramped
    return goal == 0 && ramped == 0
}
