// SPDX-License-Identifier: Apache-2.0
import CSndfile
import Foundation
import TestSupport

/// `voicegraph say`, `speak` and `voices`.
@Suite(.timeLimit(.minutes(5))) struct SpeechCommandTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    @Test("A text becomes a sound file, from words, a file or standard input") func speak() async throws {
        let text = try scratch.write("text.txt", "One two three.\n")
        var files: [[Float]] = []
        for arguments in [["One", "two", "three."], ["One two three."], ["--file", text]] {
            let out = scratch.file("\(files.count).wav")
            let speak = try Program([Program.voicegraph, "speak", "-o", out] + arguments)
            #expect(try await speak.end() == 0, "\(speak.errors)")
            #expect(speak.errors.hasPrefix("\(out): ") && speak.output == "")
            let file = try SoundFile(out)
            #expect(file.rate == 48000 && file.samples.count == 1)
            files.append(file.samples[0])
        }
        let shell =
            "printf 'One two three.' | \"$0\" speak - -o \(scratch.file("3.wav")) --sample-rate 48000"
        let piped = try Program(["/bin/sh", "-c", shell, Program.voicegraph])
        #expect(try await piped.end() == 0, "\(piped.errors)")
        files.append(try SoundFile(scratch.file("3.wav")).samples[0])
        #expect(files[0].count > 30_000 && files.allSatisfy { $0 == files[0] })
        // Nothing of the speech is cut, and nothing comes after it.
        #expect(files[0].contains { abs($0) > 0.1 })
    }

    @Test("Options choose the voice, and what is none is refused with a reason") func options() async throws {
        func frames(_ arguments: String...) async throws -> Int {
            let out = scratch.file("o.wav")
            let speak = try Program([Program.voicegraph, "speak", "one two three four", "-o", out] + arguments)
            #expect(try await speak.end() == 0, "\(arguments): \(speak.errors)")
            return try SoundFile(out).samples[0].count
        }
        let own = try await frames()
        #expect(try await frames("--rate", "350") < own * 3 / 4)
        #expect(try await frames("--voice", "de", "--pitch", "70", "--volume", "60") != own)
        #expect(try await frames("--engine", "flite", "--voice", "slt") != own)
        for (arguments, code, words) in [
            (["--voice", "klingon-opera"], 1, "espeak-ng has no voice called \"klingon-opera\""),
            (["--language", "xx-YY"], 1, "espeak-ng has no voice called \"xx-YY\""),
            (["--engine", "festival"], 64, "--engine must be"), (["--rate", "0.1"], 64, "--rate must be"),
            (["--engine", "flite", "--language", "de"], 1, "flite has no voice called \"de\""),
            (["--command", "exit 3"], 1, "the command ended with 3"),
            (["-o", "x.mp3"], 64, "must end in .wav, .flac, .ogg or .opus"),
            (["--captions", "x.txt"], 64, "must end in .srt or .vtt"),
        ] {
            let speak = try Program(
                [Program.voicegraph, "speak", "one", "-o", scratch.file("p.wav")] + arguments, folder: scratch.path)
            #expect(try await speak.end() == code, "\(arguments): \(speak.errors)")
            #expect(speak.errors.contains(words), "\(arguments): \(speak.errors)")
        }
    }

    @Test(
        "What is empty, no text or broken markup is refused with a reason",
        arguments: [
            ([UInt8](), "is empty: there is nothing to say"),
            (Array(" \n\t".utf8), "is empty: there is nothing to say"),
            ([0x7f, 0x45, 0x4c, 0x46, 0, 1], "is no text in UTF-8"), ([0xff, 0xfe, 0x41], "is no text in UTF-8"),
            (Array("a\u{1}b".utf8), "this is no text: character 2 is U+0001"),
            (Array("<speak>one".utf8), "the SSML is broken: <speak> at character 1 is not closed"),
        ])
    func badText(_ bytes: [UInt8], _ words: String) async throws {
        let path = scratch.file("bad")
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        let speak = try voicegraph("speak", "--file", path, "-o", scratch.file("o.wav"))
        #expect(try await speak.end() == 1)
        #expect(speak.errors.contains(words), "\(speak.errors)")
        let missing = try voicegraph("speak", "--file", path + "x", "-o", scratch.file("o.wav"))
        #expect(try await missing.end() == 1)
        #expect(missing.errors == "voicegraph: cannot read \(path)x: No such file or directory\n")
    }

    @Test("Captions stand where words are heard") func captions() async throws {
        let text =
            "Good morning, dear listeners & friends. This is a rather long sentence that has to be shown in two parts, since nobody reads as fast as that. The end."
        for format in ["srt", "vtt"] {
            let path = scratch.file("c.\(format)")
            let speak = try voicegraph("speak", text, "-o", scratch.file("c.wav"), "--captions", path)
            #expect(try await speak.end() == 0, "\(speak.errors)")
            let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
            let times = lines.filter { $0.contains(" --> ") }
            #expect(times.count == 4, "\(lines)")
            let clock =
                format == "srt"
                ? /\d\d:\d\d:\d\d,\d{3} --> \d\d:\d\d:\d\d,\d{3}/ : /\d\d:\d\d:\d\d\.\d{3} --> \d\d:\d\d:\d\d\.\d{3}/
            #expect(times.allSatisfy { $0.wholeMatch(of: clock) != nil } && times == times.sorted(), "\(times)")
            #expect(lines.first == (format == "srt" ? "1" : "WEBVTT"))
            let shown = lines.filter { !$0.contains(" --> ") && Int($0) == nil && $0 != "WEBVTT" }
                .map { $0.replacing(/<[\d:.]+>/, with: "").replacing("&amp;", with: "&") }
            #expect(shown.joined(separator: " ") == text, "\(shown)")
            #expect(shown.allSatisfy { $0.count <= 42 })
            // The last one ends with the file.
            let seconds = Double(try SoundFile(scratch.file("c.wav")).samples[0].count) / 48000
            let last = try #require(times.last?.suffix(6).replacing(",", with: ".")).drop { $0 == "0" }
            let end: Double = Double(last) ?? -1
            #expect(abs(end - seconds) < 0.02)
        }
    }

    @Test(
        "Captions have the text letter for letter, whatever words the engine makes of it",
        arguments: [
            ("en", "It costs $5.50, 3.14 times https://a.example/b?c=d on 2024-01-02."), ("es", "¿Qué tal? ¡Muy bien!"),
            ("fr", "« Oui », dit-il : n’est-ce pas ?"), ("cmn", "今天天气很好。我们去公园吧！"),
            ("en", "<speak>It costs <emphasis>$5.50</emphasis> &amp; more.</speak>"),
        ])
    func exactCaptions(_ voice: String, _ text: String) async throws {
        for format in ["srt", "vtt"] {
            let path = scratch.file("c.\(format)")
            let speak = try voicegraph(
                "speak", text, "--voice", voice, "-o", scratch.file("c.wav"), "--captions", path)
            #expect(try await speak.end() == 0, "\(speak.errors)")
            let cues = try String(contentsOfFile: path, encoding: .utf8).components(separatedBy: "\n\n")
                .map { $0.split(separator: "\n").drop { !$0.contains(" --> ") }.dropFirst() }.filter { !$0.isEmpty }
                .map { lines in
                    lines.joined(separator: " ").replacing(/<[\d:.]+>/, with: "").replacing("&amp;", with: "&")
                }
            let shown = text.replacing(/<\/?(speak|emphasis)>/, with: "").replacing("&amp;", with: "&")
            #expect(cues.joined(separator: voice == "cmn" ? "" : " ") == shown, "\(cues)")
        }
    }

    @Test("A render of speech through a node that is late ends with its last sample") func lateRender() async throws {
        var frames: [Int] = []
        for links in ["voice -> out", "voice -> limiter -> out"] {
            let graph = try scratch.write(
                "late.conf",
                """
                [graph]
                links = ["\(links)"]
                [node.voice]
                type = "tts"
                text = "one two three"
                [node.limiter]
                type = "limiter"
                channels = 1
                [node.out]
                type = "output"
                channels = 1
                """)
            let out = scratch.file("late.wav")
            let render = try voicegraph("render", graph, "-o", out)
            #expect(try await render.end() == 0, "\(render.errors)")
            #expect(render.errors.contains("latency of") == links.contains("limiter"), "\(render.errors)")
            frames.append(try SoundFile(out).samples[0].count)
        }
        #expect(frames[0] == frames[1])
    }

    @Test("Voices are listed by engine and language") func voices() async throws {
        let german = try voicegraph("voices", "--engine", "espeak-ng", "--language", "de")
        #expect(try await german.end() == 0)
        #expect(german.output == "German  de  espeak-ng\n")
        let flite = try voicegraph("voices", "--engine", "flite", "--json")
        #expect(try await flite.end() == 0)
        let names = try flite.lines.map { try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: String] }
        #expect(names.map { $0?["name"] } == ["kal16", "slt", "rms", "awb", "kal"])
        let named = try voicegraph("voices", "--engine", "espeak-ng", "--language", "german")
        #expect(try await named.end() == 0)
        #expect(named.output == german.output)
        let none = try voicegraph("voices", "--language", "xx")
        #expect(try await none.end() == 1)
        #expect(none.errors.hasSuffix("voicegraph: no voice is like that; `voicegraph voices` lists all\n"))
    }

    @Test("Without a host the text is spoken alone, until it was heard") func sayAlone() async throws {
        let runtime = scratch.file("runtime")
        try FileManager.default.createDirectory(
            atPath: runtime, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let say = try voicegraph("say", "one", "--driver", "dummy", environment: ["XDG_RUNTIME_DIR": runtime])
        #expect(try await say.end() == 0, "\(say.errors)")
        let wrong = try voicegraph(
            "say", "one", "--driver", "dummy", "--voice", "klingon-opera", environment: ["XDG_RUNTIME_DIR": runtime])
        #expect(try await wrong.end() == 1)
        #expect(wrong.errors.contains("espeak-ng has no voice called \"klingon-opera\""))
        let missing = try voicegraph("say", "one", "--client", "nobody", environment: ["XDG_RUNTIME_DIR": runtime])
        #expect(try await missing.end() == 1)
        #expect(missing.errors.contains("no host 'nobody' is running"))
    }

    @Test("In a host that runs its node speaks") func sayInHost() async throws {
        let runtime = scratch.file("runtime")
        try FileManager.default.createDirectory(
            atPath: runtime, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let environment = ["XDG_RUNTIME_DIR": runtime]
        let graph = try scratch.write(
            "say.conf",
            """
            [graph]
            name = "say"
            links = ["voice -> meter -> out"]
            [node.voice]
            type = "tts"
            [node.meter]
            type = "meter"
            [node.out]
            type = "output"
            """)
        let host = try voicegraph("run", graph, "--driver", "dummy", "--json", environment: environment)
        try await host.plays()
        let say = try voicegraph("say", "one", "two", "--rate", "300", environment: environment)
        #expect(try await say.end() == 0, "\(say.errors)")
        try await host.wait("it has spoken") { $0.lines.contains { $0.contains("speech.finished") } }
        #expect(host.lines.contains { $0.contains("\"speech.started\"") && $0.contains("one two") })
        let wrong = try voicegraph("say", "one", "--voice", "klingon-opera", environment: environment)
        #expect(try await wrong.end() == 1)
        #expect(wrong.errors.contains("espeak-ng has no voice called \"klingon-opera\""))
        host.signal(SIGINT)
        #expect(try await host.end() == 0)
    }
}
