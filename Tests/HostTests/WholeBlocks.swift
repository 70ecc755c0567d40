// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Passes its input on where a block has as many frames as it says, as convolvers of one block size do; else it is silent.
final class WholeBlocks: Node {
    static let descriptor = NodeDescriptor(
        "whole-blocks", "for tests",
        ports: Port.audio(VG_INPUT, channels: 1) + Port.audio(VG_OUTPUT, channels: 1),
        settings: [Setting("frames", VG_SET_INTEGER, "of a block", required: true)], process: wholeBlocksProcess)

    struct Processor: BitwiseCopyable {
        let frames: Int
    }

    private let frames: Int

    init(settings: Settings, host: NodeHost) throws(NodeError) { frames = settings.integer("frames") ?? 0 }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor { Processor(frames: frames) }
}

@_noLocks
private func wholeBlocksProcess(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let whole = memory.assumingMemoryBound(to: WholeBlocks.Processor.self).pointee.frames == cycle.frames
    for frame in 0..<cycle.frames { io.output(0)[frame] = whole ? io.input(0)[frame] : 0 }
}
