// SPDX-License-Identifier: Apache-2.0
import NodeKit
import TestSupport
import Testing

@testable import Graph
@testable import GraphFile

/// What sounds through a MIDI link that goes ends with it: exactly that, and at once.
@Suite("Hanging notes", .timeLimit(.minutes(2)))
struct HangingNoteTests {
    private static let block = 64

    /// A graph that plays, and what its ports for MIDI get.
    private final class Play {
        let player = GraphPlayer(maxBlock: block)
        private(set) var graph: ResolvedGraph
        private(set) var schedule: Schedule

        init(_ links: [String], _ nodes: [NodeDescription]) throws {
            graph = try makeGraph(links, nodes)
            schedule = try player.publish(graph)
        }

        /// Goes over to another graph, as a host does, but for the fades of audio.
        func change(through stages: Bool = false, _ edit: (inout ResolvedGraph) -> Void) throws {
            edit(&graph)
            let way = stages ? try Transition(from: schedule, to: graph).stages : []
            for stage in way + [graph] {
                schedule = try Compiler.compile(
                    stage, rate: 48000, maxBlock: block, after: schedule, verifying: true)
                player.publish(schedule)
                if stages { player.run([block]) }
            }
        }

        func send(_ port: String, _ events: [[UInt8]]) {
            player.ports[port]?.events += events.map { TimedMIDI(player.position, $0) }
            player.run([block])
        }

        func got(_ port: String, since position: Int = 0) -> [TimedMIDI] {
            player.ports[port]?.events.filter { $0.frame >= position } ?? []
        }

        func index(_ name: String) -> Int { graph.nodes.firstIndex { $0.instance.name == name }! }
    }

    private static let chord: [[UInt8]] = [
        [0x90, 60, 100], [0x90, 64, 100], [0x99, 40, 1], [0xB0, 64, 127], [0x91, 60, 100], [0x91, 60, 0],
        [0x80, 64, 0], [0xB2, 66, 64], [0xB3, 64, 100], [0xB3, 64, 63], [0x94, 1, 1], [0xB4, 123, 0],
        [0xB5, 64, 127], [0xB5, 121, 0],
    ]
    /// What of it sounds.
    private static let ends: [[UInt8]] = [[0x80, 60, 64], [0x89, 40, 64], [0xB0, 64, 0], [0xB2, 66, 0]]

    @Test("A link that is removed ends its notes and lifts its pedals, in the first block without it")
    func unlink() throws {
        let play = try Play(["keys -> synth"], [node("keys", "midi-capture"), node("synth", "midi-playback")])
        play.send("keys_1", Self.chord)
        #expect(play.got("synth_1").map(\.bytes) == Self.chord)
        let end = play.player.position
        try play.change { $0.links = [] }
        play.send("keys_1", [[0x90, 70, 100]])
        play.send("keys_1", [[0x80, 60, 0]])
        #expect(play.got("synth_1", since: end) == Self.ends.map { TimedMIDI(end, $0) })
        // Once, and not again when something else changes.
        try play.change { _ in }
        play.player.run([Self.block])
        #expect(play.got("synth_1", since: end).count == Self.ends.count)
    }

    @Test("A pitch that is bent is centred, and a soft pedal comes up, but for what is back already")
    func bend() throws {
        let play = try Play(["keys -> synth"], [node("keys", "midi-capture"), node("synth", "midi-playback")])
        play.send(
            "keys_1",
            [
                [0xE0, 0, 80], [0xE1, 1, 64], [0xE2, 0, 0], [0xE2, 0, 64], [0xB4, 67, 127], [0xE5, 0, 9],
                [0xB5, 121, 0],
            ])
        let end = play.player.position
        try play.change { $0.links = [] }
        play.player.run([Self.block])
        #expect(play.got("synth_1", since: end).map(\.bytes) == [[0xE0, 0, 64], [0xE1, 0, 64], [0xB4, 67, 0]])
    }

