// SPDX-License-Identifier: Apache-2.0
import Foundation
import Graph
import Host
import NodeKit
import TestSupport

@testable import Terminal

@Suite struct BallisticsTests {
    @Test("A peak is held for 1.5 seconds, then falls") func peakHold() {
        var meter = Ballistics()
        meter.update(rms: 0.1, peak: 0.5, at: 0)
        meter.update(rms: 0, peak: 0, at: 0.1)
        #expect(abs(meter.reading(at: 1.5).held + 6.0206) < 1e-3)
        #expect(abs(meter.reading(at: 2).held + 6.0206 + 12) < 1e-3)
        #expect(meter.reading(at: 1).peak < -40)
        #expect(abs(meter.reading(at: 0.5).rms + 20 + 18) < 1e-3)
        #expect(meter.reading(at: 4).held == -.infinity)
    }

    @Test("A clip is shown for 3 seconds") func clip() {
        var meter = Ballistics()
        meter.update(rms: 0.5, peak: 1, at: 0)
        #expect(meter.reading(at: 2.9).clipped)
        #expect(!meter.reading(at: 3).clipped)
        meter.update(rms: 0.5, peak: 0.99, at: 4)
        #expect(!meter.reading(at: 4).clipped)
    }

    @Test("Levels read as people write them") func levelText() {
        #expect(decibelText(-12.34, unicode: true) == "-12.3")
        #expect(decibelText(0, unicode: true) == "0.0")
        #expect(decibelText(3.01, unicode: true) == "+3.0")
        #expect(decibelText(-.infinity, unicode: true) == "-∞")
        #expect(decibelText(-.infinity, unicode: false) == "-inf")
        #expect(fixed(0.05, 1) == "0.1")
        #expect(fixed(-0.04, 1) == "0.0")
        #expect(fixed(12, 0) == "12")
        #expect(rateText(44100) == "44.1 kHz")
        #expect(clock(3725) == "1:02:05")
        #expect(clock(.nan) == "0:00")
    }

    @Test("A bar is as long as its level", arguments: [(-60.0, 0), (-30, 20), (0, 40)])
    func barLength(level: Double, cells: Int) {
        var canvas = Canvas(width: 40, height: 1)
        let reading = Ballistics.Reading(rms: level, peak: level, held: -.infinity, clipped: false)
        MeterBar(theme: Theme(TerminalCapabilities()), reading: reading).draw(
            &canvas, Area(x: 0, y: 0, width: 40, height: 1))
        #expect(canvas.cells.filter { $0.glyph.base == 0x2588 }.count == cells)
    }
}

@Suite struct CellTextTests {
    @Test(
        "Text is as wide as terminals show it",
        arguments: [
            ("plain", 5), ("漢字", 4), ("e\u{301}", 1), ("👋", 2), ("👩‍👩‍👧", 2), ("👍🏽", 2), ("🇩🇪", 2), ("한글", 4), ("ｗ", 2),
            ("\u{1B}[31mx", 5), ("a\u{200B}b", 2), ("\u{FE0F}", 0), ("\t", 1), ("😀️", 2),
        ])
    func textWidth(text: String, width: Int) {
        #expect(columns(text) == width)
    }

    @Test("A wide character that does not fit is left out") func wideCharacter() {
        var canvas = Canvas(width: 3, height: 1)
        #expect(canvas.put(glyphs("漢字"), x: 0, y: 0) == 2)
        #expect(canvas[2, 0] == .blank)
    }

    @Test("Lines break at spaces and long words anywhere") func wrapping() {
        let speech = SpeechFace(node: "n", text: "one two abcdefghijkl 漢字漢字", unicode: true)
        let lines = speech.lines(width: 7).map {
            String(String.UnicodeScalarView(speech.glyphs[$0].compactMap { Unicode.Scalar($0.base) }))
        }
        #expect(lines == ["one two", "abcdefg", "hijkl", "漢字漢", "字"])
    }
}

