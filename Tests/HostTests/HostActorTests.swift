// SPDX-License-Identifier: Apache-2.0
import Drivers
import GraphFile
import NodeKit
import TestSupport

@testable import Host

/// The library's face on a real JACK server.
@Suite(.serialized, .timeLimit(.minutes(5))) struct HostActorTests {
    private static let tone = """
        [graph]
        name = "host-test"
        links = ["tone -> gain -> mute -> meter -> out"]
        [node.tone]
        type = "tone"
        level_db = -6
        [node.gain]
        type = "gain"
        [node.mute]
        type = "mute"
        [node.meter]
        type = "meter"
        [node.out]
        type = "output"
        channels = 1

        """

    /// Waits until the meter shows a peak near to this, in dB.
    private func shows(_ decibels: Double, _ levels: Subscription) async throws {
        try await eventually("the meter shows \(decibels) dB") {
            guard case .frame(let frame) = levels.poll() else { return false }
            return abs(max(-140, Signal.decibels(Double(frame.peak[0]))) - decibels) < 0.2
        }
    }

    @Test("A graph is loaded, played, turned, muted, stopped and loaded again") func wholeLife() async throws {
        let turn = try await JackTurn.wait()
        let scratch = try Scratch()
        let host = Host()
        let levels = host.subscribe(.latest) { if case .frame = $0 { true } else { false } }
        #expect(try await host.load(scratch.write("graph.conf", Self.tone)).isEmpty)
        #expect(await host.description?.name == "host-test")
        #expect(await host.status == nil)
        #expect(await host.timings.isEmpty)
        for _ in 0..<2 {
            try await host.run(DriverRequest(kind: .dummy, client: "host-test", rate: 44_100, block: 128))
            let status = try #require(await host.status)
            #expect(status.driver == "dummy" && status.ownServer && status.server.hasPrefix("voicegraph"))
            #expect(status.client == "host-test" && status.rate == 44_100 && status.block == 128)
            #expect(status.degraded.isEmpty)
            try await shows(-6, levels)
            try await host.set("gain", "gain_db", to: -20)
            try await shows(-26, levels)
            try await host.mute("mute")
            try await shows(-140, levels)
            try await host.mute("mute", false)
            try await shows(-26, levels)
            // Ports are the driver's: they take no time of their own.
            #expect(await host.timings.map(\.node).contains("gain"))
            #expect(await host.timings.allSatisfy { $0.average > 0 && $0.maximum >= $0.average })
            let result = try #require(await host.stop())
            #expect(result.status.blocks > 0 && result.status.time > 0)
            #expect(result.timings.map(\.node).contains("meter"))
            #expect(await host.status == nil)
            #expect(await host.stop() == nil)
            try await host.load(scratch.file("graph.conf"))
        }
        await host.close()
        while levels.poll() != nil {}
        #expect(await levels.next() == nil)
        await #expect(throws: Fault("this host is closed", hint: "make another")) {
            try await host.load(scratch.file("graph.conf"))
        }
        turn.end()
    }

    @Test("What is said is heard") func speech() async throws {
        let server = try await Jackd.start()
        let scratch = try Scratch()
        let host = Host()
        let events = host.subscribe(.lossless) { if case .event = $0 { true } else { false } }
        let levels = host.subscribe(.lossless) { if case .frame = $0 { true } else { false } }
        try await host.load(
            scratch.write(
                "graph.conf",
                """
                [graph]
                links = ["voice -> meter -> out"]
                [node.voice]
                type = "tts"
                [node.meter]
                type = "meter"
                [node.out]
                type = "output"
                """))
        try await host.run(DriverRequest(kind: .jack, client: "speaker", server: server.name))
        #expect(await host.isIdle)
        try await host.say("one two three")
        #expect(await !host.isIdle)
        try await eventually("it is spoken to its end") { await host.isIdle }
        try await host.send(.text("four"), to: "voice", port: "text")
        try await eventually("it is spoken, too") { await host.isIdle }
        await host.stop()
        let names = events.drain().compactMap { if case .event(let event) = $0 { event.name } else { nil } }
        #expect(
            names.filter { $0 == "speech.started" || $0 == "speech.finished" }
                == ["speech.started", "speech.finished", "speech.started", "speech.finished"])
        #expect(levels.drain().contains { if case .frame(let frame) = $0 { frame.peak[0] > 0.05 } else { false } })
        server.stop()
    }

    @Test("A node that spills is heard to its end") func spill() async throws {
        let server = try await Jackd.start()
        let scratch = try Scratch()
        let host = Host()
        let levels = host.subscribe(.latest) { if case .frame = $0 { true } else { false } }
        try await host.load(
            scratch.write(
                "graph.conf",
                """
                [graph]
                name = "spills"
                links = ["tone -> echo -> meter"]
                [node.tone]
                type = "tone"
                level_db = -6
                [node.echo]
                type = "delay"
                ms = 1500
                tail = "spill"
                [node.meter]
                type = "meter"
                """))
        try await host.run(DriverRequest(kind: .jack, client: "spills", server: server.name))
        try await shows(-6, levels)
        try await host.remove("echo")
        #expect(await host.description?.links.map { "\($0.from) -> \($0.to)" } == ["echo -> meter"])
        _ = levels.poll()
        try await shows(-6, levels)
        try await shows(-140, levels)
        try await eventually("it is gone") { await host.description?.nodes.map(\.name) == ["tone", "meter"] }
        // One that comes back while its tail is heard takes its place.
        try await host.add(
            NodeDescription(
                name: "echo", type: "delay", entries: ["tail": Entry(.string("spill")), "ms": Entry(.number(60_000))],
                keys: ["tail", "ms"]))
        try await host.link("tone -> echo -> meter")
        try await host.remove("echo")
        try await host.add(NodeDescription(name: "echo", type: "gain"))
        try await host.link("tone -> echo -> meter")
        try await shows(-6, levels)
        #expect(await host.description?.nodes.count == 3)
        // A link by a call takes what one in a file does.
        try await host.unlink("echo -> meter")
        await #expect(throws: Fault.self) { try await host.link("echo -> meter", gainDB: 200.1) }
        await #expect(throws: Fault.self) { try await host.link("echo -> meter", gainDB: .nan) }
        try await host.link("echo -> meter", gainDB: -200)
        // One that there is gets another gain, and is refused where none is given, or the same.
        await #expect(throws: Fault.self) { try await host.link("echo -> meter") }
        await #expect(throws: Fault.self) { try await host.link("echo -> meter", gainDB: -200) }
        let change = try await host.link("echo -> meter", gainDB: -3)
        #expect(change.linked + change.unlinked + change.parameters > 0)
        #expect(await host.description?.links.last?.gainDB == -3)
        try await shows(-9, levels)
        #expect(try await host.undo().step == "link echo -> meter")
        let gains = await host.description?.links.map(\.gainDB)
        #expect(gains == [0, -200])
        // The name of a node that still sounded is the new node's, which is written down.
        #expect(try await host.text().contains("[node.echo]"))
        await host.close()
        server.stop()
    }

    @Test("Errors say what is wrong and what to do") func errors() async throws {
        let server = try await Jackd.start()
        let scratch = try Scratch()
        let host = Host()
        await #expect(throws: Fault("no graph is loaded", hint: "load one")) { try await host.run() }
        await #expect(throws: Fault("no graph is playing", hint: "load and run one")) { try await host.say("x") }
        let invalid = await #expect(throws: InvalidGraph.self) {
            try await host.load(scratch.write("bad.conf", "[node.a]\ntype = \"tnoe\"\n"))
        }
        #expect(invalid?.description.contains("bad.conf:2:8: error: ") == true)
        #expect(invalid?.description.contains("did you mean 'tone'?") == true)
        try await host.load(scratch.write("graph.conf", Self.tone))
        // The graph stays loaded when there is no driver for it.
        let missing = await #expect(throws: Fault.self) {
            try await host.run(DriverRequest(kind: .jack, server: "vgt-nobody"))
        }
        #expect(missing?.message == "no JACK server named 'vgt-nobody' is running")
        #expect(missing?.hint.isEmpty == false)
        try await host.run(DriverRequest(kind: .jack, client: "host-test", server: server.name))
        let playing = Fault("a graph is playing", hint: "stop it first")
        await #expect(throws: playing) { try await host.load(scratch.file("graph.conf")) }
        await #expect(throws: playing) { try await host.run() }
        await #expect(throws: Fault("there is no node 'gian'", hint: "nodes: tone, gain, mute, meter, out")) {
            try await host.set("gian", "gain_db", to: 0)
        }
        await #expect(throws: Fault("node 'gain' has no parameter 'gain'", hint: "did you mean 'gain_db'?")) {
            try await host.set("gain", "gain", to: 0)
        }
        await #expect(throws: Fault("node 'meter' has no parameter 'muted'", hint: "it has: series_rate")) {
            try await host.set("meter", "muted", to: 1)
        }
        await #expect(
            throws: Fault("'out' cannot be bypassed: it has 1 audio input and 0 outputs", hint: "mute it instead")
        ) { try await host.bypass("out") }
        await #expect(throws: Fault("there is no link gain -> out", hint: "gain -> mute")) {
            try await host.unlink("gain -> out")
        }
        for (value, fault) in [
            (Float(37), "from -120 to 36"), (.nan, "a finite number"), (.infinity, "a finite number"),
        ] {
            await #expect(throws: Fault("gain.gain_db must be \(fault)")) {
                try await host.set("gain", "gain_db", to: value)
            }
        }
        await #expect(throws: Fault("no node speaks", hint: "add a node of type \"tts\"")) {
            try await host.say("x")
        }
        await host.close()
        server.stop()
    }

    @Test("A file recorded live equals the render of the same blocks") func liveRecording() async throws {
        let server = try await Jackd.start(block: 256)
        let scratch = try Scratch()
        let text = """
            [graph]
            links = [
              "noise -> tremolo -> mix", "click -> mix.in_2", "mix -> delay -> rec", "mix -> rec", "delay -> out",
              "mix -> out"
            ]
            [node.noise]
            type = "tone"
            wave = "noise"
            [node.click]
            type = "tone"
            wave = "impulse"
            period = 0.0123
            [node.tremolo]
            type = "tremolo"
            [node.mix]
            type = "mix"
            gain_1_db = -3.3
            [node.delay]
            type = "delay"
            ms = 33.3
            [node.rec]
            type = "record"
            path = "live.wav"
            [node.out]
            type = "output"
            channels = 1
            """
        let path = try scratch.write("graph.conf", text)
        let host = Host()
        try await host.load(path, overrides: ["node.rec.path=\(scratch.file("live.wav"))"])
        try await host.run(DriverRequest(kind: .jack, client: "live", server: server.name))
        try await eventually("a second and more is recorded") { await host.status?.time ?? 0 > 1.1 }
        await host.close()
        server.stop()
        let live = try SoundFile(scratch.file("live.wav"))
        #expect(live.rate == 48_000 && live.samples[0].count > 48_000)

        let count = live.samples[0].count
        let render = Render(path: scratch.file("out.wav"), block: 256, end: .frames(count))
        let ready = try prepared(text, in: scratch, registry: NodeRegistry()) { graph throws(Fault) in
            let index = graph.nodes.firstIndex { $0.name == "rec" }!
            graph.nodes[index].entries["path"] = Entry(.string(scratch.file("again.wav")))
            try render.change(&graph)
        }
        #expect(try render.run(ready).frames == count)
        for name in ["out.wav", "again.wav"] {
            let rendered = try SoundFile(scratch.file(name))
            #expect(Signal.difference(rendered.samples[0], live.samples[0]) == 0)
        }
    }
}
