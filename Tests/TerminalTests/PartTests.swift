// SPDX-License-Identifier: Apache-2.0
import Foundation
import Graph
import Host
import NodeKit
import Picture
import TestSupport

@testable import Terminal

@Suite struct LevelTextTests {
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
        status.pid = 42
        let line = EventJSON.encode(status)
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
        status.scheduling.sharedMemory = 102 << 20
        #expect(StatusLine.opening(status, graph: "voice") == opening + " beside 102 MiB of the server's")
        status.scheduling.sharedMemory = 0
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
            waited: 0, position: 1, cycles: 3, xruns: 1)
        let timing = NodeTiming(node: "reverb", count: 9, minimum: 1e-6, average: 2e-6, p99: 3e-6, maximum: 4e-6)
        let lines = FinalReport.text(status, [timing], [dropout]).split(separator: "\n")
        #expect(
            lines[1...].starts(with: [
                "  3 late cycles: node 'reverb' took 12.0 ms of a block of 4.00 ms, usually 1.00 ms",
                "    give that node less to do, isolate it, or use larger blocks", "  1 late cycle: upstream",
            ]))
        #expect(lines.contains { $0.wholeMatch(of: /\s+reverb +2\.0 +3\.0 +4\.0 +0\.0\d %/) != nil })
        let event = Event(HostEvent.dropout, fields: dropout.fields)
        #expect(eventText(event) == "late: \(dropout.text) (3 cycles)")
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(EventJSON.encode(status).utf8)) as? [String: Any])
        #expect(object["dropouts"] as? [String: Int] == ["node": 3, "upstream": 1])
        #expect((object["scheduling"] as? [String: Any])?["policy"] as? String == "unknown")
    }
}

@Suite struct PainterTests {
    private func picture(_ level: Float, _ sign: Unicode.Scalar = "▀") -> Canvas {
        var canvas = Canvas(width: 3, height: 1)
        let ink = Ink.rgb(Color(level, 0.5, 0.25))
        canvas.put(sign, x: 0, y: 0, style: Style(foreground: ink, background: sign == "▀" ? ink : .standard))
        canvas.put("x", x: 2, y: 0, style: Style(foreground: ink))
        return canvas
    }

    @Test("Colours of pictures that change by less than the eye sees cost nothing, and never drift away") func alike() {
        var painter = Painter()
        _ = painter.frame(picture(0.5))
        // The letter has another colour, so that there is a frame.
        let near = String(decoding: painter.frame(picture(0.52)), as: UTF8.self)
        #expect(!near.contains("▀") && near.contains("x"))
        let far = String(decoding: painter.frame(picture(0.56)), as: UTF8.self)
        #expect(far.contains("▀"), "0.56 is far from 0.5, which is what is shown")
        #expect(!String(decoding: painter.frame(picture(0.56, "█")), as: UTF8.self).contains("█"), "both halves alike")
        #expect(
            String(decoding: painter.frame(picture(0.56, "▄")), as: UTF8.self).contains("▄"), "one half is clear now")
    }
}
