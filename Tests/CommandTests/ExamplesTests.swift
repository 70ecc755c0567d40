// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// Every file in config/ does what it says on a machine with the packages of scripts/setup.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ExamplesTests {
    private static let files =
        ((try? FileManager.default.contentsOfDirectory(atPath: packageRoot + "/config")) ?? [])
        .filter { $0.hasSuffix(".conf") }.sorted()

    @Test("There are examples") func someExamples() { #expect(Self.files.count > 12) }

    // Our own servers have four names.
    @Test("Every example runs live") func live() async throws { try await together(3, Self.files, Self.runsLive) }

    private static func runsLive(file: String) async throws {
        let scratch = try Scratch()
        let run = try voicegraph(
            "run", packageRoot + "/config/" + file, "--driver", "dummy", "--json", "--duration", "0.3",
            environment: ["VOICEGRAPH_RECORDINGS": scratch.path])
        #expect(try await run.end() == 0, "\(file): \(run.errors)")
        #expect(run.complaints == [], "\(file)")
        let events = try run.events()
        #expect(
            events.first?["event"] as? String == "running" && events.last?["event"] as? String == "finished", "\(file)")
        let degraded = try #require(events.first?["degraded"] as? [String: Any])
        // A process of its own may be late where the machine is busy: that is told, and is no fault of the example.
        let others = degraded.filter { ($0.value as? String)?.contains(" is late, so that blocks go past it") != true }
        #expect(others.isEmpty, "\(file): \(others)")
        #expect(!events.contains { ($0["event"] as? String)?.hasSuffix(".failed") == true }, "\(file)")
        #expect((events.last?["blocks"] as? Int ?? 0) > 0, "\(file)")
    }

    @Test("Every example is rendered") func rendered() async throws {
        try await together(2, Self.files, Self.isRendered)
    }

    private static func isRendered(file: String) async throws {
        let scratch = try Scratch()
        let path = packageRoot + "/config/" + file
        // What has no output records, and is run only.
        guard try String(contentsOfFile: path, encoding: .utf8).contains("type    = \"output\"") else { return }
        let render = try voicegraph(
            "render", path, "-o", scratch.file("out.wav"), "--duration", "0.2",
            environment: ["VOICEGRAPH_RECORDINGS": scratch.path])
        #expect(try await render.end() == 0, "\(file): \(render.errors)")
        let samples = try SoundFile(scratch.file("out.wav")).samples
        #expect(samples.allSatisfy { $0.count == 9600 && $0.allSatisfy(\.isFinite) }, "\(file)")
        // Without a microphone or a keyboard there is nothing to hear, else there is.
        let silent = ["guitar.conf", "keyboard.conf", "mic.conf", "voice-chain.conf"].contains(file)
        #expect((Signal.peak(samples[0]) > 0.001) != silent, "\(file)")
    }
}

extension ExamplesTests {
    /// Debian's packages that the examples need to run without models, beside what the program is linked with.
    private static let needed = [
        "libcurl4", "libespeak-ng1", "libpocketsphinx3", "libwebrtc-audio-processing1", "pocketsphinx-en-us",
    ]

    @Test("What the examples need is installed before a run and recommended by the package") func packages()
        async throws
    {
        let list = try await runTool([packageRoot + "/scripts/setup", "list", "run"])
        // What is built with brings its library.
        let installed = Set(list.output.split(separator: "\n").map(String.init) + ["libespeak-ng1"])
        #expect(
            installed.contains("libespeak-ng-dev") && installed.isSuperset(of: Self.needed), "\(installed.sorted())")
        let control = try String(contentsOfFile: packageRoot + "/packaging/control", encoding: .utf8)
        let line = try #require(control.split(separator: "\n").first { $0.hasPrefix("Recommends: ") })
        let recommended = Set(line.dropFirst(12).split { " ,|".contains($0) }.map(String.init))
        #expect(recommended.isSuperset(of: Self.needed), "\(recommended.sorted())")
    }
}
