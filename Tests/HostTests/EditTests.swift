// SPDX-License-Identifier: Apache-2.0
import Drivers
import GraphFile
import NodeKit
import TestSupport
import Testing

@testable import Host

@Suite("Editing a running graph")
struct EditTests {
    /// How much a sample may differ from the one before it, in parts of the amplitude: the sine's own slope, and that of
    /// a link's, an output mode's and a parameter's ramp at the same time.
    static let steepest = 2 * Double.pi * 200 / 48_000 + 3.0 / 480

    @Test("A sine goes through a thousand random edits without a step", arguments: [1, 2, 3, 4] as [UInt64])
    func randomEdits(seed: UInt64) throws {
        let run = try OfflineRun(RandomEdits.start, block: 128)
        var edits = RandomEdits(seed: seed)
        let amplitude = 0.2512
        var last: Float = 0
        var delayed = 0
        var audible = 0
        var recent: [Double] = []
        var kinds: [String: Int] = [:]
        run.play(40 * 128)
        last = run.driver.buffer(of: "out_1")![127]
        for number in 0..<250 {
            let before = run.graph.description
            let edit = edits.next(before)
            var loudest = before.loudest
            var largest: Float = 0
            run.heard = { block in
                for sample in block {
                    largest = max(largest, abs(sample - last))
                    last = sample
                }
            }
            do {
                try run.edit(resetting: true) { description in
                    _ = description.make(edit)
                    loudest = max(loudest, description.loudest) + 0.01
                }
                kinds["\(edit)".prefix { $0 != "(" }.description, default: 0] += 1
            } catch let error as InvalidGraph {
                Issue.record("\(edit): \(error)")
            }
            delayed += run.graph.engine.schedule?.delayLines ?? 0
            audible += loudest > 0.1 ? 1 : 0
            // What was under way in delays is still to come.
            recent = recent.suffix(40) + [loudest]
            let most = Float(amplitude * 2 * recent.max()! * Self.steepest)
            #expect(largest <= most, "edit \(number), \(edit): a step of \(largest), more than \(most)")
            #expect(largest.isFinite)
        }
        #expect(kinds.count == 9, "every kind of edit was made: \(kinds)")
        #expect(delayed > 50 && audible > 200, "paths were aligned, and heard")
        #expect(run.graph.engine.liveSchedules == 1)
        #expect(run.graph.engine.counters.oversizedBlocks == 0)
    }

    @Test("Nodes that stay keep what they hold; what is gone is freed")
    func keeping() throws {
        let run = try OfflineRun(
            """
            [graph]
            name = "keeping"
            links = ["sine -> echo -> out", "sine -> gain -> out"]
            [node.sine]
            type = "tone"
            [node.echo]
            type = "delay"
            frames = 1000
            [node.gain]
            type = "gain"
            gain_db = -6
            [node.out]
            type = "output"
            channels = 1
            """)
        run.play(4800)
        let before = run.graph.playing.mapValues { ObjectIdentifier($0.instance) }
        weak let gone = run.graph.playing["gain"]?.instance
        try run.edit(resetting: true) { description in
            description.nodes.removeAll { $0.name == "gain" }
            description.links.removeAll { $0.from.node == "gain" || $0.to.node == "gain" }
            let sine = description.nodes.firstIndex { $0.name == "sine" }!
            description.nodes[sine].entries["level_db"] = Entry(.number(-30))
            description.nodes[sine].keys.append("level_db")
        }
        let after = run.graph.playing.mapValues { ObjectIdentifier($0.instance) }
        #expect(after == before.filter { $0.key != "gain" })
        #expect(try run.graph.value("sine", "level_db") == -30)
        #expect(gone == nil)
        // Only a setting: the node is made anew.
        try run.edit { description in
            let echo = description.nodes.firstIndex { $0.name == "echo" }!
            description.nodes[echo].entries["change"] = Entry(.string("glide"))
            description.nodes[echo].keys.append("change")
        }
        let last = run.graph.playing.mapValues { ObjectIdentifier($0.instance) }
        #expect(last["echo"] != before["echo"] && last["sine"] == before["sine"] && last["out"] == before["out"])
    }