@Suite struct CapabilitiesTests {
    @Test(
        "The environment tells the colours",
        arguments: [
            (["TERM": "xterm-256color", "COLORTERM": "truecolor"], TerminalCapabilities.Colors.truecolor),
            (["TERM": "xterm-256color"], .palette), (["TERM": "tmux-256color"], .palette),
            (["TERM": "xterm"], .sixteen),
            (["TERM": "linux"], .sixteen), (["TERM": "vt100"], .none),
            (["TERM": "dumb", "COLORTERM": "truecolor"], .none),
            (["TERM": "xterm-256color", "COLORTERM": "24bit", "NO_COLOR": "1"], .none),
            (["TERM": "xterm-256color", "COLORTERM": "24bit", "NO_COLOR": ""], .truecolor), ([:], .none),
            (["TERM": "xterm-direct"], .truecolor),
        ])
    func colours(environment: [String: String], colors: TerminalCapabilities.Colors) {
        #expect(TerminalCapabilities(environment: environment).colors == colors)
    }

    @Test("The locale tells the character set, and TERM whether the cursor moves") func locale() {
        #expect(TerminalCapabilities(environment: ["LANG": "en_US.UTF-8"]).unicode)
        #expect(TerminalCapabilities(environment: ["LANG": "C.utf8"]).unicode)
        #expect(!TerminalCapabilities(environment: ["LANG": "en_US.UTF-8", "LC_ALL": "C"]).unicode)
        #expect(!TerminalCapabilities(environment: [:]).unicode)
        #expect(!TerminalCapabilities(environment: ["TERM": "dumb"]).addressable)
        #expect(!TerminalCapabilities(environment: [:]).addressable)
        #expect(TerminalCapabilities(environment: ["TERM": "xterm"]).addressable)
        #expect(TerminalCapabilities(environment: ["COLORFGBG": "0;15"]).light)
        #expect(!TerminalCapabilities(environment: ["COLORFGBG": "15;0"]).light)
    }
}

@Suite struct LineTests {
    @Test("Events are one JSON object a line with event and time first") func eventLines() throws {
        let event = Event(
            "speech.word", node: "tts", time: 1.25,
            fields: [
                "word": .string("he said \"hi\"\n\u{1B}\u{2028}\\ 漢👋"), "offset": .integer(3), "share": .number(0.5),
                "bad": .number(.nan), "on": .bool(true), "list": .list([.integer(1), .string("a")]),
                "table": .table(["b": .number(2), "a": .bool(false)]), "time": .integer(9),
            ])
        let line = EventJSON.encode(event)
        #expect(
            line
                == #"{"event":"speech.word","time":1.250000,"node":"tts","bad":null,"list":[1,"a"],"offset":3,"on":true,"#
                + #""share":0.5,"table":{"a":false,"b":2},"time_":9,"word":"he said \"hi\"\n\u001b\u2028\\ 漢👋"}"#)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect(object["word"] as? String == "he said \"hi\"\n\u{1B}\u{2028}\\ 漢👋")
        #expect(object["time"] as? Double == 1.25)
    }

    @Test("Levels and the running state are events too") func levelEvents() throws {
        #expect(
            EventJSON.encode(SeriesFrame(node: "m", time: 0.5, peak: [0.5, .infinity], rms: [0.1, 0], orb: 1))
                == #"{"event":"series","time":0.500000,"node":"m","peak":[0.5,null],"rms":[0.1,0],"orb":[1]}"#)
        var status = sampleStatus()
        status.degraded = ["a\"b": "why"]
        let line = EventJSON.encode(status, pid: 42)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect(object["event"] as? String == "running")
        #expect(object["driver"] as? String == "jack")
        #expect(object["server"] as? String == "default")
        #expect(object["rate"] as? Int == 48000)
        #expect(object["block"] as? Int == 128)
        #expect(object["client"] as? String == "voice")
        #expect(object["pid"] as? Int == 42)
        #expect(object["degraded"] as? [String: String] == ["a\"b": "why"])
    }

