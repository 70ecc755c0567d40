// SPDX-License-Identifier: Apache-2.0
import VoiceGraph

final class Echo: AudioNode {
    static let descriptor = NodeDescriptor(
        "echo-of-mine", "says everything twice",
        ports: Port.audio(VG_INPUT, channels: 1) + Port.audio(VG_OUTPUT, channels: 1),
        process: { Echo.process($0, $1, $2) })

    struct Processor: BitwiseCopyable {}

    init(settings: Settings, host: NodeHost) throws(NodeError) {}
    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor { Processor() }

    @_noLocks
    static func process(_ state: inout Processor, _ block: borrowing Block) {
        let input = block.input(0)
        let output = block.output(0)
        for frame in 0..<block.frames { output[frame] = input[frame] }
    }
}
