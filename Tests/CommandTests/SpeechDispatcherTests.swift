// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import TestSupport

@testable import SpeechDispatcher

/// What the server gives, and how it is said.
@Suite struct DispatcherTextTests {
    private func made(_ settings: [String: String]) throws -> DispatcherStyle {
        var style = DispatcherStyle()
        for (name, value) in settings {
            let isSet = style.set(name, value)
            try #require(isSet)
        }
        return style
    }

    @Test("Marks of SSML are taken out, index marks keep their places") func marks() throws {
        let text = DispatcherText(
            markup: "<speak>One &amp; two.<mark name=\"__spd_0\"/> Three<mark name='b'/></speak>", try made([:]))
        #expect(text.text == "One & two. Three")
        #expect(text.marks == [.init(name: "__spd_0", place: 10), .init(name: "b", place: 16)])
        for (markup, said) in [
            ("<speak/>", ""), ("<speak>a < b", "a "), ("x &#65;&#x42;&nbsp;&;& y", "x AB&nbsp;&;& y"),
            ("<p>a</p>b", "a\nb"),
            ("&#99999999999;", "&#99999999999;"), ("<mark/>a<mark name=>b", "ab"),
        ] { #expect(DispatcherText(markup: markup, DispatcherStyle()).text == said, "\(markup)") }
        #expect(DispatcherText(markup: "<speak> \n</speak>", DispatcherStyle()).isBlank)
    }

    @Test("Punctuation is said as far as it is wanted, characters and keys by their names") func names() throws {
        func said(_ mode: String, _ more: [String: String] = [:]) throws -> String {
            let settings = more.merging(["punctuation_mode": mode]) { $1 }
            return DispatcherText(markup: "a, (b) @c.", try made(settings)).text
        }
        #expect(try said("none") == "a, (b) @c.")
        #expect(try said("some") == "a, (b)  at c.")
        #expect(try said("most") == "a,  left paren b right paren   at c.")
        #expect(try said("all") == "a comma,  left paren b right paren   at c dot.")
        #expect(try said("all", ["language": "de"]) == "a, (b) @c.", "their names are English")
        #expect(try DispatcherText(markup: "ab c", made(["spelling_mode": "on"])).text == " A, B,  C,")
        let style = try made(["cap_let_recogn": "spell", "language": "C"])
        #expect(style.name(of: "B") == "capital B" && style.name(of: "b") == "B" && style.name(of: ",") == "comma")
        #expect(style.name(ofKey: "control_alt_x") == "control alt X" && style.name(ofKey: "page-up") == "page up")
    }

    @Test("Settings of the server are what nodes take, and what is none is refused") func settings() throws {
        func number(_ key: String, _ settings: [String: String]) throws -> Double? {
            try Settings(made(settings).arguments[0]).number(key)
        }
        #expect(try number("rate", [:]) == 175 && number("rate", ["rate": "100"]) == 450)
        #expect(try number("rate", ["rate": "-100"]) == 80 && number("rate", ["rate": "50"]) == 303)
        #expect(try number("pitch", [:]) == 50 && number("pitch", ["pitch": "-100"]) == 0)
        #expect(try number("volume", ["volume": "0"]) == 50)
        var style = DispatcherStyle()
        for (name, value) in [
            ("rate", "fast"), ("pitch", "101"), ("punctuation_mode", "much"), ("spelling_mode", "NULL"),
        ] {
            let isSet = style.set(name, value)
            #expect(!isSet, "\(name)=\(value)")
        }
        for (name, value) in [("synthesis_voice", "NULL"), ("what comes", "x"), ("language", "de")] {
            let isSet = style.set(name, value)
            #expect(isSet, "\(name)=\(value)")
        }
        #expect(style.arguments[0]["voice"] == nil && style.arguments[0]["language"] == .string("de"))
        #expect(style.arguments.last?["language"] == nil, "in any language rather than not at all")
    }
}

/// The real Speech Dispatcher with the command as its module.
@Suite(.serialized, .timeLimit(.minutes(5))) struct SpeechDispatcherTests {
    private static let isThere = isInstalled("speech-dispatcher") && isInstalled("spd-say")

    /// A server with one module, which plays a graph with a voice and keeps what is heard of it.
    private final class Server {
        let scratch: Scratch
        let environment: [String: String]
        private let program: Program

        init() async throws {
            scratch = try Scratch()
            let folder = scratch.path
            try scratch.write(
                "sd_voicegraph", "#!/bin/sh\nexec '\(Program.voicegraph)' speech-dispatcher --driver dummy \"$@\"\n")
            chmod(scratch.file("sd_voicegraph"), 0o755)
            try FileManager.default.createDirectory(atPath: folder + "/conf/modules", withIntermediateDirectories: true)
            try """
            LogLevel 3
            CommunicationMethod "unix_socket"
            AddModule "voicegraph" "\(folder)/sd_voicegraph" "voicegraph.conf"
            DefaultModule voicegraph
            """.write(toFile: folder + "/conf/speechd.conf", atomically: true, encoding: .utf8)
            try """
            [graph]
            name = "reader"
            links = ["tts -> out", "tts -> tape"]
            [node.tts]
            type = "tts"
            engine = "espeak-ng"
            [node.out]
            type = "output"
            [node.tape]
            type = "record"
            path = "\(folder)/take.wav"
            """.write(toFile: folder + "/conf/modules/voicegraph.conf", atomically: true, encoding: .utf8)
            environment = [
                "SPEECHD_ADDRESS": "unix_socket:" + folder + "/socket", "XDG_RUNTIME_DIR": folder, "HOME": folder,
                "XDG_DATA_HOME": folder + "/data",
            ]
            program = try Program(
                [
                    "speech-dispatcher", "-s", "-t", "0", "-C", folder + "/conf", "-S", folder + "/socket", "-P",
                    folder + "/pid",
                    "-L", folder,
                ], environment: environment)
            try await program.wait("it listens") { _ in FileManager.default.fileExists(atPath: folder + "/socket") }
        }

        func run(_ arguments: String...) async throws -> Program {
            let program = try Program(arguments, environment: environment)
            let status = try await program.end(seconds: 200)
            let log = (try? String(contentsOfFile: scratch.file("voicegraph.log"), encoding: .utf8)) ?? ""
            #expect(status == 0, "\(program.output)\(program.errors)\(log)")
            return program
        }

        /// Ends it; returns what was heard.
        func end() async throws -> [Float] {
            program.signal(SIGTERM)
            try await program.end()
            let take = scratch.file("take.wav")
            try await eventually("the take is whole") { FileManager.default.fileExists(atPath: take) }
            return try SoundFile(take).samples[0]
        }
    }

    @Test("The command spd-say is heard through the graph, and lists its voices", .enabled(if: isThere)) func say()
        async throws
    {
        let server = try await Server()
        _ = try await server.run("spd-say", "-w", "-l", "en-US", "Hello there.")
        #expect(try await server.run("spd-say", "-L").lines.count > 100)
        let heard = try await server.end()
        #expect(Signal.peak(heard) > 0.05)
    }

    @Test(
        "Programs are told of the beginning, of index marks and of the end, and stop at once", .enabled(if: isThere)
    )
    func events() async throws {
        let server = try await Server()
        let script = """
            import speechd, threading
            client = speechd.SSIPClient("test")
            client.set_data_mode(speechd.DataMode.SSML)
            def speak(text, stops=False):
                begun, ended, told = threading.Event(), threading.Event(), []
                def heard(kind, index_mark=None):
                    told.append(index_mark or kind)
                    if kind == "begin": begun.set()
                    if kind in ("end", "cancel"): ended.set()
                client.speak(text, callback=heard)
                if stops:
                    assert begun.wait(60), told
                    client.stop()
                assert ended.wait(60), told
                print(" ".join(told), flush=True)
            speak('<speak>One two <mark name="a"/>three four <mark name="b"/>five.</speak>')
            speak('<speak>' + 'This is a long sentence that goes on. ' * 20 + '</speak>', stops=True)
            client.set_language("de")
            speak('<speak>Guten Tag.</speak>')
            client.set_synthesis_voice("nobody at all")
            speak('<speak>one</speak>')
            client.close()
            """
        let path = try server.scratch.write("client.py", script)
        let told = try await server.run("/usr/bin/python3", path).lines
        #expect(told == ["begin a b end", "begin cancel", "begin end", "begin end"])
        _ = try await server.end()
    }

    @Test("What cannot begin says why, as the server reads it") func broken() async throws {
        let scratch = try Scratch()
        let graph = try scratch.write("x.conf", "[node.a]\ntype = \"tone\"\n[node.b]\ntype = \"output\"\n")
        let program = try Program([
            "sh", "-c", "printf 'INIT\\n' | '\(Program.voicegraph)' speech-dispatcher --driver dummy '\(graph)'",
        ])
        #expect(try await program.end() == 1)
        #expect(program.lines.count == 2 && program.lines.last == "399 ERR CANT INIT MODULE", "\(program.output)")
        #expect(program.output.hasPrefix("399-no node of ") && program.output.contains("speaks"))
    }

    @Test("Each command has its answer, and what is none is refused") func answers() async throws {
        let scratch = try Scratch()
        let commands = """
            INIT
            AUDIO
            audio_output_method=pulse
            .
            LOGLEVEL
            log_level=3
            .
            SET
            rate=1000
            .
            SET
            rate=10
            .
            WHAT
            STOP
            PAUSE
            SPEAK
            .
            CHAR
            a
            b
            .
            SPEAK
            <speak>
            ..
            </speak>
            .
            QUIT

            """
        let path = try scratch.write("commands", commands)
        let program = try Program(
            ["sh", "-c", "'\(Program.voicegraph)' speech-dispatcher --driver dummy none.conf < '\(path)'"],
            environment: ["XDG_DATA_HOME": scratch.path])
        #expect(try await program.end() == 0, "\(program.errors)")
        #expect(
            program.lines.filter { !$0.hasPrefix("299-") } == [
                "299 OK LOADED SUCCESSFULLY", "207 OK RECEIVING AUDIO SETTINGS", "203 OK AUDIO INITIALIZED",
                "207 OK RECEIVING LOGLEVEL SETTINGS", "203 OK LOGLEVEL SET", "203 OK RECEIVING SETTINGS",
                "303 ERROR INVALID PARAMETER OR VALUE", "203 OK RECEIVING SETTINGS", "203 OK SETTINGS RECEIVED",
                "300 ERR UNKNOWN COMMAND", "202 OK RECEIVING MESSAGE", "301 ERROR CANT SPEAK",
                "202 OK RECEIVING MESSAGE",
                "305 DATA MORE THAN ONE LINE", "202 OK RECEIVING MESSAGE", "200 OK SPEAKING", "701 BEGIN", "703 STOP",
                "210 OK QUIT",
            ])
    }
}
