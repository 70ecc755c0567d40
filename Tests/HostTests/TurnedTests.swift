// SPDX-License-Identifier: Apache-2.0
import GraphFile
import NodeKit
import TestSupport

@testable import Host

/// What is told of parameters that are turned. Offline, so that the time is the graph's own.
@Suite("What is turned is told", .timeLimit(.minutes(5))) struct TurnedTests {
    private static let graph = """
        [graph]
        links = ["tone -> gain -> knob -> out"]
        [node.tone]
        type = "tone"
        [node.gain]
        type = "gain"
        [node.knob]
        type = "knob"
        [node.out]
        type = "output"
        channels = 1
        """
    /// Longer than anything waits to be told.
    private static let pause = 4800

    @Test("A fader that moves two hundred times a second is told about thirty times, and always where it is at the end")
    func fader() throws {
        let run = try OfflineRun(Self.graph, block: 240)
        for number in 1...1000 {
            try run.graph.set("gain", "gain_db", to: -Float(number) / 10)
            run.play(240)
        }
        // In five seconds.
        let moved = run.published.turned()
        #expect((100...170).contains(moved.count), "\(moved.count) events")
        run.play(Self.pause)
        #expect((moved + run.published.turned()).last == "gain.gain_db -100 by program")
        for number in 1...1000 { try run.graph.set("gain", "gain_db", to: -Float(number) / 100) }
        run.play(Self.pause)
        #expect(run.published.turned() == ["gain.gain_db -10 by program"])
    }

    @Test("What is turned to what it is, is told to nobody; what is turned back is, to who has seen what was between")
    func unchanged() throws {
        let run = try OfflineRun(Self.graph)
        try run.graph.set("gain", "gain_db", to: 0)
        run.play(Self.pause)
        #expect(run.published.turned() == [])
        try run.graph.set("gain", "gain_db", to: -6)
        try run.graph.set("gain", "gain_db", to: 0)
        run.play(Self.pause)
        #expect(run.published.turned() == ["gain.gain_db 0 by program"])
        try run.graph.set("gain", "gain_db", to: -6)
        run.play(Self.pause)
        #expect(run.published.turned() == ["gain.gain_db -6 by program"])
    }

    @Test("Who subscribes later is told the newest value of each parameter, as long as that node is there")
    func late() throws {
        let run = try OfflineRun(Self.graph)
        func late() -> [String] { run.graph.bus.subscribe(.lossless).turned().sorted() }
        #expect(late() == [])
        for value in 1...9 {
            try run.graph.set("gain", "gain_db", to: -Float(value))
            run.play(Self.pause)
        }
        try run.graph.set("knob", "amount", to: 0.5)
        run.play(Self.pause)
        #expect(late() == ["gain.gain_db -9 by program", "knob.amount 0.5 by program"])
        // Another node of the same name begins with what its file says.
        try run.edit { description in
            let index = try description.index(of: "knob")
            description.nodes[index].keys.append("make")
            description.nodes[index].entries["make"] = Entry(.integer(2))
        }
        #expect(try run.graph.value("knob", "amount") == 0)
        #expect(late() == ["gain.gain_db -9 by program"])
        try run.edit { description in
            description.nodes.removeAll { $0.name == "gain" }
            description.links.removeAll { $0.from.node == "gain" || $0.to.node == "gain" }
        }
        #expect(late() == [] && run.graph.turned.count == 0)
    }

    @Test("A slow reader that wants the newest is given the newest of each parameter") func latest() throws {
        let run = try OfflineRun(Self.graph)
        let slow = run.graph.bus.subscribe(.latest)
        for value in 1...20 {
            try run.graph.set("gain", "gain_db", to: -Float(value))
            try run.graph.set("knob", "amount", to: Float(value) / 100)
            run.play(Self.pause)
        }
        #expect(slow.turned().sorted() == ["gain.gain_db -20 by program", "knob.amount 0.2 by program"])
    }

    @Test("What a node turns of itself is told as its own doing") func own() throws {
        let run = try OfflineRun(Self.graph)
        _ = try run.graph.instance("knob").performAndWait("twist", ["to": .number(0.25)])
        run.play(Self.pause)
        #expect(run.published.turned() == ["knob.amount 0.25 by plugin"])
        try Author.$current.withValue("surface") { try run.graph.set("knob", "amount", to: 0.75) }
        run.play(Self.pause)
        #expect(run.published.turned() == ["knob.amount 0.75 by surface"])
    }

    @Test("A trigger is told each time, and is no state") func trigger() throws {
        let run = try OfflineRun(Self.graph)
        for _ in 0..<3 {
            try run.graph.set("knob", "ring", to: 1)
            run.play(Self.pause)
            #expect(run.published.turned() == ["knob.ring 1 by program"])
        }
        #expect(run.graph.bus.subscribe(.lossless).turned() == [])
    }

    @Test("A parameter that follows a link is told to nobody") func followed() throws {
        let run = try OfflineRun(
            """
            [graph]
            links = ["tone -> gain -> out", "lfo -> gain.gain_db"]
            [node.tone]
            type = "tone"
            [node.lfo]
            type = "lfo"
            rate = 5
            depth = 20
            offset = -30
            [node.gain]
            type = "gain"
            [node.out]
            type = "output"
            channels = 1
            """)
        var peaks: [Float] = []
        run.heard = { block in peaks.append(block.reduce(0) { max($0, abs($1)) }) }
        run.play(48_000)
        let (loudest, quietest) = (peaks.max() ?? 0, peaks.dropFirst(4).min() ?? 0)
        #expect(loudest > 10 * quietest, "from \(quietest) to \(loudest): it follows")
        #expect(run.published.turned() == [])
        try run.graph.set("lfo", "depth", to: 0)
        run.play(48_000)
        #expect(run.published.turned() == ["lfo.depth 0 by program"])
    }

    @Test("A file that is read again tells what it turns") func reset() throws {
        let run = try OfflineRun(Self.graph)
        try run.graph.set("gain", "gain_db", to: -6)
        try run.graph.set("knob", "amount", to: 0.5)
        run.play(Self.pause)
        _ = run.published.turned()
        try run.edit(resetting: true) { _ in }
        run.play(Self.pause)
        #expect(run.published.turned().sorted() == ["gain.gain_db 0 by program", "knob.amount 0 by program"])
    }

    @Test("What was turned last is told when the graph ends") func end() throws {
        let run = try OfflineRun(Self.graph)
        try run.graph.set("gain", "gain_db", to: -6)
        run.play(256)
        try run.graph.set("gain", "gain_db", to: -7)
        run.play(256)
        #expect(run.published.turned() == ["gain.gain_db -6 by program"])
        run.graph.stop()
        #expect(run.published.turned() == ["gain.gain_db -7 by program"])
    }

    @Test("A million refused turns leave nothing behind") func refused() throws {
        let run = try OfflineRun(Self.graph)
        var refused = 0
        for number in 0..<1_000_000 {
            do {
                switch number % 3 {
                case 0: try run.graph.set("node\(number)", "gain_db", to: -6)
                case 1: try run.graph.set("gain", "key\(number)", to: -6)
                default: try run.graph.set("gain", "gain_db", to: 100 + Float(number))
                }
            } catch { refused += 1 }
        }
        #expect(refused == 1_000_000)
        run.play(Self.pause)
        #expect(run.graph.turned.count == 0 && !run.graph.turned.hasNews)
        #expect(run.published.turned() == [] && run.graph.bus.subscribe(.lossless).turned() == [])
    }
}
