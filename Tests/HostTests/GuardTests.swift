// SPDX-License-Identifier: Apache-2.0
import Drivers
import Graph
import NodeKit
import Realtime
import System
import TestSupport
import Testing

@testable import Host

@Suite("The guard behind a node")
struct GuardTests {
    static func graph(_ more: String = "") -> String {
        """
        [graph]
        name = "guard"
        links = ["sine -> bad -> out", "sine -> other"]
        [node.sine]
        type = "tone"
        frequency = 200
        level_db = -12
        [node.bad]
        type = "faulty"
        \(more)
        [node.out]
        type = "output"
        channels = 1
        [node.other]
        type = "output"
        channels = 1
        """
    }

    @Test(
        "What is no number, infinite or too loud is faded out and named, and comes back when it is good",
        arguments: [
            (1, "its output is not a number"), (2, "its output is infinite"), (3, "its output is above +24 dBFS"),
        ])
    func faults(fault: Float, reason: String) throws {
        let run = try OfflineRun(Self.graph(), block: 128)
        run.play(40 * 128)
        var last = run.driver.buffer(of: "out_1")![127]
        var largest: Float = 0
        var heard: [Float] = []
        run.heard = { block in
            for sample in block {
                largest = max(largest, sample.isFinite ? abs(sample - last) : .infinity)
                last = sample
            }
            heard += block
        }
        try run.graph.set("bad", "fault", to: fault)
        run.play(100 * 128)
        #expect(run.graph.status.degraded == ["bad": reason])
        let silenced = run.events("node.silenced")
        #expect(silenced.count == 1 && silenced.first?.node == "bad" && silenced.first?.text("reason") == reason)
        #expect(heard.suffix(50 * 128).allSatisfy { $0 == 0 })
        #expect(Signal.peak(run.driver.buffer(of: "other_1")!) > 0.1, "the others go on")
        try run.graph.set("bad", "fault", to: 0)
        // Still silent for a tenth of a second.
        heard = []
        run.play(37 * 128)
        #expect(heard.allSatisfy { $0 == 0 })
        run.play(100 * 128)
        #expect(Signal.peak(run.driver.buffer(of: "out_1")!) > 0.2)
        #expect(run.graph.status.degraded.isEmpty)
        let back = run.events("node.heard")
        #expect(back.count == 1 && back.first?.node == "bad" && back.first?.integer("blocks") == 100)
        #expect(Double(largest) < 0.2512 * EditTests.steepest, "it was faded")
    }

    @Test("Each who listens to a node hears all that came since the last time, whoever else listens") func listeners()
        throws
    {
        let run = try OfflineRun(
            Self.graph().replacing("bad -> out", with: "bad -> low -> out") + "\n[node.low]\ntype = \"gain\"",
            block: 480)
        let node = try #require(run.graph.nodes.first { $0.name == "bad" })
        let low = try #require(run.graph.nodes.first { $0.name == "low" }).listen()
        func isLoud(_ peak: Float?) -> Bool { peak.map { abs($0 - 0.2512) < 0.001 } == true }
        var one: PeakListener? = node.listen()
        #expect(one?.take() == nil)
        run.play(480 * 10)
        let other = node.listen()
        #expect(isLoud(one?.take()) && other.take() == nil)
        run.play(480 * 10)
        #expect(isLoud(other.take()) && isLoud(one?.take()))
        #expect(one?.take() == nil, "no block came since")
        run.play(480 * 10)
        one = nil
        #expect(isLoud(other.take()))
        // Of silence it is heard that there is some.
        try run.graph.set("bad", "fault", to: 1)
        run.play(480 * 10)
        _ = other.take()
        run.play(480 * 10)
        #expect(other.take() == 0)
        #expect(isLoud(low.take()), "it heard what came before")
        run.play(480)
        #expect(low.take() == 0)
    }