    @Test("A status line is plain text with the loudest peak since the last") func statusLine() {
        var line = StatusLine()
        line.update(SeriesFrame(node: "m\u{1B}[2J", time: 0, peak: [0.1, 0.5], rms: [0, 0], orb: 0))
        line.update(SeriesFrame(node: "m\u{1B}[2J", time: 0, peak: [0.01, 0.01], rms: [0, 0], orb: 0))
        // What publishes no peaks has no level to show.
        line.update(SeriesFrame(node: "gate", time: 0, rows: [SeriesFrame.Row("gain_reduction", [3])]))
        var status = sampleStatus()
        status.degraded = ["x": "y"]
        #expect(line.line(status) == "0:12  dsp 3.4 %  xruns 0  m[2J -6.0 dBFS  degraded: x")
        #expect(line.line(status) == "0:12  dsp 3.4 %  xruns 0  m[2J -inf dBFS  degraded: x")
        line.keep(["other"])
        #expect(line.line(status) == "0:12  dsp 3.4 %  xruns 0  degraded: x")
        #expect(StatusLine.opening(status, graph: "voice") == "voice: jack (default), 48 kHz, 128 frames")
        status.scheduling.policy = .fifo
        status.scheduling.priority = 70
        status.scheduling.lockedMemory = 3 << 20
        status.scheduling.lockableMemory = nil
        let opening = "voice: jack (default), 48 kHz, 128 frames, SCHED_FIFO 70, 3 MiB locked"
        #expect(StatusLine.opening(status, graph: "voice") == opening)
        // What to do stands in a line of its own, and only where there is something.
        status.scheduling.policy = .other
        let lines = StatusLine.opening(status, graph: "voice").split(separator: "\n")
        #expect(lines.count == 2 && lines[0].hasSuffix("SCHED_OTHER, 3 MiB locked") && lines[1].contains("limits.d"))
    }

    @Test("The last words name the causes of dropouts and what to do") func lastWords() throws {
        var status = sampleStatus()
        status.dropouts = [.node: 3, .upstream: 1]
        let dropout = Dropout(
            cause: .node, nodes: ["reverb"], took: 0.012, usual: 0.001, period: 0.004, lateness: 0, busy: 0.013,
            waited: 0, position: 1, time: 0, cycles: 3, xruns: 1)
        let timing = NodeTiming(node: "reverb", count: 9, minimum: 1e-6, average: 2e-6, p99: 3e-6, maximum: 4e-6)
        let lines = FinalReport.text(status, [timing], [dropout]).split(separator: "\n")
        #expect(
            lines[1...].starts(with: [
                "  3 late cycles: node 'reverb' took 12.0 ms of a block of 4.00 ms, usually 1.00 ms",
                "    give that node less to do, isolate it, or use larger blocks", "  1 late cycle: upstream",
            ]))
        #expect(lines.contains { $0.wholeMatch(of: /\s+reverb +2\.0 +3\.0 +4\.0 +0\.0\d %/) != nil })
        let event = Event("dropout", node: "reverb", fields: dropout.fields)
        #expect(eventText(event) == "late: \(dropout.text) (3 cycles)")
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(EventJSON.encode(status, pid: 1).utf8)) as? [String: Any])
        #expect(object["dropouts"] as? [String: Int] == ["node": 3, "upstream": 1])
        #expect((object["scheduling"] as? [String: Any])?["policy"] as? String == "unknown")
    }
}

@Suite struct TopTests {
    private var state: TopState {
        var status = sampleStatus()
        (status.rate, status.block) = (48_000, 480)
        return TopState(
            status,
            [
                NodeTiming(
                    node: "idle", count: 9, minimum: 1e-6, average: 900e-6, p99: 950e-6, maximum: 990e-6,
                    recent: 1e-6, recentMaximum: 2e-6),
                NodeTiming(
                    node: "busy", count: 9, minimum: 1e-6, average: 2e-6, p99: 3e-6, maximum: 4000e-6,
                    recent: 1000e-6, recentMaximum: 2500e-6),
            ])
    }

    @Test("What a node takes now comes first, whatever it took before") func nodeOrder() {
        let lines = TopTable.text(state).split(separator: "\n")
        #expect(lines[1].wholeMatch(of: /node +now us +peak us +of a block +mean us +99 % us +longest us/) != nil)
        #expect(lines[2].wholeMatch(of: /busy +1000\.0 +2500\.0 +10\.00 % +2\.0 +3\.0 +4000\.0/) != nil, "\(lines)")
        #expect(lines[3].hasPrefix("idle"))
    }