    @Test("A delay whose time alone is edited keeps what is in its line", arguments: ["ms", "frames"])
    func keptLine(_ key: String) throws {
        func time(_ frames: Int64) -> SettingValue { key == "ms" ? .number(Double(frames) / 48) : .integer(frames) }
        let run = try OfflineRun(
            """
            [graph]
            name = "kept"
            links = ["click -> echo -> out"]
            [node.click]
            type = "tone"
            wave = "impulse"
            period = 100
            level_db = 0
            [node.echo]
            type = "delay"
            \(key) = \(key == "ms" ? "500.0" : "24000")
            [node.out]
            type = "output"
            channels = 1
            """)
        var heard: [Float] = []
        run.heard = { heard += $0 }
        run.play(9600)
        let before = run.graph.playing["echo"].map { ObjectIdentifier($0.instance) }
        try run.edit(resetting: true) { description in
            let echo = description.nodes.firstIndex { $0.name == "echo" }!
            description.nodes[echo].entries[key] = Entry(time(14_400))
        }
        run.play(24_000)
        #expect(run.graph.playing["echo"].map { ObjectIdentifier($0.instance) } == before)
        let clicks = heard.indices.filter { heard[$0] != 0 }
        #expect(clicks == [14_400] && heard[14_400] == 1, "\(clicks.map { ($0, heard[$0]) })")
    }

    @Test("A port of the driver comes and goes with its node")
    func ports() throws {
        let run = try OfflineRun(RandomEdits.start)
        try run.edit { description in
            description.nodes.append(
                NodeDescription(
                    name: "more", type: "output", entries: ["channels": Entry(.integer(2))], keys: ["channels"]))
            description.links.append(LinkDescription(from: Endpoint("sine"), to: Endpoint("more", "in_2")))
        }
        run.play(4800)
        #expect(Signal.peak(try #require(run.driver.buffer(of: "more_2"))) > 0.1)
        #expect(Signal.peak(try #require(run.driver.buffer(of: "more_1"))) == 0)
        try run.edit { description in
            description.nodes.removeAll { $0.name == "more" }
            description.links.removeAll { $0.to.node == "more" }
        }
        #expect(run.driver.buffer(of: "more_1") == nil && run.driver.buffer(of: "out_1") != nil)
        // The same ports of a node made anew: not both at once, but without a step either.
        var largest: Float = 0
        var last: Float?
        run.heard = { block in
            for sample in block {
                largest = max(largest, abs(sample - (last ?? sample)))
                last = sample
            }
        }
        try run.edit { description in
            let out = description.nodes.firstIndex { $0.name == "out" }!
            description.nodes[out].entries["channels"] = Entry(.integer(2))
            description.links.append(LinkDescription(from: Endpoint("n5"), to: Endpoint("out", "in_2")))
        }
        run.play(4800)
        #expect(run.driver.buffer(of: "out_2") != nil)
        #expect(Double(largest) < 0.2512 * Self.steepest && Signal.peak(run.driver.buffer(of: "out_1")!) > 0.1)
    }

