// SPDX-License-Identifier: Apache-2.0
import NodeKit
import TestSupport

@Suite struct TapTests {
    /// The audio events of a capture, joined; fails the test where one does not follow the one before.
    private func audio(_ capture: NodeCapture, from start: UInt64 = 0) -> [[Float]] {
        var joined: [[Float]] = []
        var next = start
        for event in capture.audio {
            #expect(event.position == next)
            next += UInt64(event.channels[0].count)
            if joined.isEmpty { joined = Array(repeating: [], count: event.channels.count) }
            for (channel, samples) in event.channels.enumerated() { joined[channel] += samples }
        }
        return joined
    }

    @Test("Nothing is lost or changed", arguments: testRates, BlockPlan.all)
    func unchanged(_ rate: Double, _ plan: BlockPlan) throws {
        let harness = try NodeHarness(type("tap"), ["channels": .integer(3)], rate: rate)
        harness.positionOffset = 1000
        let inputs = (1...3).map { Signal.noise(frames: 20000, seed: UInt64($0)) }
        #expect(harness.run(20000, inputs: inputs, plan: plan) == inputs)
        #expect(audio(harness.capture, from: 1000) == inputs)
        #expect(harness.capture.audio.allSatisfy { $0.rate == rate })
        #expect(!harness.capture.events.contains { $0.name == "tap.dropped" })
    }

    @Test("What is not taken in time is counted and leaves a gap") func notTaken() throws {
        let harness = try NodeHarness(type("tap"), ["buffer": .number(0.05)])
        harness.polls = false
        let noise = Signal.noise(frames: 64000, seed: 1)
        #expect(harness.run(64000, inputs: [noise], plan: .fixed(100))[0] == noise)
        harness.instance.poll()
        let kept = audio(harness.capture)[0]
        #expect(kept.count >= 2400)
        #expect(kept == Array(noise[..<kept.count]))
        let dropped = harness.capture.events.filter { $0.name == "tap.dropped" }
        #expect(dropped.map { $0.fields["frames"] } == [.integer(Int64(64000 - kept.count))])
        #expect(harness.capture.counts == ["dropped": UInt64(64000 - kept.count)])

        harness.capture.clear()
        _ = harness.run(100, inputs: [noise], plan: .fixed(100))
        harness.instance.poll()
        #expect(harness.capture.audio.map(\.position) == [64000] && harness.capture.events.isEmpty)
    }

    @Test("Short blocks go out together") func shortBlocks() throws {
        let harness = try NodeHarness(type("tap"))
        harness.polls = false
        _ = harness.run(4096, plan: .fixed(64))
        harness.instance.poll()
        #expect(harness.capture.audio.map { $0.channels[0].count } == [4096])
    }

    @Test("The rest goes out when it stops") func rest() throws {
        let harness = try NodeHarness(type("tap"))
        harness.polls = false
        _ = harness.run(640)
        #expect(harness.capture.audio.isEmpty)
        harness.instance.deactivate()
        #expect(audio(harness.capture)[0].count == 640)
    }

    @Test("Offline the ring is emptied before each block") func offline() throws {
        let harness = try NodeHarness(type("tap"), ["buffer": .number(0.05)], offline: true)
        harness.polls = false
        for _ in 0..<100 {
            harness.instance.wait(frames: 1024)
            _ = harness.run([1024])
        }
        harness.instance.deactivate()
        #expect(audio(harness.capture)[0].count == 102_400)
    }
}
