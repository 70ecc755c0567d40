// SPDX-License-Identifier: Apache-2.0
import Graph
import GraphFile
import Host
import TestSupport

@testable import Terminal

@Suite struct ViewTests {
    private func shown(_ view: TerminalView, _ width: Int, _ height: Int, at time: Double = 10.03) -> Emulator {
        var terminal = Emulator(width: width, height: height)
        terminal.apply(view.frame(at: time))
        #expect(terminal.faults.isEmpty)
        return terminal
    }

    @Test("A screen shows driver, levels, speech, failures and keys") func wholeScreen() {
        let terminal = shown(scene(TerminalCapabilities(), width: 80, height: 24), 80, 24)
        for text in [
            "● voice", "jack default · 48 kHz · 128 frames (2.7 ms)", "meter", "orb", "CLIP", "-60", "glowing",
            "▲ denoise is degraded", "0 xruns", "3.4 %", "0:12", "q or Ctrl-C quits", "system:playback_2",
        ] {
            #expect(terminal.text.contains(text), "no \(text)")
        }
    }

    @Test("What is to be known of the driver is shown on every face") func notice() {
        let before = shown(scene(TerminalCapabilities(), width: 80, height: 24), 80, 24)
        let view = scene(TerminalCapabilities(), width: 80, height: 24)
        var status = sampleStatus()
        (status.driver, status.server, status.ownServer) = ("dummy", "voicegraph", true)
        let words = "nothing will be heard: no JACK server named 'default' is running"
        status.notice = words
        #expect(!before.text.contains(words))
        view.update(status: status, at: 11)
        #expect(shown(view, 80, 24, at: 11).text.contains("▲ " + words))
        #expect(StatusLine.opening(status, graph: "voice").hasPrefix("voice: dummy (voicegraph, own), 48 kHz"))
        #expect(StatusLine.opening(status, graph: "voice").contains("\n" + words))
        #expect(StatusTable.text(status, clients: 0).contains("\nnotice   " + words + "\n"))
        let report = FinalReport.text(status, [])
        #expect(report.contains(" played by dummy (voicegraph, own), ") && report.contains("\n  " + words + "\n"))
    }

    @Test("Whatever the graph, its nodes are there: how loud, what they take, what is done to them, how they are")
    func everyNode() {
        var graph = GraphDescription()
        graph.name = "plain"
        graph.nodes = [("tone", "tone"), ("low", "gain"), ("echo", "delay"), ("out", "output")].map {
            NodeDescription(name: $0.0, type: $0.1)
        }
        graph.nodes[1].bypass = true
        graph.nodes[2].mute = true
        for (width, height) in [(80, 24), (40, 10), (130, 40)] {
            let view = TerminalView(graph: graph, capabilities: TerminalCapabilities(), width: width, height: height)
            var status = sampleStatus()
            status.degraded = ["echo": "it hangs"]
            view.update(status: status, at: 9)
            let period = Double(status.block) / status.rate
            view.update(
                timings: [
                    NodeTiming(
                        node: "tone", count: 9, minimum: 0, average: 0, p99: 0, maximum: 0, recent: period * 0.0123,
                        recentMaximum: 0)
                ], at: 9)
            func hear(_ peak: Float, _ node: String) {
                view.update(levels: SeriesFrame(node: node, time: 0, rows: [.init("output", [peak])]), at: 10)
            }
            hear(0.1, "tone")
            hear(0, "out")
            hear(0.5, "nobody")
            let screen = shown(view, width, height)
            for text in ["tone", "-20.0", "1.23 %", "low", "echo", "-∞", "it hangs"] {
                #expect(screen.text.contains(text), "\(width): no \(text) in\n\(screen.text)")
            }
            if width >= 80 {
                #expect(screen.text.contains("gain, bypassed") && screen.text.contains("delay, muted"))
                #expect(screen.text.contains("▆"), "a bar")
            }
            // A node that is gone is no row.
            view.update(graph: sampleGraph(), at: 11)
            #expect(!shown(view, width, height, at: 11).text.contains("1.23 %"))
        }
        // More than there is room for.
        graph.nodes = (0..<60).map { NodeDescription(name: "n\($0)", type: "gain") }
        let view = TerminalView(graph: graph, capabilities: TerminalCapabilities(), width: 80, height: 24)
        let crowded = shown(view, 80, 24)
        #expect(crowded.text.contains("n0 ") && crowded.text.contains(/and \d+ more nodes/))
    }