    @Test("What is wrong is refused, and what plays goes on")
    func refused() throws {
        let run = try OfflineRun(RandomEdits.start)
        let before = run.graph.description
        #expect(throws: InvalidGraph.self) {
            try run.edit { $0.nodes.append(NodeDescription(name: "x", type: "no-such-type")) }
        }
        #expect(throws: InvalidGraph.self) {
            try run.edit { $0.links.append(LinkDescription(from: Endpoint("out"), to: Endpoint("sine"))) }
        }
        #expect(throws: InvalidGraph.self) {
            try run.edit {
                $0.nodes.append(NodeDescription(name: "a", type: "gain"))
                $0.links += [("a", "n5"), ("n5", "a")].map {
                    LinkDescription(from: Endpoint($0.0), to: Endpoint($0.1))
                }
            }
        }
        #expect(run.graph.description == before)
        run.play(4800)
        #expect(Signal.peak(run.driver.buffer(of: "out_1")!) > 0.1)
        #expect(run.graph.engine.liveSchedules == 1)
    }

    @Test("A bypassed node lets its input through as late as it was; a muted one is silent; both go on running")
    func gates() throws {
        let run = try OfflineRun(
            """
            [graph]
            name = "gates"
            links = ["dc -> late -> out"]
            [node.dc]
            type = "tone"
            wave = "noise"
            [node.late]
            type = "late"
            [node.out]
            type = "output"
            channels = 1
            """)
        func heard(_ frames: Int) -> [Float] {
            var result: [Float] = []
            run.heard = { result += $0 }
            run.play(frames)
            run.heard = { _ in }
            return result
        }
        let plain = try OfflineRun(
            """
            [graph]
            name = "plain"
            links = ["dc -> late -> out"]
            [node.dc]
            type = "tone"
            wave = "noise"
            [node.late]
            type = "late"
            [node.out]
            type = "output"
            channels = 1
            """)
        func same(_ frames: Int) -> Bool {
            while plain.graph.engine.counters.position < run.graph.engine.counters.position { plain.play(256) }
            var expected: [Float] = []
            plain.heard = { expected += $0 }
            plain.play(frames)
            return heard(frames) == expected
        }
        #expect(same(2560))
        try run.edit { $0.nodes[1].bypass = true }
        #expect(same(2560), "the effect only delays, and so does its bypass")
        try run.edit { $0.nodes[1].mute = true }
        #expect(heard(2560).allSatisfy { $0 == 0 })
        try run.edit {
            $0.nodes[1].mute = false
            $0.nodes[1].bypass = false
        }
        #expect(same(2560))
        try run.edit { $0.nodes[2].mute = true }
        #expect(heard(2560).allSatisfy { $0 == 0 })
        try run.edit { $0.nodes[2].mute = false }
        #expect(same(2560))
    }

    @Test("A sine goes through a thousand random edits on a JACK server without a step, and without a block less")
    func live() async throws {
        let server = try await Jackd.start(block: 64)
        defer { server.stop() }
        let text =
            RandomEdits.start.replacing("type = \"output\"\nchannels = 1", with: "type = \"watch\"")
            + "\n[node.port]\ntype = \"output\"\nchannels = 1\n"
        let driver = try DriverChooser.open(DriverRequest(kind: .jack, client: "edits", server: server.name))
        let graph = try RunningGraph.start(try prepared(text, in: Scratch()), on: driver)
        defer { graph.stop() }
        var edits = RandomEdits(seed: 5)
        var recent: [Double] = []
        // The sine has to be there before its steps can be looked at.
        try await eventually("it sounds") {
            graph.pump()
            return Watch.seen.pointee.loud.load(ordering: .relaxed) > 10
        }
        for number in 0..<1000 {
            let before = graph.description
            let edit = edits.next(before)
            var loudest = before.loudest
            Watch.seen.pointee.step.store(0, ordering: .relaxed)
            let frames = Watch.seen.pointee.frames.load(ordering: .relaxed)
            try graph.begin(resetting: true) { description in
                _ = description.make(edit)
                loudest = max(loudest, description.loudest) + 0.01
            }
            recent = recent.suffix(40) + [loudest]
            try await eventually("the change is heard") {
                graph.pump()
                return !graph.isChanging && Watch.seen.pointee.frames.load(ordering: .relaxed) > frames + 256
            }
            let largest = Float(bitPattern: Watch.seen.pointee.step.load(ordering: .relaxed))
            let most = Float(0.2512 * 2 * recent.max()! * Self.steepest)
            #expect(largest <= most, "edit \(number), \(edit): a step of \(largest), more than \(most)")
        }
        let frames = graph.engine.counters.position
        #expect(graph.engine.counters.cycles == frames / 64, "every block was played, whole")
        #expect(Watch.seen.pointee.loud.load(ordering: .relaxed) > 1000)
        try await eventually("what was replaced is freed") {
            graph.pump()
            return graph.engine.liveSchedules == 1
        }
    }
}
