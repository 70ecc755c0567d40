// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// The example that takes a voice out of a microphone, and the node in a process of its own.
@Suite(.serialized, .timeLimit(.minutes(5))) struct EchoExampleTests {
    private let scratch: Scratch
    init() throws { scratch = try Scratch() }

    /// What a microphone hears of a voice: later, and twice.
    private func heard(_ played: [Float]) -> [Float] {
        played.indices.map { frame in
            (frame >= 1200 ? 0.8 * played[frame - 1200] : 0) + (frame >= 3100 ? 0.4 * played[frame - 3100] : 0)
        }
    }

    @Test("The example records who speaks, and not the voice from the loudspeakers") func example() async throws {
        let example = packageRoot + "/config/echo-cancel.conf"
        func rendered(_ arguments: [String] = []) async throws -> [Float] {
            let render = try Program(
                [
                    Program.voicegraph, "render", example, "-o", scratch.file("out.wav"), "--duration", "6",
                    "--channels", "1",
                ] + arguments,
                environment: ["VOICEGRAPH_RECORDINGS": scratch.file("takes")])
            #expect(try await render.end(seconds: 120) == 0, "\(render.errors)")
            return try SoundFile(scratch.file("out.wav")).samples[0]
        }
        let files = FileManager.default
        try files.createDirectory(atPath: scratch.file("takes"), withIntermediateDirectories: true)
        let echo = heard(try await rendered())
        for name in try files.contentsOfDirectory(atPath: scratch.file("takes")) {
            try files.removeItem(atPath: scratch.file("takes/" + name))
        }
        try SoundFile(rate: 48000, samples: [echo]).write(scratch.file("mic.wav"))
        _ = try await rendered(["--input", "mic=" + scratch.file("mic.wav")])
        let name = try #require(try files.contentsOfDirectory(atPath: scratch.file("takes")).first)
        let take = try SoundFile(scratch.file("takes/" + name)).samples[0]
        #expect(take.count == 6 * 48000)
        let span = 2 * 48000..<6 * 48000
        let erle = Signal.decibels(Signal.rms(echo[span]) / Signal.rms(take[span]))
        print("figure: the example: ERLE \(erle) dB")
        #expect(erle > 25)
    }

    @Test("In a process of its own it gives the same") func isolated() async throws {
        let noise = Signal.noise(frames: 96000, seed: 3, amplitude: 0.2)
        try SoundFile(rate: 48000, samples: [noise]).write(scratch.file("played.wav"))
        try SoundFile(rate: 48000, samples: [heard(noise)]).write(scratch.file("heard.wav"))
        func rendered(isolate: Bool) async throws -> [Float] {
            let graph = try scratch.write(
                "isolate-\(isolate).conf",
                """
                [graph]
                name = "isolated-echo"
                links = ["heard -> echo -> out", "played -> echo.reference"]
                [node.heard]
                type = "file"
                path = "heard.wav"
                [node.played]
                type = "file"
                path = "played.wav"
                [node.echo]
                type = "echo"
                isolate = \(isolate)
                [node.out]
                type = "output"
                channels = 1
                """)
            let render = try voicegraph("render", graph, "-o", scratch.file("out.wav"), "--duration", "2")
            #expect(try await render.end(seconds: 60) == 0, "\(render.errors)")
            return try SoundFile(scratch.file("out.wav")).samples[0]
        }
        let (here, there) = (try await rendered(isolate: false), try await rendered(isolate: true))
        let same = here == there
        #expect(same && Signal.peak(here) > 0.01)
    }

    @Test(
        "A library that is not there is told at its line, with the package and what goes without it",
        .enabled(if: geteuid() == 0 && FileManager.default.isExecutableFile(atPath: "/usr/bin/unshare"), "needs root"),
        arguments: [
            ("speex", "libspeexdsp", "libspeexdsp1"),
            ("webrtc", "libwebrtc_audio_processing", "libwebrtc-audio-processing1"),
        ])
    func missing(_ engine: String, _ library: String, _ package: String) async throws {
        let graph = try scratch.write(
            "missing.conf",
            """
            [graph]
            name = "missing"
            links = ["tone -> echo -> out"]
            [node.tone]
            type = "tone"
            [node.echo]
            type = "echo"
            engine = "\(engine)"
            [node.out]
            type = "output"
            channels = 1
            """)
        let hide = """
            for file in /usr/lib/*/\(library).so.1 /lib/*/\(library).so.1; do
                if [ -e "$file" ]; then mount --bind /dev/null "$(readlink -f "$file")"; fi
            done
            exec "$@"
            """
        let render = try Program(
            [
                "unshare", "-m", "bash", "-c", hide, "bash", Program.voicegraph, "render", graph, "-o",
                scratch.file("out.wav"),
            ],
            folder: scratch.path)
        #expect(try await render.end(seconds: 60) == 1)
        #expect(
            render.errors.contains("missing.conf:8:10: error: node 'echo': cannot load \(library).so.1"),
            "\(render.errors)")
        #expect(render.errors.contains("hint: apt install \(package), or engine = \"kalman\""), "\(render.errors)")
    }
}
