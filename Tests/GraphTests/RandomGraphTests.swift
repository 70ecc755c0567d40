// SPDX-License-Identifier: Apache-2.0
import NodeKit
import TestSupport
import Testing

@Suite("Random graphs", .timeLimit(.minutes(5)))
struct RandomGraphTests {
    /// How the seeds are cut into blocks, and how many graphs run so.
    static let plans: [(BlockPlan, graphs: Int)] = [
        (.fixed(1), 70), (.fixed(16), 70), (.fixed(63), 70), (.fixed(128), 70), (.fixed(1024), 20),
        (.random(max: 256, seed: 3), 70),
    ]

    @Test("What a compiled graph plays is what a simple interpreter of the same graph plays", arguments: plans.indices)
    func sameAsReference(number: Int) throws {
        let (plan, graphs) = Self.plans[number]
        var loud = 0
        var events = 0
        for seed in 1...graphs {
            let spec = Specification.random(seed: UInt64(1000 * number + seed), maxBlock: plan.longest)
            let graph = try spec.graph(maxBlock: plan.longest)
            let player = GraphPlayer(maxBlock: plan.longest)
            try player.publish(graph)
            let blocks = plan.sizes(min(2 * plan.longest + 100, 1500))
            let expected = try play(spec, on: player, blocks, seed: UInt64(seed))
            for (name, signal) in expected.audio {
                let heard = player.heard(name)
                let same = heard == signal
                #expect(same, "seed \(1000 * number + seed), \(plan), \(name): \(firstDifference(heard, signal))")
                if Signal.peak(signal) > 0 { loud += 1 }
            }
            for (name, all) in expected.midi {
                let same = player.ports[name]?.events == all
                #expect(same, "seed \(1000 * number + seed), \(plan), \(name)")
                events += all.count
            }
        }
        // The graphs are no empty ones.
        #expect(loud > graphs / 4)
        #expect(events > graphs)
    }
}

func firstDifference(_ heard: [Float], _ expected: [Float]) -> String {
    for (frame, (a, b)) in zip(heard, expected).enumerated() where !(a == b) {
        return "frame \(frame) is \(a) instead of \(b)"
    }
    return "\(heard.count) frames instead of \(expected.count)"
}

/// Runs the player and the reference over the same blocks with noise and random events at the captures. Returns what the
/// reference gave to the playback ports, by name.
func play(
    _ spec: Specification, on player: GraphPlayer, _ blocks: [Int], seed: UInt64
) throws -> (audio: [String: [Float]], midi: [String: [TimedMIDI]]) {
    let reference = Reference(spec)
    let length = blocks.reduce(0, +)
    var random = TestRandom(seed: seed)
    var inputs: [Int: Reference.Output] = [:]
    for (node, one) in spec.nodes.enumerated() where one.kind == .capture || one.kind == .midiCapture {
        var given = Reference.Output()
        for channel in 0..<one.outs {
            given.audio.append(Signal.noise(frames: length, seed: seed * 100 + UInt64(channel)))
            player.feed("n\(node)_\(channel + 1)", given.audio[channel])
        }
        if one.kind == .midiCapture {
            let frames = (0..<length / 20 + 1).map { _ in Int.random(in: 0..<length, using: &random) }.sorted()
            given.midi = [frames.enumerated().map { TimedMIDI($1, [0xB0, UInt8($0 % 128), 0]) }]
            player.ports["n\(node)_1"]?.events = given.midi[0]
        }
        inputs[node] = given
    }
    var audio: [String: [Float]] = [:]
    var midi: [String: [TimedMIDI]] = [:]
    var position = 0
    for frames in blocks {
        let window = position..<position + frames
        let given = inputs.mapValues { all in
            Reference.Output(
                audio: all.audio.map { Array($0[window]) },
                midi: all.midi.map { $0.filter { window.contains($0.frame) } })
        }
        for (node, output) in reference.cycle(frames, captures: given) {
            for (channel, samples) in output.audio.enumerated() {
                audio["n\(node)_\(channel + 1)", default: []] += samples
            }
            for (index, events) in output.midi.enumerated() { midi["n\(node)_\(index + 1)", default: []] += events }
        }
        player.cycle(frames)
        position += frames
    }
    return (audio, midi)
}