    @Test(
        "A narrow screen keeps what matters most",
        arguments: [
            (
                80,
                ["now us", "peak us", "of a block", "mean us", "99 % us", "longest us", "1000.0", "2500.0", "10.00 %"]
            ),
            (
                66,
                ["now us", "peak us", "of a block", "99 % us", "longest us", "1000.0", "2500.0", "10.00 %", "4000.0"]
            ),
            (40, ["now us", "of a block", "1000.0", "10.00 %"]), (20, ["10.00 %"]),
        ])
    func narrowTable(width: Int, texts: [String]) {
        let view = TopView(capabilities: TerminalCapabilities(), width: width, height: 24)
        view.update(state)
        var terminal = Emulator(width: width, height: 24)
        terminal.apply(view.frame(at: 0))
        #expect(terminal.faults.isEmpty)
        for text in texts { #expect(terminal.text.contains(text), "\(width): no \(text) in\n\(terminal.text)") }
        if width < 80 { #expect(!terminal.text.contains("mean us")) }
    }
}

@Suite struct EventTextTests {
    @Test(
        "Events read as sentences",
        arguments: [
            (
                Event("health", node: "n", fields: ["state": .string("failed"), "reason": .string("why")]),
                "n: failed: why"
            ), (Event("health", node: "n", fields: ["state": .string("ok")]), "n: well again"),
            (
                Event("speech.failed", node: "tts", fields: ["reason": .string("no voice")]),
                "tts: speech failed: no voice"
            ),
            (
                Event("record.finished", node: "r", fields: ["path": .string("a.wav"), "seconds": .number(61.5)]),
                "r: recorded 1:01 to a.wav"
            ),
            (Event("log", node: "n", fields: ["text": .string("hello")]), "n: hello"),
            (
                Event(
                    "graph.changed",
                    fields: [
                        "added": .list([.string("low")]), "linked": .integer(2), "first_block_ms": .number(2.66),
                        "done_ms": .number(13.2), "seconds": .number(0.0132),
                    ]), "graph: +low, 2 links added; heard after 2.7 ms, done after 13.2 ms"
            ),
            (
                Event("transcribe.partial", node: "t", fields: ["item": .integer(1), "text": .string("go for")]),
                "t: go for ..."
            ),
            (
                Event("agent.final", node: "a", fields: ["item": .integer(1), "text": .string("Hello.")]), "a: Hello."
            ),
            (
                Event("agent.user", node: "a", fields: ["typed": .bool(true), "text": .string("hi")]), "typed: hi"
            ),
            (
                Event("agent.ignored", node: "a", fields: ["reason": .string("backchannel"), "text": .string("mhm")]),
                "a: not answered (backchannel): mhm"
            ),
            (
                Event("plugin.late", node: "eq", fields: ["blocks": .integer(1), "plugin": .string("fil4#mono")]),
                "eq: 1 block went past it: the plugin fil4#mono did not answer in time"
            ),
            (
                Event("output.clipped", node: "out", fields: ["peak": .number(1.24)]),
                "out: too loud: +1.2 dB above full scale"
            ),
            (
                Event("format.changed", fields: ["rate": .number(44_100), "block": .integer(512)]),
                "the driver plays at 44.1 kHz, 512 frames now"
            ),
            (
                Event("messages.refused", node: "tts", fields: ["count": .integer(3)]),
                "tts: 3 messages refused: more wait than it can take"
            ),
            (
                Event("property", node: "eq", fields: ["label": .string("Mode"), "value": .string("fast")]),
                "eq: Mode is fast now"
            ),
            (Event("some.other", fields: ["b": .integer(2), "a": .string("x")]), "some other (a x, b 2)"),
        ])
    func eventSentences(event: Event, text: String) {
        #expect(eventText(event) == text)
    }

    @Test("What the screen shows better is no line") func hiddenEvents() {
        #expect(eventText(Event("speech.word", node: "tts")) == nil)
        #expect(eventText(Event("running")) == nil)
        for name in ["turn.asked", "vad.started", "transcribe.state", "agent.user"] {
            #expect(eventText(Event(name)) == nil)
        }
    }

    @Test("A text that grows is one line of the log") func growingText() {
        let graph = GraphDescription(name: "listen")
        let view = TerminalView(graph: graph, capabilities: TerminalCapabilities(), width: 60, height: 24)
        var terminal = Emulator(width: 60, height: 24)
        for (name, item, text) in [
            ("partial", 1, "go"), ("partial", 1, "go for"), ("final", 1, "go forward"), ("partial", 2, "ten"),
        ] {
            let fields: [String: SettingValue] = ["item": .integer(Int64(item)), "text": .string(text)]
            view.update(event: Event("transcribe." + name, node: "t", fields: fields), at: 0)
        }
        terminal.apply(view.frame(at: 1))
        let lines = terminal.text.split(separator: "\n").filter { $0.contains("t: ") }
        #expect(
            lines.count == 2 && lines[0].contains("t: go forward") && lines[1].contains("t: ten ..."),
            "\(terminal.text)")
    }
}
