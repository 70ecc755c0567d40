// SPDX-License-Identifier: Apache-2.0
import GraphFile
import Host
import NodeKit
import TestSupport

@testable import Terminal

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
            (
                Event(
                    "record.finished", node: "r",
                    fields: [
                        "path": .string("a.wav"), "seconds": .number(5), "true_peak": .number(-1.04),
                        "loudness": .number(-19.0733),
                    ]), "r: recorded 0:05 to a.wav, true peak -1.0 dBTP, -19.1 LUFS"
            ),
            (Event("log", node: "n", fields: ["text": .string("hello")]), "n: hello"),
            (
                Event("graph.changed", fields: ["linked": .integer(2), "text": .string("+low, 2 links added")]),
                "graph: +low, 2 links added"
            ),
            (
                Event("dropout", fields: ["text": .string("'a' took 9 ms"), "cycles": .integer(2)]),
                "late: 'a' took 9 ms (2 cycles)"
            ), (Event("server.lost"), "the JACK server is gone"),
            (
                Event("server.found", fields: ["driver": .string("jack"), "server": .string("default")]),
                "the server is there (jack 'default'): the graph plays through it now"
            ),
            (
                Event("transcribe.partial", node: "t", fields: ["item": .integer(1), "text": .string("go for")]),
                "t: go for ..."
            ),
            (
                Event("agent.final", node: "a", fields: ["item": .integer(1), "text": .string("Hello.")]), "a: Hello."
            ),
            (
                Event("agent.user", node: "a", fields: ["typed": .bool(true), "text": .string("hi")]), "a: typed: hi"
            ),
            (
                Event("agent.ignored", node: "a", fields: ["reason": .string("backchannel"), "text": .string("mhm")]),
                "a: not answered (backchannel): mhm"
            ),
            (
                Event("output.clipped", node: "out", fields: ["peak": .number(1.24)]),
                "out: too loud: +1.2 dB above full scale"
            ),
            (
                Event("format.changed", fields: ["rate": .number(44_100), "block": .integer(512)]),
                "the driver plays at 44100 Hz, 512 frames now"
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
        #expect(eventText(declared(event)) == text)
    }

    @Test("What the screen shows better is no line") func hiddenEvents() {
        for name in [
            "speech.word", "running", "turn.asked", "vad.started", "transcribe.state", "agent.user", "agent.typed",
            "record.levels", "status", "xrun", "input.judged", "speech.state", "transcribe.cancelled",
            "parameter.changed", "setting.changed", "node.switched",
        ] {
            #expect((eventText(declared(Event(name))) == nil) == (name != "transcribe.cancelled"), "\(name)")
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
            view.update(event: declared(Event("transcribe." + name, node: "t", fields: fields)), at: 0)
        }
        terminal.apply(view.frame(at: 1))
        let lines = terminal.text.split(separator: "\n").filter { $0.contains("t: ") }
        #expect(
            lines.count == 2 && lines[0].contains("t: go forward") && lines[1].contains("t: ten ..."),
            "\(terminal.text)")
    }

    @Test("No event that a node declares is shown as it is written") func declaredEvents() throws {
        let catalog = NodeRegistry(search: .standard()).fullCatalog()
        var seen: Set<String> = []
        for type in catalog.types.keys.sorted() {
            for declared in catalog.descriptor(type)?.events ?? [] {
                var event = Event(declared, node: "n")
                // A failure is told by its reason.
                for field in declared.fields where field.name != "reason" || declared.name.hasSuffix(".failed") {
                    event.fields[field.name] =
                        switch field.kind {
                        case VG_NUMBER: .number(2.5)
                        case VG_INTEGER: .integer(2)
                        case VG_BOOL: .bool(true)
                        default: .string("text")
                        }
                }
                seen.insert(declared.name)
                let raw = "n: " + declared.name.split(separator: ".").joined(separator: " ")
                #expect(eventText(event)?.hasPrefix(raw + " (") != true && eventText(event) != raw, "\(declared.name)")
            }
        }
        #expect(seen.isSuperset(of: ["tap.dropped", "transcribe.behind", "record.clipped", "agent.tool"]), "\(seen)")
    }
}
