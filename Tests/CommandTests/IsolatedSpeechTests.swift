// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport

private func count(_ run: Program, _ event: String) -> Int {
    run.lines.count { $0.hasPrefix("{\"event\":\"\(event)\"") }
}

/// What speaks and listens in processes of its own: the same as in the host's, and no more than itself when it dies.
@Suite(.serialized, .timeLimit(.minutes(5))) struct IsolatedSpeechTests {
    private let scratch: Scratch
    init() throws { scratch = try Scratch() }

    private func speaker(_ engine: String, isolated: Bool, text: String) throws -> String {
        try scratch.write(
            "speaker-\(isolated).conf",
            """
            [graph]
            name = "isolated"
            links = ["tts -> out"]
            [node.tts]
            type = "tts"
            engine = "\(engine)"
            text = "\(text)"
            isolate = \(isolated)
            [node.out]
            type = "output"
            channels = 1
            """)
    }

    @Test("An engine speaks there as it does here", arguments: ["espeak-ng", "flite"]) func same(engine: String)
        async throws
    {
        var heard: [[[Float]]] = []
        for isolated in [false, true] {
            let out = scratch.file("\(isolated).wav")
            let run = try voicegraph(
                "render", speaker(engine, isolated: isolated, text: "One two three. And four."), "-o", out)
            #expect(try await run.end(seconds: 60) == 0, "\(run.errors)")
            heard.append(try SoundFile(out).samples)
        }
        let same = heard[0] == heard[1]
        #expect(same && Signal.peak(heard[0][0]) > 0.05)
    }

    @Test("A speaker whose process dies is told, comes back and speaks again; the host plays on") func dies()
        async throws
    {
        let run = try voicegraph(
            "run", speaker("espeak-ng", isolated: true, text: "One two three four five six seven eight nine ten."),
            "--driver", "dummy", "--json", environment: ["XDG_RUNTIME_DIR": scratch.path])
        try await run.wait("it speaks") { _ in count(run, "speech.started") == 1 }
        kill(try #require(isolatedChild(of: run)), SIGKILL)
        try await run.wait("its end is told") { $0.lines.contains { $0.contains("SIGKILL") } }
        try await run.wait("it is back") { _ in count(run, "plugin.started") > 0 }
        let finished = count(run, "speech.finished")
        let words = try voicegraph(
            "ctl", "do", "tts", "speak", "text=again", environment: ["XDG_RUNTIME_DIR": scratch.path])
        #expect(try await words.end() == 0, "\(words.errors)")
        try await run.wait("it has spoken again") { _ in count(run, "speech.finished") > finished }
        run.signal(SIGTERM)
        #expect(try await run.end() == 0, "\(run.errors)")
    }

    @Test("A recognizer understands there what it does here") func listens() async throws {
        func text(isolated: Bool) async throws -> (text: String, wasLate: Bool) {
            let graph = try scratch.write(
                "listener.conf",
                """
                [graph]
                name = "listener"
                links = ["sound -> text"]
                [node.sound]
                type = "file"
                path = "/usr/share/pocketsphinx/test/data/cards/005.wav"
                [node.text]
                type = "transcribe"
                engine = "pocketsphinx"
                isolate = \(isolated)
                """)
            let run = try voicegraph("run", graph, "--driver", "dummy", "--json")
            try await run.wait("its text is there", seconds: 60) { _ in count(run, "transcribe.final") > 0 }
            run.signal(SIGTERM)
            #expect(try await run.end(seconds: 60) == 0, "\(run.errors)")
            let texts = try run.events().filter { $0["event"] as? String == "transcribe.final" }
                .compactMap { $0["text"] as? String }
            return (texts.joined(separator: " / "), count(run, "plugin.late") > 0)
        }
        let here = try await text(isolated: false).text
        #expect(here.contains("spades"))
        // Blocks go past a process that has no processor in time, which is told: then its text is another.
        for attempt in 0..<8 {
            let (there, wasLate) = try await text(isolated: true)
            if there != here, wasLate, attempt < 7 { continue }
            #expect(there == here, "late: \(wasLate)")
            break
        }
    }
}
