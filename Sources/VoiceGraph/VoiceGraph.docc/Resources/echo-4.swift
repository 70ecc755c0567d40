// SPDX-License-Identifier: Apache-2.0
import VoiceGraph

final class Echo: AudioNode {
    static let descriptor = NodeDescriptor(
        "echo-of-mine", "says everything twice",
        ports: Port.audio(VG_INPUT, channels: 1) + Port.audio(VG_OUTPUT, channels: 1),
        parameters: Knob.all, process: { Echo.process($0, $1, $2) })

    enum Knob: Int, ParameterList {
        case level
        var parameter: Parameter { Parameter("level", "of what comes again", 0...1, default: 0.5) }
    }

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
        let level = block[Knob.level]
        let input = block.input(0)
        let output = block.output(0)
        for frame in 0..<block.frames {
            let before = state.line[state.place]
            state.line[state.place] = input[frame]
            output[frame] = input[frame] + level[frame] * before
            state.place += 1
            if state.place == state.line.count { state.place = 0 }
        }
    }
}

let echo = OwnNode(Echo.self, "echo", ["level": .number(0.25)])
let click = Sound(rate: 48_000, channels: [[1] + [Float](repeating: 0, count: 47_999)])
let made = try await Graph { Input("in") => echo => Output("out", channels: 1) }.render(inputs: ["in": click])
for (frame, sample) in made.sound.channels[0].enumerated() where sample != 0 { print(frame, sample) }
