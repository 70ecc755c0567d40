// SPDX-License-Identifier: Apache-2.0
import GraphFile
import Host
import NodeKit
import TestSupport

@testable import Terminal

/// What keys do on the screen, and what they ask of the host.
@Suite(.timeLimit(.minutes(2))) struct KeyTests {
    private let view: TerminalView

    init() {
        var graph = sampleGraph()
        graph.nodes.append(NodeDescription(name: "ear", type: "transcribe"))
        graph.nodes.append(NodeDescription(name: "low", type: "gain"))
        graph.nodes.append(NodeDescription(name: "take", type: "record"))
        view = TerminalView(graph: graph, capabilities: TerminalCapabilities(), width: 100, height: 40)
        view.look("orb", at: 9)
        view.update(status: sampleStatus(), at: 9)
    }

    /// What comes of keys, in order.
    private func commands(_ keys: [KeyPress], _ count: Int) async -> [FaceCommand] {
        #expect(!view.press(keys, at: 10))
        var commands: [FaceCommand] = []
        var iterator = view.commands.makeAsyncIterator()
        for _ in 0..<count { if let command = await iterator.next() { commands.append(command) } }
        return commands
    }

    private func screen(at time: Double = 10.1) -> String {
        view.repaint()
        var terminal = Emulator(width: 100, height: 40)
        terminal.apply(view.frame(at: time))
        #expect(terminal.faults.isEmpty)
        return terminal.text
    }

    @Test("A node is chosen, muted, bypassed and turned") func nodes() async {
        // Nothing is chosen yet.
        #expect(await commands([.text("m"), .down, .text("m")], 1) == [.mute("tts", true)])
        #expect(
            await commands([.up, .text("b"), .pageDown, .up, .text("+"), .text("-")], 3)
                == [.bypass("tts", true), .gain("low", 1), .gain("low", -1)])
        #expect(screen().contains("low: m mutes, b bypasses"))
        // What is done to it is known when the graph says so.
        var graph = sampleGraph()
        graph.nodes.append(NodeDescription(name: "low", type: "gain"))
        graph.nodes[4].mute = true
        view.update(graph: graph, at: 10)
        #expect(await commands([.text("m")], 1) == [.mute("low", false)])
        // One that is gone is chosen no more.
        view.update(graph: sampleGraph(), at: 10)
        #expect(await commands([.text("m"), .text("k"), .text("m")], 1) == [.mute("speakers", true)])
    }

    @Test("A line is written, and spoken with Enter, not with Escape") func say() async {
        let hello: [KeyPress] = "Hellä q".map { KeyPress.text($0) }
        #expect(await commands([.text("t")] + hello + [.erase, .erase, .enter], 1) == [.say("Hellä")])
        #expect(!view.press([.text("t")] + hello, at: 10))
        #expect(screen().contains("say: Hellä q▏"))
        #expect(!view.press([.escape], at: 10))
        #expect(!screen().contains("say:"))
        #expect(await commands([.text("t"), .text(" "), .enter, .text("x")], 1) == [.perform("tts", "stop")])
        #expect(view.press([.text("t"), .control("c")], at: 10), "Ctrl-C ends it anywhere")
    }

    @Test("The list shows the nodes whose name or type has what is looked for; keys choose among them") func filter()
        async
    {
        func rows() -> [String] {
            screen().split(separator: "\n").map(String.init).filter { $0.contains(/(record|gain|output|tts)\b/) }
        }
        #expect(rows().count == 4)
        #expect(!view.press([.text("/"), .text("L"), .text("o")], at: 10))
        #expect(
            screen().contains("nodes with: Lo▏") && screen().contains("1 of 7 nodes with \"Lo\"") && rows().count == 1)
        #expect(await commands([.enter, .down, .text("m")], 1) == [.mute("low", true)])
        #expect(!view.press([.text("/"), .erase, .erase, .text("z"), .text("z"), .enter], at: 10))
        #expect(screen().contains("0 of 7 nodes with \"zz\"") && rows().isEmpty)
        #expect(!view.press([.down, .escape], at: 10) && rows().count == 4)
        // By type; Escape while it is written lists all again.
        #expect(
            await commands([.text("/")] + "record".map { .text($0) } + [.enter, .down, .text("m")], 1) == [
                .mute("take", true)
            ])
        #expect(!view.press([.text("/"), .escape], at: 10) && rows().count == 4)
    }

    /// The graph with other nodes more.
    private func offer(_ nodes: [(String, String)]) {
        var graph = sampleGraph()
        graph.nodes += nodes.map { NodeDescription(name: $0.0, type: $0.1) }
        view.update(graph: graph, at: 10)
    }

    @Test("Of several recorders it is asked which; each tells that it records, and how long") func recorders() async {
        offer([("host", "record"), ("guest", "record")])
        #expect(!view.press([.text("r")], at: 10))
        #expect(screen().contains("1  host   begin") && screen().contains("2  guest  begin"))
        #expect(await commands([.text("2")], 1) == [.perform("guest", "start")])
        #expect(!screen().contains("which recording"))
        func tell(_ node: String, _ state: String, _ seconds: Double) {
            let fields: [String: SettingValue] = ["state": .string(state), "seconds": .number(seconds)]
            view.update(event: declared(Event("record.state", node: node, fields: fields)), at: 10)
        }
        tell("guest", "recording", 0)
        tell("host", "paused", 61)
        let running = screen(at: 17.2)
        #expect(running.contains("● REC 0:07 guest") && running.contains("‖ paused 1:01 host"), "\(running)")
        #expect(running.contains(/guest +(record, )?REC 0:07/))
        #expect(await commands([.text("r"), .down, .down, .up, .enter], 1) == [.perform("host", "finish")])
        #expect(await commands([.text("r"), .down, .enter], 1) == [.perform("guest", "finish")])
        #expect(await commands([.text("r"), .escape, .text(" ")], 1) == [.perform("host", "resume")])
        // The one that is chosen is not asked for, and it is the one that is held.
        #expect(
            await commands([.up, .text("r"), .text(" ")], 2) == [
                .perform("guest", "finish"), .perform("guest", "pause"),
            ])
        tell("guest", "finished", 9)
        #expect(await commands([.text("r")], 1) == [.perform("guest", "start")])
        #expect(!screen().contains("REC"))
    }

    @Test("Who answers is told how it stands, and gets a line that is typed") func agent() async {
        #expect(!view.press([.text("a")], at: 10) && !screen().contains("to "), "nobody answers")
        offer([("helper", "agent")])
        #expect(await commands([.text("a"), .text("h"), .text("i"), .enter], 1) == [.ask("helper", "hi")])
        #expect(!view.press([.text("a"), .text("x")], at: 10) && screen().contains("to helper: x▏"))
        #expect(!view.press([.escape], at: 10))
        func tell(_ fields: [String: SettingValue]) {
            view.update(event: declared(Event("agent.state", node: "helper", fields: fields)), at: 10)
        }
        tell(["state": .string("thinking"), "label": .string("Thinking...")])
        #expect(screen().contains("helper: Thinking...") && screen().contains(/helper +(agent, )?Thinking/))
        tell(["state": .string("error"), "label": .string("Error"), "error": .string("Connection lost")])
        #expect(screen().contains("helper: Connection lost"))
    }

    @Test("A key does one thing, and is listed in one place") func onceEach() {
        func all<Act>(_ table: KeyTable<Act>) -> [KeyPress] { table.entries.flatMap { $0.keys.map(\.key) } }
        for keys in [all(FaceKeys.table), all(TopKeys.table), all(RecordKeys.table)] {
            #expect(Set(keys).count == keys.count && !keys.isEmpty)
        }
        #expect(keys("\u{1B}[C\u{1B}[D\u{1B}OD".utf8) == [.right, .left, .left])
    }

    @Test("A recording is begun, held and completed; without one the voice is held") func record() async {
        #expect(await commands([.text(" "), .text("r")], 2) == [.perform("tts", "pause"), .perform("take", "start")])
        func tell(_ name: String, _ node: String, _ fields: [String: SettingValue]) {
            view.update(event: Event(name, node: node, fields: fields), at: 10)
        }
        tell("record.state", "take", ["state": .string("recording")])
        #expect(
            await commands([.text(" "), .text("r")], 2) == [.perform("take", "pause"), .perform("take", "finish")])
        tell("record.state", "take", ["state": .string("paused")])
        #expect(await commands([.text(" ")], 1) == [.perform("take", "resume")])
        tell("record.state", "take", ["state": .string("idle")])
        tell("speech.state", "tts", ["paused": .bool(true)])
        #expect(await commands([.text(" ")], 1) == [.perform("tts", "resume")])
    }

    @Test("V1, V3: A dictation is begun and ended by one key, and kept by another once it is whole") func dictate()
        async
    {
        func tell(_ name: String, _ fields: [String: SettingValue]) {
            view.update(event: declared(Event("transcribe." + name, node: "ear", fields: fields)), at: 10)
        }
        #expect(await commands([.text("w"), .text("d")], 1) == [.perform("ear", "toggle")])
        #expect(screen().contains("nothing was dictated"))
        tell("state", ["state": .string("listening")])
        tell("partial", ["item": .integer(1), "text": .string("call")])
        tell("final", ["item": .integer(1), "text": .string("call anna")])
        tell("partial", ["item": .integer(2), "text": .string("back")])
        tell("partial", ["item": .integer(3), "text": .string("never mind")])
        tell("cancelled", ["item": .integer(3)])
        #expect(await commands([.text("w"), .text("d")], 1) == [.perform("ear", "toggle")])
        #expect(screen().contains("ear still listens"))
        tell("final", ["item": .integer(2), "text": .string("back on monday")])
        tell("state", ["state": .string("idle")])
        #expect(await commands([.text("w")], 1) == [.keep("ear", "call anna back on monday")])
        // Nothing is lost before it is kept.
        tell("final", ["item": .integer(4), "text": .string("at nine")])
        #expect(await commands([.text("w")], 1) == [.keep("ear", "call anna back on monday at nine")])
        view.kept("ear", as: 12, at: 10)
        #expect(screen().contains("ear: kept as text 12"))
        #expect(await commands([.text("w"), .text("d")], 1) == [.perform("ear", "toggle")])
    }

    @Test("V3: What is kept without being asked for is not kept twice, and what an agent hears is no dictation")
    func keepOnce() async {
        func offer(_ keep: Bool, _ archive: Bool, _ others: [String] = []) {
            var graph = sampleGraph()
            graph.archive = archive
            graph.nodes.append(NodeDescription(name: "ear", type: "transcribe"))
            graph.nodes[graph.nodes.count - 1].keep = keep
            graph.nodes += others.map { NodeDescription(name: $0, type: $0) }
            view.update(graph: graph, at: 10)
        }
        view.update(
            event: declared(
                Event("transcribe.final", node: "ear", fields: ["item": .integer(1), "text": .string("anna")])),
            at: 10)
        offer(true, true)
        #expect(await commands([.text("w"), .text("d")], 1) == [.perform("ear", "toggle")])
        #expect(screen().contains("ear keeps what it hears by itself"))
        offer(true, false)
        #expect(await commands([.text("w")], 1) == [.keep("ear", "anna")])
        offer(false, true, ["agent"])
        #expect(await commands([.text("w"), .text("d"), .text("x")], 1) == [.perform("tts", "stop")])
    }

    @Test("Pictures have other styles and colours, and what they need is measured") func looks() {
        view.update(levels: SeriesFrame(node: "orb", time: 0, peak: [0.5], rms: [0.3], orb: 0.6), at: 10)
        #expect(view.wantedSeries() == ["output"])
        let orb = screen()
        #expect(!view.press([.text("s")], at: 10))
        #expect(view.wantedSeries() == ["output", "orb.bands"] && view.wantedSeries() == nil)
        #expect(screen() != orb)
        #expect(!view.press([.text("s"), .text("s"), .text("p")], at: 10))
        #expect(view.wantedSeries() == ["output", "orb.spectrum"])
        #expect(!view.press(Array(repeating: .text("s"), count: 6), at: 10))
        #expect(view.wantedSeries() == ["output"], "around, at the orb again")
        // Somebody gives it another style: what was chosen here is over.
        view.look("bars", at: 10)
        #expect(view.wantedSeries() == ["output", "orb.bands"])
    }

    @Test("Clips are forgotten") func clips() {
        view.update(levels: SeriesFrame(node: "meter", time: 0, peak: [1.2, 0.1], rms: [0.3, 0.1], orb: 0.6), at: 10)
        #expect(screen().contains("CLIP"))
        #expect(!view.press([.text("c")], at: 10.1))
        #expect(!screen(at: 10.2).contains("CLIP"))
    }

    @Test("All keys are shown on request, on any screen; any key goes back") func help() {
        #expect(screen().contains("? shows all keys"))
        #expect(!view.press([.text("?")], at: 10))
        for entry in TerminalView.keys { #expect(screen().contains(entry.does), "no \(entry)") }
        for (width, height) in [(20, 6), (5, 2), (60, 12)] {
            view.resize(width: width, height: height)
            var terminal = Emulator(width: width, height: height)
            terminal.apply(view.frame(at: 10.2))
            #expect(terminal.faults.isEmpty)
        }
        view.resize(width: 100, height: 40)
        #expect(!view.press([.text("m")], at: 10.3) && !screen().contains("this list"))
        #expect(view.press([.text("?"), .text("q")], at: 10.4))
    }

    @Test("What a terminal tells of itself is no key, however late it comes") func answers() {
        #expect(keys("\u{1B}]11;rgb:ffff/rrqq\u{1B}\\q".utf8) == [.text("q")])
        #expect(keys("a\u{1B}]11;rgb:q\u{07}\u{1B}[?64;1c\u{1B}_Gi=1;OK\u{1B}\\b".utf8) == [.text("a"), .text("b")])
        #expect(keys("\u{1B}]11;rgb:q".utf8) == [])
        #expect(keys("\u{1B}".utf8) == [.escape])
    }

    @Test("A background is read in every form that terminals write") func backgrounds() throws {
        func read(_ text: String) -> Float? { Terminal.background(Array(text.utf8))?.luminance }
        #expect(try #require(read("\u{1B}]11;rgb:f/f/f\u{07}")) > 0.99)
        #expect(try #require(read("\u{1B}]11;rgba:8000/8000/8000/ffff\u{07}")) < 0.51)
        for wrong in ["", "\u{1B}]11;?", "\u{1B}]11;rgb:ff/ff", "\u{1B}]11;rgb:fffff/0/0", "\u{1B}]10;rgb:f/f/f"] {
            #expect(read(wrong) == nil, "\(wrong)")
        }
    }
}