    @Test(
        "However many nodes and meters there are, the chosen node and what is done to it are in sight",
        arguments: [(20, 80, 24), (20, 120, 35), (60, 200, 50), (20, 40, 12), (60, 80, 24)])
    func chosenInSight(_ count: Int, _ width: Int, _ height: Int) throws {
        var graph = sampleGraph()
        graph.nodes += (0..<count).map { NodeDescription(name: "n\($0).", type: $0 % 3 == 0 ? "meter" : "gain") }
        let view = TerminalView(graph: graph, capabilities: TerminalCapabilities(), width: width, height: height)
        view.look("orb", nil, at: 7)
        view.update(status: sampleStatus(), at: 9)
        for number in stride(from: 0, to: count, by: 3) {
            view.update(
                levels: SeriesFrame(node: "n\(number).", time: 0, peak: [0.5, 0.2], rms: [0.1, 0.1], orb: 0.1), at: 10)
        }
        for _ in 0..<15 { _ = view.press([.down], at: 10) }
        func row() throws -> Substring {
            try #require(
                shown(view, width, height).text.split(separator: "\n").last {
                    $0.contains("n10.") && !$0.contains(": m ")
                },
                "\(shown(view, width, height).text)")
        }
        #expect(try !row().contains("muted"))
        graph.nodes[14].mute = true
        view.update(graph: graph, at: 11)
        view.repaint()
        #expect(try row().contains("muted"))
        view.repaint()
        if width >= 80 { #expect(shown(view, width, height).text.contains("n10., muted: m unmutes")) }
    }

    @Test("The link for browsers stays in sight, whatever happens", arguments: [(80, 24), (40, 10)])
    func link(_ width: Int, _ height: Int) {
        let view = scene(TerminalCapabilities(), width: width, height: height)
        view.update(
            event: Event(HostEvent.web, fields: ["link": .string("http://127.0.0.1:8765/?token=abc")]), at: 10)
        for number in 0..<50 { view.log("line \(number)", at: 10) }
        #expect(shown(view, width, height).text.contains("http://127.0.0.1:8765/?token=abc"))
        // A longer one goes on in the next line.
        let long = "http://127.0.0.1:8765/?token=0123456789abcdef0123456789abcdef"
        view.update(event: Event(HostEvent.web, fields: ["link": .string(long)]), at: 10.1)
        view.repaint()
        let rows = shown(view, width, height).text.split(separator: "\n").map { $0.drop { $0 == " " } }
        #expect(rows.dropFirst().prefix(2).joined().contains(long))
    }

    @Test("A long line of the log is broken at words, and cut where there is no room") func longLines() {
        let words = (1...40).map { "word\($0)" }.joined(separator: " ")
        func rows(_ height: Int) -> [String] {
            let view = TerminalView(
                graph: sampleGraph(), capabilities: TerminalCapabilities(), width: 80, height: height)
            view.look("orb", at: 9)
            view.log("the first", at: 10)
            view.log(words, at: 10)
            return shown(view, 80, height).text.split(separator: "\n").map(String.init)
                .filter { $0.contains("word") || $0.contains("first") }
        }
        let all = rows(44)
        #expect(all.count == 5 && all[0].contains("the first") && all[1].hasPrefix(" word1 "))
        #expect(all.dropFirst(2).allSatisfy { $0.hasPrefix("   word") } && all.last?.hasSuffix("word40") == true)
        let cut = rows(24)
        #expect(cut.count == 2 && cut[0].hasPrefix(" word1 ") && cut[1].hasSuffix(" …"))
    }

    @Test("A low tone and a high one look different, though they are as loud", arguments: ["bars", "wave"])
    func pitch(style: String) {
        let screens = [0, 9].map { band in
            let view = TerminalView(
                graph: sampleGraph(), capabilities: TerminalCapabilities(), width: 80, height: 24)
            view.look(style, follow: true, at: 9)
            #expect(view.wantedSeries() == ["orb.bands", "output"])
            var bands = [Float](repeating: 0, count: 10)
            bands[band] = 1
            view.update(levels: SeriesFrame(node: "orb", time: 0, peak: [0.5], rms: [0.35], orb: 0.8), at: 10)
            view.update(levels: SeriesFrame(node: "orb", time: 0, rows: [.init("bands", bands)]), at: 10)
            return shown(view, 80, 24, at: 10.2).cells
        }
        #expect(screens[0] != screens[1])
    }

