// SPDX-License-Identifier: Apache-2.0
import NodeKit
import NodeTesting
import TestSupport

/// Delays by `frames`, and says so.
private final class Later: AudioNode {
    static let calls: NodeCalls = [.latency]
    static let descriptor = NodeDescriptor(
        "later", "delays", ports: Port.audio(VG_INPUT, channels: 1) + Port.audio(VG_OUTPUT, channels: 1),
        settings: [Setting("told", VG_SET_INTEGER, "what it says")], process: { Later.process($0, $1, $2) })

    struct Processor: BitwiseCopyable {
        let line: UnsafeMutablePointer<Float>
        var at = 0
    }

    private static let frames = 37
    private let line = UnsafeMutablePointer<Float>.allocate(capacity: Later.frames)
    private let told: Int

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        told = settings.integer("told") ?? Self.frames
        if told < 0 { throw NodeError("it has no time") }
    }

    deinit { line.deallocate() }

    var latency: Int { told }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        line.initialize(repeating: 0, count: Self.frames)
        return Processor(line: line)
    }

    @_noLocks
    static func process(_ state: inout Processor, _ block: borrowing Block) {
        let input = block.input(0)
        let output = block.output(0)
        for frame in 0..<block.frames {
            let sample = input[frame]
            output[frame] = state.line[state.at]
            state.line[state.at] = sample
            state.at = state.at + 1 == 37 ? 0 : state.at + 1
        }
    }
}

@Suite("What node authors expect") struct ExpectationTests {
    @Test("A node that keeps its promises has none to answer for") func sound() throws {
        expectPromises(of: Later.self)
        expectLatency(of: Later.self)
        let node = try NodeHarness(Later.self)
        let sine = Signal.sine(1000, rate: 48000, frames: 16384)
        let output = node.run(16384, inputs: [sine], plan: .random(max: 300, seed: 4))[0]
        expectSilence(output[..<37])
        expectLevel(of: output[37...], -3.01, within: 0.01)
        expectTone(1000, in: output, rate: 48000)
        expectEqual(Array(output[37...]), Array(sine[..<(16384 - 37)]))
    }

    @Test("What is expected and is not so fails the test, with what there is instead") func broken() throws {
        withKnownIssue {
            expectPromises(of: Later.self, ["told": .integer(12)])
        } matching: {
            "\($0)".contains("latency: it declares 12 frames, and its sound comes 37 frames late")
        }
        withKnownIssue {
            expectPromises(of: Later.self, ["told": .integer(-1)])
        } matching: {
            "\($0)".contains("such a node cannot be made here: it has no time")
        }
        withKnownIssue { expectLatency(of: Later.self, ["told": .integer(12)]) }
        let sine = Signal.sine(1000, rate: 48000, frames: 16384)
        withKnownIssue {
            expectSilence(sine, below: -10)
        } matching: {
            "\($0)".contains("it peaks at 0.0 dBFS")
        }
        withKnownIssue {
            expectLevel(of: sine, -6)
        } matching: {
            "\($0)".contains("it has -3.01 dBFS, not -6.00")
        }
        withKnownIssue { expectTone(1100, in: sine, rate: 48000) }
        let two = zip(sine, Signal.sine(3000, rate: 48000, frames: 16384, amplitude: 0.5)).map { $0 + $1 }
        withKnownIssue {
            expectTone(1000, in: two, rate: 48000)
        } matching: {
            "\($0)".contains("another frequency is only 5.7 dB below it")
        }
        withKnownIssue { expectTone(1000, in: [0, 1], rate: 48000) }
        withKnownIssue { expectEqual(sine, two) }
    }
}
