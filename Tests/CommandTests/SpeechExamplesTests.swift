// SPDX-License-Identifier: Apache-2.0
import CSndfile
import Foundation
import TestSupport

/// The examples that speak and listen do what they are for.
@Suite(.serialized, .timeLimit(.minutes(5))) struct SpeechExamplesTests {
    private let scratch: Scratch
    init() throws { scratch = try Scratch() }

    private func example(_ name: String) -> String { "\(packageRoot)/config/\(name)" }

    @Test("What is said into the microphone on a JACK server becomes text") func dictation() async throws {
        let phrase = "go forward ten meters"
        let server = try await Jackd.start(block: 1024)
        let listener = try voicegraph(
            "run", example("dictation.conf"), "--server", server.name, "--json", "--set",
            "node.text.engine=\"pocketsphinx\"")
        try await eventually("it has its port", seconds: 60) {
            try await server.tool("jack_lsp").contains("dictation:mic_1")
        }
        try await say(phrase, to: "dictation:mic_1", on: server)
        // Parts of it are told where there is time for them: TranscribeTests tests them without a clock.
        @Sendable func texts() throws -> [String?] {
            try listener.events().filter { $0["event"] as? String == "transcribe.final" }.map { $0["text"] as? String }
        }
        try await eventually("its text is there", seconds: 60) { try !texts().isEmpty }
        #expect(try texts() == [phrase])
        listener.signal(SIGTERM)
        #expect(try await listener.end(seconds: 60) == 0)
        server.stop()
    }

    /// The recording begins with the graph, so the file is the beginning of what the microphone was given.
    @Test("R8: one session is written to a file, transcribed and shown at once") func atOnce() async throws {
        let said = scratch.file("said.wav")
        let flite = try await runTool(["flite", "-voice", "kal16", "-t", "go forward ten meters", "-o", said])
        #expect(flite.status == 0, "\(flite.output)")
        let graph = try scratch.write(
            "all.conf",
            """
            [graph]
            links = ["sound -> take", "sound -> text", "sound -> orb"]
            [node.sound]
            type = "file"
            path = "said.wav"
            [node.take]
            type = "record"
            path = "take.wav"
            [node.text]
            type = "transcribe"
            engine = "pocketsphinx"
            [node.orb]
            type = "visualizer"
            """)
        let run = try voicegraph("run", graph, "--driver", "dummy", "--json", "--until-idle")
        #expect(try await run.end(seconds: 60) == 0, "\(run.errors)")
        let events = try run.events()
        func first(_ name: String, _ node: String) -> [String: Any]? {
            events.first { $0["event"] as? String == name && $0["node"] as? String == node }
        }
        #expect(first("transcribe.final", "text")?["text"] as? String == "go forward ten meters")
        let shown = events.filter { $0["event"] as? String == "series" && $0["node"] as? String == "orb" }
        #expect(shown.compactMap { ($0["orb"] as? [Double])?.first }.contains { $0 > 0.5 })
        let written = try SoundFile(scratch.file("take.wav")).samples[0]
        let played = try SoundFile(said)
        #expect(first("record.finished", "take")?["frames"] as? Int == written.count)
        // It goes on until all is recognized, which takes as long as it takes.
        let end = played.samples[0].count * 48000 / played.rate
        #expect(written.count >= end && Signal.peak(written.dropFirst(end + 480)) == 0)
        #expect(abs(Signal.rms(written[..<48000]) / Signal.rms(played.samples[0][..<(played.rate)]) - 1) < 0.02)
    }

    /// What the duck takes away is what is louder without it: nothing of the voice, and all but -18 dB of the music.
    @Test("Music is lower while a voice announces something, and then as it was") func announcement() async throws {
        func rendered(_ depth: Int) async throws -> [Float] {
            let path = scratch.file("\(-depth).wav")
            let run = try voicegraph(
                "render", example("announce.conf"), "-o", path, "--duration", "9", "--channels", "1", "--set",
                "node.duck.depth_db=\(depth)")
            #expect(try await run.end(seconds: 60) == 0, "\(run.errors)")
            var info = SF_INFO()
            let file = try #require(sf_open(path, Int32(SFM_READ), &info))
            defer { sf_close(file) }
            var samples = [Float](repeating: 0, count: Int(info.frames))
            #expect(sf_readf_float(file, &samples, info.frames) == info.frames)
            return samples
        }
        let (low, high) = (try await rendered(-18), try await rendered(0))
        #expect(low.count == 9 * 48000 && low.count == high.count)
        let taken = zip(high, low).map { $0 - $1 }
        func level(_ seconds: Range<Double>) -> Double {
            Signal.rms(taken[Int(seconds.lowerBound * 48000)..<Int(seconds.upperBound * 48000)])
        }
        // Pink noise has its root mean square 15 dB below its level of -12 dB.
        let expected = pow(10, -27.0 / 20) * (1 - pow(10, -18.0 / 20))
        #expect(abs(level(2..<4) / expected - 1) < 0.15, "\(level(2..<4)), \(expected)")
        #expect(level(8.5..<9) < 1e-6)
    }
}
