// SPDX-License-Identifier: Apache-2.0
import VoiceGraph

final class Echo: AudioNode {
    static let descriptor = NodeDescriptor(
        "echo-of-mine", "says everything twice",
        ports: Port.audio(VG_INPUT, channels: 1) + Port.audio(VG_OUTPUT, channels: 1),
        process: { Echo.process($0, $1, $2) })

    struct Processor: BitwiseCopyable {
        let line: AudioArray<Float>
        var place = 0
    }

    private var line = AudioArrayMemory<Float>(repeating: 0, count: 1)

    init(settings: Settings, host: NodeHost) throws(NodeError) {}

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        line = AudioArrayMemory(repeating: 0, count: Int(preparation.rate / 4))
        return Processor(line: line.array)
    }

    @_noLocks
    static func process(_ state: inout Processor, _ block: borrowing Block) {
        let input = block.input(0)
        let output = block.output(0)
        for frame in 0..<block.frames {
            let before = state.line[state.place]
            state.line[state.place] = input[frame]
            output[frame] = input[frame] + 0.5 * before
            state.place += 1
            if state.place == state.line.count { state.place = 0 }
        }
    }
}