    @Test("Of two links into one input only the one that goes ends, and what the other holds too goes on")
    func two() throws {
        let play = try Play(
            ["keys -> synth", "pads -> synth"],
            [node("keys", "midi-capture"), node("pads", "midi-capture"), node("synth", "midi-playback")])
        play.send("keys_1", [[0x90, 60, 1], [0x90, 61, 1], [0xB0, 64, 127], [0xB1, 64, 127]])
        play.send("pads_1", [[0x90, 61, 1], [0x90, 62, 1], [0xB0, 64, 127]])
        let end = play.player.position
        try play.change { $0.links.remove(at: 0) }
        play.send("pads_1", [[0x90, 63, 1]])
        play.send("pads_1", [[0x80, 61, 0]])
        #expect(
            play.got("synth_1", since: end) == [
                TimedMIDI(end, [0x80, 60, 64]), TimedMIDI(end, [0xB1, 64, 0]), TimedMIDI(end, [0x90, 63, 1]),
                TimedMIDI(end + Self.block, [0x80, 61, 0]),
            ])
    }

    enum Way: String, CaseIterable { case remove, replace, mute, bypass, muteReceiver, removeReceiver }

    @Test("Whatever silences a node that sends notes ends them", arguments: Way.allCases)
    func ways(way: Way) throws {
        //  keys -> filter -> synth; the filter adds a note of its own
        let play = try Play(
            ["keys -> filter", "filter -> synth"],
            [
                node("keys", "midi-capture"),
                node("filter", "unit", ["midi": .integer(1), "midi_out": .integer(1), "seed": .integer(50)]),
                node("synth", "midi-playback"),
            ])
        play.send("keys_1", [[0x90, 60, 100]])
        play.player.run([Self.block])
        #expect(play.got("synth_1").map(\.bytes) == [[0x90, 60, 101], [0x90, 50, 1], [0x90, 50, 2]])
        let end = play.player.position
        let other = try makeGraph([], [node("other", "midi-capture")])
        try play.change(through: true) { graph in
            switch way {
            case .remove:
                graph.nodes.remove(at: 1)
                graph.links = []
            case .replace:
                graph.nodes.append(other.nodes[0])
                graph.links[1].fromNode = 3
                graph.links[1].fromPort = 0
            case .mute: graph.nodes[1].outputMode = .muted
            case .bypass: graph.nodes[1].outputMode = .bypassed
            case .muteReceiver: graph.nodes[2].outputMode = .muted
            case .removeReceiver:
                graph.nodes.remove(at: 2)
                graph.links.remove(at: 1)
            }
        }
        play.send("keys_1", [[0x90, 65, 100]])
        let heard = play.got("synth_1", since: end)
        #expect(heard.prefix(2) == [TimedMIDI(end, [0x80, 50, 64]), TimedMIDI(end, [0x80, 60, 64])])
        // A filter that is bypassed lets through what goes in.
        #expect(heard.dropFirst(2).map(\.bytes) == (way == .bypass ? [[0x90, 65, 100]] : []))
        guard way == .bypass || way == .mute else { return }
        let again = play.player.position
        try play.change(through: true) { $0.nodes[1].outputMode = .open }
        let back = play.got("synth_1", since: again)
        #expect(back.first?.bytes == (way == .bypass ? [0x80, 65, 64] : [0x90, 50, back.first?.bytes[2] ?? 0]))
    }

    @Test("A graph that is replaced before it is heard leaves its ends to the next one")
    func skipped() throws {
        let play = try Play(
            ["keys -> synth", "pads -> synth"],
            [node("keys", "midi-capture"), node("pads", "midi-capture"), node("synth", "midi-playback")])
        play.send("keys_1", [[0x90, 60, 1]])
        play.send("pads_1", [[0x90, 62, 1]])
        let end = play.player.position
        let links = play.graph.links
        try play.change { $0.links.remove(at: 0) }
        try play.change { $0.links = [] }
        // Back again before anybody heard that it was gone: it goes on.
        try play.change { $0.links = [links[1]] }
        play.player.run([Self.block, Self.block])
        #expect(play.got("synth_1", since: end) == [TimedMIDI(end, [0x80, 60, 64])])
    }

    @Test("More notes than fit into a block end in the following ones; none is lost")
    func many() throws {
        let play = try Play(["keys -> synth"], [node("keys", "midi-capture"), node("synth", "midi-playback")])
        for channel in 0..<UInt8(16) {
            play.send("keys_1", (0..<UInt8(128)).map { [0x90 | channel, $0, 1] })
        }
        let end = play.player.position
        try play.change { $0.links = [] }
        play.player.run([Self.block])
        #expect(play.got("synth_1", since: end).count == MIDILimits.events / 2)
        // Another change on the way does not end it.
        try play.change { _ in }
        play.player.run(Array(repeating: Self.block, count: 10))
        let heard = play.got("synth_1", since: end).map(\.bytes)
        #expect(heard.count == 2048 && Set(heard).count == 2048 && heard.allSatisfy { $0[0] & 0xF0 == 0x80 })
        #expect(play.player.engine.counters.lostMIDI == 0)
    }

    @Test(
        "After any edits a receiver holds what its links brought since they began, and nothing else", arguments: 1...8)
    func random(seed: Int) throws {
        var random = TestRandom(seed: UInt64(seed))
        let sources = ["a", "b", "c"]
        let receivers = ["x", "y"]
        let all = sources.flatMap { source in receivers.map { "\(source) -> \($0)" } }
        let play = try Play(
            all, sources.map { node($0, "midi-capture") } + receivers.map { node($0, "midi-playback") })
        let links = play.graph.links
        /// What each link holds, by its place in `links`.
        var held: [Int: Set<[UInt8]>] = Dictionary(uniqueKeysWithValues: links.indices.map { ($0, []) })
        for _ in 0..<300 {
            if random.below(4) == 0 {
                let wanted = Set(links.indices.filter { _ in random.below(2) == 0 })
                try play.change(through: random.below(2) == 0) { $0.links = wanted.sorted().map { links[$0] } }
                held = Dictionary(uniqueKeysWithValues: wanted.map { ($0, held[$0] ?? []) })
            }
            for source in sources.indices where random.below(2) == 0 {
                let (status, key) = (UInt8(0x90 + random.below(2)), UInt8(random.below(6)))
                let isOn = random.below(2) == 0
                play.player.ports["\(sources[source])_1"]?.events.append(
                    TimedMIDI(play.player.position, [status, key, isOn ? 1 : 0]))
                for place in held.keys where links[place].fromNode == source {
                    if isOn { held[place]?.insert([status, key]) } else { held[place]?.remove([status, key]) }
                }
            }
            play.player.run([Self.block])
        }
        try play.change { $0.links = [] }
        play.player.run([Self.block, Self.block])
        for receiver in receivers {
            var sounding: Set<[UInt8]> = []
            for event in play.got("\(receiver)_1") {
                let key = [event.bytes[0] | 0x10, event.bytes[1]]
                if event.bytes[0] & 0x10 != 0, event.bytes[2] > 0 { sounding.insert(key) } else { sounding.remove(key) }
            }
            #expect(sounding.isEmpty, "\(receiver) hangs on \(sounding)")
        }
    }
}

extension TestRandom {
    /// 0..<count
    fileprivate mutating func below(_ count: Int) -> Int { Int(next() % UInt64(count)) }
}
