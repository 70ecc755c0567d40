// SPDX-License-Identifier: Apache-2.0
import GraphFile
import NodeKit
import TestSupport
import Testing

@testable import Host

/// How smooth the sound of one edit is, and that of the one which takes it back.
@Suite("Steps of an edit") struct EditStepTests {
    /// A sine that goes two ways, one of them through a delay of three quarters of its period.
    private static let text = """
        [graph]
        name = "steps"
        links = ["sine -> loud -> out", "sine -> echo -> out"]
        [node.sine]
        type = "tone"
        frequency = 200
        level_db = -12
        [node.loud]
        type = "gain"
        [node.echo]
        type = "delay"
        frames = 1620
        [node.out]
        type = "output"
        channels = 1
        """
    private static let amplitude = 0.2512

    typealias Change = @Sendable (inout GraphDescription) -> Void
    static let edits: [(String, Change)] = [
        ("mute", { $0.nodes[1].mute = true }),
        ("mute of the output", { $0.nodes[3].mute = true }),
        ("bypass of a delay", { $0.nodes[2].bypass = true }),
        ("unlink", { $0.links.removeAll { $0.to.node == "echo" } }),
        ("unlink of the output", { $0.links.removeAll { $0.from.node == "loud" && $0.to.node == "out" } }),
        ("gain of a link", { $0.links[0].gainDB = -12 }),
        ("gain of all links", { for place in $0.links.indices { $0.links[place].gainDB = -12 } }),
        (
            "remove",
            {
                $0.nodes.remove(at: 2)
                $0.links.removeAll { $0.from.node == "echo" || $0.to.node == "echo" }
            }
        ),
        ("replace", { $0.nodes[2] = NodeDescription(name: "echo", type: "gain") }),
        ("another latency", { $0.nodes[2] = NodeDescription(name: "echo", type: "late") }),
        (
            "another parameter",
            {
                $0.nodes[1].entries["gain_db"] = Entry(.number(-20))
                $0.nodes[1].keys.append("gain_db")
            }
        ),
        (
            "another graph as a whole",
            {
                $0.nodes[1] = NodeDescription(name: "soft", type: "gain")
                $0.nodes.remove(at: 2)
                $0.links = [
                    LinkDescription(from: Endpoint("sine"), to: Endpoint("soft"), gainDB: -12),
                    LinkDescription(from: Endpoint("soft"), to: Endpoint("out")),
                ]
            }
        ),
    ]

    @Test(
        "An edit, and the one that takes it back, adds no more to a sine's steps than a fade of 10 ms",
        arguments: edits.map(\.0))
    func smooth(_ name: String) throws {
        let change = try #require(Self.edits.first { $0.0 == name }).1
        let run = try OfflineRun(Self.text, block: 128)
        var (last, largest, loudest): (Float, Float, Float) = (0, 0, 0)
        run.play(9600)
        last = try #require(run.driver.buffer(of: "out_1"))[127]
        run.heard = { block in
            for sample in block {
                largest = max(largest, abs(sample - last))
                loudest = max(loudest, abs(sample))
                last = sample
            }
        }
        let first = run.graph.description
        // A sine's steps, and those of fades along a raised cosine: of each way one out and one in.
        let most = Float(2 * Self.amplitude * (2 * .pi * 200 / 48_000 + 2 * .pi / 2 / 480))
        // The edit comes at other places of the sine each time.
        for round in 0..<8 {
            for isBack in [false, true] {
                largest = 0
                try run.edit(resetting: true) { if isBack { $0 = first } else { change(&$0) } }
                run.play(4800 + 37 * round)
                #expect(largest <= most, "\(isBack ? "taken back" : "made"), \(round): a step of \(largest) of \(most)")
            }
        }
        #expect(loudest > 0.1, "it is heard")
    }

    @Test("What differs in parameters alone needs no other schedule, and is heard when the edit is over")
    func sameSchedule()
        throws
    {
        let run = try OfflineRun(
            """
            [graph]
            name = "same"
            links = ["sine -> gain -> out"]
            [node.sine]
            type = "tone"
            [node.gain]
            type = "gain"
            [node.out]
            type = "output"
            channels = 1
            """)
        run.play(4800)
        func number() -> Int? { run.graph.engine.schedule?.number }
        let first = try #require(number())
        for level in [-12.0, -120] {
            try run.edit(resetting: true) { description in
                let gain = description.nodes.firstIndex { $0.name == "gain" }!
                description.nodes[gain].entries["gain_db"] = Entry(.number(level))
                description.nodes[gain].keys = ["gain_db"]
            }
            #expect(!run.graph.isChanging && run.graph.firstBlock != nil && number() == first)
            #expect(try run.graph.value("gain", "gain_db") == Float(level))
        }
        // Turned down at a ramp of 20 ms, from the block on that the edit waited for.
        var heard: [Float] = []
        run.heard = { heard += $0 }
        run.play(2400)
        #expect(heard.suffix(1000).allSatisfy { abs($0) < 1e-5 })
        try run.edit(resetting: true) { _ in }
        #expect(number() == first)
        for links in [2, 1] {
            let before = number()
            try run.edit { description in
                if links == 2 {
                    description.links.append(LinkDescription(from: Endpoint("sine"), to: Endpoint("out")))
                } else {
                    description.links.removeLast()
                }
            }
            #expect(number() != before && run.graph.description.links.count == links + 1)
        }
        let before = number()
        try run.edit { $0.nodes[$0.nodes.firstIndex { $0.name == "gain" }!].mute = true }
        #expect(number() != before)
    }
}