    @Test("A node that is removed is shown no more, whatever levels still come") func removedNode() {
        func graph(_ nodes: [(String, String)]) -> GraphDescription {
            var graph = GraphDescription()
            graph.name = "voice"
            graph.nodes = nodes.map { NodeDescription(name: $0.0, type: $0.1) }
            return graph
        }
        let view = TerminalView(
            graph: graph([
                ("first", "meter"), ("second", "meter"), ("orb", "visualizer"), ("gain", "gain"), ("voice", "tts"),
            ]),
            capabilities: TerminalCapabilities(), width: 80, height: 24)
        func levels(_ node: String, at time: Double) {
            view.update(levels: SeriesFrame(node: node, time: 0, peak: [0.5], rms: [0.2], orb: 0.4), at: time)
        }
        view.speak("hello there", "voice", at: 10)
        for node in ["first", "second", "orb", "gain"] { levels(node, at: 10) }
        var terminal = shown(view, 80, 24)
        for text in ["first", "second", "orb", "gain", "hello there"] { #expect(terminal.text.contains(text)) }
        view.update(graph: graph([("third", "meter"), ("second", "meter")]), at: 10.1)
        for node in ["first", "second", "third", "orb", "gain"] { levels(node, at: 10.2) }
        terminal.apply(view.frame(at: 10.3))
        for text in ["first", "orb", "gain", "hello there"] {
            #expect(!terminal.text.contains(text), "\(text) is still there")
        }
        for text in ["second", "third"] { #expect(terminal.text.contains(text), "no \(text)") }
        // Back again.
        view.update(graph: graph([("first", "meter"), ("second", "meter")]), at: 10.4)
        levels("first", at: 10.5)
        terminal.apply(view.frame(at: 10.6))
        #expect(terminal.text.contains("meter") && !terminal.text.contains("third"))
    }

    @Test("The same state twice gives no bytes the second time", arguments: [(80, 24), (200, 50), (40, 10)])
    func noBytes(size: (Int, Int)) {
        let view = scene(TerminalCapabilities(), width: size.0, height: size.1)
        #expect(!view.frame(at: 10.03).isEmpty)
        #expect(view.frame(at: 10.03).isEmpty)
    }

    @Test("Frames that build on each other show what a full frame shows") func increments() {
        let view = scene(TerminalCapabilities(), width: 80, height: 24)
        var terminal = shown(view, 80, 24)
        for step in 1...60 {
            let time = 10.03 + Double(step) / 30
            view.update(
                levels: SeriesFrame(node: "meter", time: 0, peak: [0.3, 0.01], rms: [0.1, 0.01], orb: 0.4), at: time)
            view.update(
                levels: SeriesFrame(node: "orb", time: 0, peak: [Float(step) / 60], rms: [0.1], orb: 0.4), at: time)
            if step == 20 {
                view.speak("漢字 e\u{301} 👋 done", at: time)
            }
            terminal.apply(view.frame(at: time))
        }
        view.repaint()
        var whole = Emulator(width: 80, height: 24)
        whole.apply(view.frame(at: 12.03))
        #expect(terminal.faults.isEmpty)
        // Two halves of as good as the same colour may be shown as one.
        func halved(_ text: String) -> String { String(text.map { $0 == "█" ? "▀" : $0 }) }
        #expect(halved(whole.text) == halved(terminal.text))
        #expect(whole.text.contains("漢字"))
    }

    @Test("Silence costs nothing once everything has come to rest") func atRest() {
        let view = scene(TerminalCapabilities(), width: 80, height: 24, style: "wave")
        view.speak(nil, at: 11)
        var late = 0
        for step in 0..<(30 * 20) {
            let time = 11 + Double(step) / 30
            for node in ["meter", "orb"] {
                let peak: [Float] = node == "meter" ? [0, 0] : [0]
                view.update(levels: SeriesFrame(node: node, time: time, peak: peak, rms: peak, orb: 0), at: time)
            }
            let bytes = view.frame(at: time).count
            if time > 17 { late += bytes }
        }
        #expect(late == 0)
        var status = sampleStatus()
        status.time = 99
        status.degraded = ["denoise": "no plugin http://example.org/rnnoise; install noise-repellent"]
        view.update(status: status, at: 40)
        let clock = view.frame(at: 40).count
        #expect(clock > 0 && clock < 200, "a new second writes a few cells")
    }

    @Test("A new size paints everything for that size") func newSize() {
        let view = scene(TerminalCapabilities(), width: 80, height: 24)
        _ = view.frame(at: 10)
        for (width, height) in [(100, 30), (30, 8), (200, 50), (80, 24)] {
            view.resize(width: width, height: height)
            #expect(shown(view, width, height, at: 10).sequences.contains("[2J"))
        }
    }

    @Test("No size breaks the layout") func anySize() {
        for style in ["orb", "bars"] {
            let view = scene(TerminalCapabilities(), width: 80, height: 24, style: style)
            for width in [0, 1, 2, 3, 7, 12, 15, 16, 17, 19, 20, 29, 33, 39, 40, 55, 56, 59, 60, 79, 133] {
                for height in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 14, 15, 16, 19, 20, 23, 39, 40] {
                    view.resize(width: width, height: height)
                    var terminal = Emulator(width: max(1, width), height: max(1, height))
                    terminal.apply(view.frame(at: 10))
                    #expect(terminal.faults.isEmpty, "\(width)x\(height)")
                }
            }
        }
    }

    @Test("A 40 by 10 screen still has meters and the spoken word") func smallScreen() {
        let text = shown(scene(TerminalCapabilities(), width: 40, height: 10), 40, 10).text
        #expect(text.contains("█"))
        #expect(text.contains("glowing"))
        #expect(text.contains("degraded"))
    }

    @Test("More channels than rows are counted") func manyChannels() {
        let view = TerminalView(
            graph: GraphDescription(name: "big"), capabilities: TerminalCapabilities(), width: 60, height: 12)
        let levels = [Float](repeating: 0.5, count: 64)
        view.update(levels: SeriesFrame(node: "wide", time: 0, peak: levels, rms: levels, orb: 0), at: 0)
        let text = shown(view, 60, 12, at: 0).text
        #expect(text.contains("wide 1"))
        #expect(text.contains("more channels"))
    }

    @Test("Each step of the colour ladder uses only what it has", arguments: ["orb", "bars", "wave"])
    func colourLadder(style: String) {
        for colors in TerminalCapabilities.Colors.allCases {
            let view = scene(TerminalCapabilities(colors: colors), width: 100, height: 30, style: style)
            let terminal = shown(view, 100, 30)
            let lists = terminal.sequences.filter { $0.hasSuffix("m") }
            let rich = lists.contains { $0.contains("8;2;") }
            let palette = lists.contains { $0.contains("8;5;") }
            #expect(rich == (colors == .truecolor))
            #expect(palette == (colors == .palette))
            if colors == .none {
                #expect(terminal.colorCodes.allSatisfy { ["0", "1", "2", "4", "7"].contains($0) })
            }
            if colors == .sixteen {
                #expect(terminal.colorCodes.compactMap { Int($0) }.allSatisfy { $0 < 10 || (30...107).contains($0) })
            }
        }
    }

    @Test("A terminal without UTF-8 gets ASCII only", arguments: ["orb", "bars", "wave"])
    func ascii(style: String) {
        let view = scene(TerminalCapabilities(colors: .sixteen, unicode: false), width: 80, height: 24, style: style)
        view.log("Grüße – “日本” 👋", at: 10)
        let bytes = view.frame(at: 10.03)
        #expect(bytes.allSatisfy { $0 < 127 })
    }

    @Test("Text from files cannot reach the terminal as commands") func noCommands() {
        let evil = "a\u{1B}[2Jb\u{9B}31mc\u{07}d\u{1B}]0;title\u{07}e\u{90}f\u{7F}g\u{202E}h\r\ni\u{0}"
        let view = TerminalView(
            graph: GraphDescription(name: evil, nodes: [NodeDescription(name: evil, type: "tts")]),
            capabilities: TerminalCapabilities(), width: 100, height: 30)
        var status = sampleStatus()
        status.server = evil
        status.degraded = [evil: evil]
        view.update(status: status, at: 0)
        view.log(evil, at: 0)
        view.update(levels: SeriesFrame(node: evil, time: 0, peak: [0.5], rms: [0.5], orb: 0), at: 0)
        view.speak(evil, evil, at: 0)
        view.update(event: Event(evil, node: evil, fields: [evil: .string(evil)]), at: 0)
        var terminal = Emulator(width: 100, height: 30)
        let bytes = view.frame(at: 0)
        terminal.apply(bytes)
        #expect(terminal.faults.isEmpty)
        #expect(terminal.sequences.filter { $0 == "[2J" }.count == 1, "the screen's own")
        #expect(
            terminal.sequences.allSatisfy {
                $0.hasSuffix("m") || $0.hasSuffix("H") || ["[2J", "[?2026h", "[?2026l"].contains($0)
            })
        #expect(
            !String(decoding: bytes, as: UTF8.self).unicodeScalars.contains {
                (0x80..<0xA0).contains($0.value) || $0.value == 0x202E
            })
    }

    @Test("The spoken word is marked and the mark moves") func spokenWord() {
        let view = scene(TerminalCapabilities(), width: 80, height: 24)
        func marked(_ terminal: Emulator) -> String {
            String(terminal.cells.joined().filter { $0.style.contains("48;2;127;219;255") }.map(\.text))
        }
        var terminal = shown(view, 80, 24)
        #expect(marked(terminal) == "glowing")
        view.word(25, 5, at: 10.1)
        terminal.apply(view.frame(at: 10.1))
        #expect(marked(terminal) == "voice")
        view.word(4000, 9, at: 10.2)
        view.word(-4, 9, at: 10.2)
        terminal.apply(view.frame(at: 10.2))
        #expect(marked(terminal) == "voice", "nonsense changes nothing")
    }
}
