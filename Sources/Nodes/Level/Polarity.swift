// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Inverts the polarity of channels: multiplies them by -1. Going either way follows half a turn of a cosine for 10 ms, so that
/// nothing clicks; the value in the file applies from the first frame.
final class Polarity: Node {
    static let calls: NodeCalls = []
    static let descriptor = NodeDescriptor(
        "polarity", "inverts the polarity of channels",
        doc: "Multiplies by -1 each channel whose parameter is 1; a change takes 10 ms and does not click. One channel "
            + "has the parameter inverted, several have inverted_1, inverted_2, ...",
        ports: Layout.through(channels: 1).ports, parameters: parameters(channels: 1), settings: [channels],
        flags: VG_IN_PLACE | VG_LIGHT, process: polarityProcess)

    private static let channels = Key.channels()

    struct Processor: BitwiseCopyable {
        /// Of each channel: frames into a change, 0 is upright, `fade` inverted; -1 before the first block.
        var places: UnsafeMutablePointer<Int>
        /// Frames that a whole change takes.
        var fade: Int
    }

    let layout: Layout
    private let places: UnsafeMutablePointer<Int>
    private let channels: Int

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        channels = try settings[Self.channels]
        layout = .through(channels: channels, parameters: Self.parameters(channels: channels))
        places = .allocate(capacity: channels)
    }

    deinit { places.deallocate() }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        places.initialize(repeating: -1, count: channels)
        return Processor(places: places, fade: max(1, Int(preparation.rate * 0.01)))
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

@_noLocks
private func polarityProcess(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let state = memory.assumingMemoryBound(to: Polarity.Processor.self)
    let frames = cycle.frames
    for channel in 0..<io.outputCount {
        let ramp = io.parameter(channel)
        // The parameter may change within the block, at a frame that the host was told.
        let change = min(Int(ramp.pointee.start) + Int(ramp.pointee.frames), frames)
        turn(state, io, channel, 0..<change, inverted: ramp.pointee.value >= 0.5)
        turn(state, io, channel, change..<frames, inverted: ramp.target >= 0.5)
        if io.isSilent(input: channel) { io.markSilent(output: channel) }
    }
}

/// Goes towards upright or inverted in these frames of the block. [audio]
@_noLocks
private func turn(
    _ state: UnsafeMutablePointer<Polarity.Processor>, _ io: BlockIO, _ channel: Int, _ frames: Range<Int>,
    inverted: Bool
) {
    if frames.isEmpty { return }
    let (input, output) = (io.input(channel), io.output(channel))
    let fade = state.pointee.fade
    let goal = inverted ? fade : 0
    // Counted in whole frames, so that nothing depends on how the signal is cut into blocks.
    var place = state.pointee.places[channel]
    if place < 0 { place = goal }
    for frame in frames {
        if place != goal {
            place += place < goal ? 1 : -1
            output[frame] = input[frame] * Float(vg_cos64(.pi * Double(place) / Double(fade)))
        } else {
            output[frame] = inverted ? -input[frame] : input[frame]
        }
    }
    state.pointee.places[channel] = place
}
