// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Inverts the polarity of channels: multiplies them by -1. Going either way follows half a turn of a cosine for 10 ms, so that
/// nothing clicks; the value in the file applies from the first frame.
final class Polarity: AudioNode {
    static let calls: NodeCalls = []
    static let descriptor = NodeDescriptor(
        "polarity", "inverts the polarity of channels",
        doc: "Multiplies by -1 each channel whose parameter is 1; a change takes 10 ms and does not click. One channel "
            + "has the parameter inverted, several have inverted_1, inverted_2, ...",
        ports: Layout.through(channels: 1).ports, parameters: parameters(channels: 1), settings: [channels],
        flags: VG_IN_PLACE | VG_LIGHT, process: { Polarity.process($0, $1, $2) })

    private static let channels = Key.channels()

    struct Processor: BitwiseCopyable {
        /// Of each channel: frames into a change, 0 is upright, `fade` inverted; -1 before the first block.
        var places: AudioArray<Int>
        /// Frames that a whole change takes.
        var fade: Int
    }

    let layout: Layout
    private let places: AudioArrayMemory<Int>

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        let channels = try settings[Self.channels]
        layout = .through(channels: channels, parameters: Self.parameters(channels: channels))
        places = AudioArrayMemory(repeating: -1, count: channels)
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        places.fill(-1)
        return Processor(places: places.array, fade: max(1, Int(preparation.rate * 0.01)))
    }

    private static func parameters(channels: Int) -> [Parameter] {
        (1...channels).map {
            Parameter(
                channels == 1 ? "inverted" : "inverted_\($0)",
                channels == 1 ? "1 inverts it" : "1 inverts channel \($0)", 0...1, default: 1,
                flags: VG_PARAM_TOGGLE | VG_PARAM_ABRUPT)
        }
    }
}

extension Polarity {
    @_noLocks
    static func process(_ state: inout Processor, _ block: borrowing Block) {
        let frames = block.frames
        for channel in block.outputs {
            let ramp = block.parameter(channel)
            // The parameter may change within the block, at a frame that the host was told.
            let change = min(ramp.end, frames)
            turn(&state, block, channel, 0..<change, inverted: ramp.value >= 0.5)
            turn(&state, block, channel, change..<frames, inverted: ramp.target >= 0.5)
            if block.isSilent(channel) { block.markSilent(channel) }
        }
    }
}

/// Goes towards upright or inverted in these frames of the block. [audio]
@_noLocks
private func turn(
    _ state: inout Polarity.Processor, _ block: borrowing Block, _ channel: Int, _ frames: Range<Int>,
    inverted: Bool
) {
    if frames.isEmpty { return }
    let input = block.input(channel)
    let output = block.output(channel)
    let fade = state.fade
    let goal = inverted ? fade : 0
    // Counted in whole frames, so that nothing depends on how the signal is cut into blocks.
    var place = state.places[channel]
    if place < 0 { place = goal }
    for frame in frames {
        if place != goal {
            place += place < goal ? 1 : -1
            output[frame] = input[frame] * Float(vg_cos64(.pi * Double(place) / Double(fade)))
        } else {
            output[frame] = inverted ? -input[frame] : input[frame]
        }
    }
    state.places[channel] = place
}