    @Test("What only makes louder or quieter is measured too, and what has no guard: what comes out, muted or bypassed")
    func light() throws {
        let run = try OfflineRun(
            """
            [graph]
            name = "light"
            links = ["sine -> low -> out", "sine -> pan -> stereo", "low -> mute -> quiet"]
            [node.sine]
            type = "tone"
            frequency = 200
            level_db = -12
            guard = false
            [node.low]
            type = "gain"
            gain_db = -6
            [node.pan]
            type = "pan"
            position = -1
            [node.mute]
            type = "mute"
            muted = 1
            [node.out]
            type = "output"
            channels = 1
            [node.stereo]
            type = "output"
            channels = 2
            [node.quiet]
            type = "output"
            channels = 1
            """, block: 480)
        let listeners = Dictionary(uniqueKeysWithValues: run.graph.nodes.map { ($0.name, $0.listen()) })
        func peaks() -> [String: Float] {
            run.play(480 * 10)
            _ = listeners.mapValues { $0.take() }
            run.play(480 * 10)
            return listeners.compactMapValues { $0.take() }
        }
        func isNear(_ peak: Float?, _ wanted: Double) -> Bool { peak.map { abs(Double($0) - wanted) < 0.002 } == true }
        var heard = peaks()
        #expect(heard.count == run.graph.nodes.count, "\(heard)")
        #expect(
            isNear(heard["sine"], 0.2512) && isNear(heard["low"], 0.1259) && isNear(heard["out"], 0.1259), "\(heard)")
        #expect(isNear(heard["pan"], 0.2512) && heard["mute"] == 0 && heard["quiet"] == 0, "\(heard)")
        try run.graph.set("low", "gain_db", to: -120)
        heard = peaks()
        #expect(isNear(heard["sine"], 0.2512) && heard["low"] == 0 && heard["out"] == 0, "\(heard)")
    }

    @Test("One bad sample silences for a tenth of a second and a fade, the same at any block")
    func sameAtAnyBlock() throws {
        func heard(_ block: Int) throws -> [Float] {
            let run = try OfflineRun(
                """
                [graph]
                name = "guard"
                links = ["mic -> out"]
                [node.mic]
                type = "input"
                channels = 1
                [node.out]
                type = "output"
                channels = 1
                """, block: block)
            let mic = try #require(run.driver.buffer(of: "mic_1"))
            var heard: [Float] = []
            run.heard = { heard += $0 }
            for first in stride(from: 0, to: 16_384, by: block) {
                for frame in 0..<block { mic[frame] = first + frame == 5000 ? .nan : 0.5 }
                run.play(block)
            }
            return heard
        }
        let first = try heard(1)
        #expect(first[..<5000].allSatisfy { $0 == 0.5 } && first[10_282...].allSatisfy { $0 == 0.5 })
        #expect(first[5480..<9800].allSatisfy { $0 == 0 })
        let ramp: Float = 0.5 * 1.01 * .pi / 2 / 480
        #expect(Signal.largestStep(first) < ramp)
        for block in [64, 1024, 8192] { #expect(Signal.difference(try heard(block), first) == 0, "\(block)") }
    }

    @Test("Stereo that is summed into a mono output beyond full scale is told, at most once a second, and counted")
    func clipped() async throws {
        let turn = try await JackTurn.wait()
        let scratch = try Scratch()
        let host = Host()
        let events = host.subscribe(.lossless) {
            if case .event(let event) = $0 { event.name == "output.clipped" } else { false }
        }
        try await host.load(
            scratch.write(
                "graph.conf",
                """
                [graph]
                name = "clipped"
                links = ["tone -> out", "tone -> quiet"]
                [node.tone]
                type = "tone"
                channels = 2
                level_db = -3
                [node.out]
                type = "output"
                channels = 1
                [node.quiet]
                type = "output"
                """))
        try await host.run(DriverRequest(kind: .dummy, client: "clipped"))
        let start = monotonicSeconds()
        try await eventually("it is told twice") { (await host.status?.counters["out"]?["clipped"] ?? 0) >= 2 }
        #expect(monotonicSeconds() - start > 0.9)
        let told = events.drain().compactMap { if case .event(let event) = $0 { event } else { nil } }
        #expect(told.allSatisfy { $0.node == "out" })
        guard case .number(let peak)? = told.last?.fields["peak"] else { throw NodeError("no peak was told") }
        #expect(abs(peak - 3.02) < 0.1)
        await host.close()
        turn.end()
    }

    @Test("`guard = false` lets everything through")
    func unguarded() throws {
        let run = try OfflineRun(
            Self.graph("guard = false").replacing("channels = 1", with: "channels = 1\nguard = false"))
        run.play(2560)
        try run.graph.set("bad", "fault", to: 3)
        run.play(2560)
        #expect(Signal.peak(run.driver.buffer(of: "out_1")!) == 100)
        #expect(run.graph.status.degraded.isEmpty)
    }

    @Test("What an input of the driver brings is guarded too, and its buffer is left alone")
    func input() throws {
        let run = try OfflineRun(
            """
            [graph]
            name = "guard"
            links = ["mic -> out"]
            [node.mic]
            type = "input"
            [node.out]
            type = "output"
            channels = 1
            """, block: 64)
        let mic = try #require(run.driver.buffer(of: "mic_1"))
        mic.update(repeating: 0.5)
        run.play(64)
        #expect(run.driver.buffer(of: "out_1")!.allSatisfy { $0 == 0.5 })
        mic[10] = .nan
        run.play(64)
        let heard = Array(run.driver.buffer(of: "out_1")!)
        #expect(heard[..<10].allSatisfy { $0 == 0.5 })
        #expect(heard[10...].allSatisfy { $0.isFinite && $0 < 0.5 && $0 > 0.4 })
        #expect(mic[10].isNaN && mic[9] == 0.5)
        #expect(run.events("node.silenced").map(\.node) == ["mic"])
        mic[10] = 0.5
        run.play(64 * 200)
        #expect(run.driver.buffer(of: "out_1")!.allSatisfy { $0 == 0.5 })
    }
}
