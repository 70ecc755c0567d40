// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import TestSupport

/// The engine hibari, and what is chosen where nobody names an engine.
@Suite(.serialized) struct HibariTests {
    private static let isInstalled = TestModels.have("hibari", "onnxruntime")
    private static let sentence = "At 9:30, Dr. Smith paid $5 for it. It speaks."

    private func harness(_ engine: String, _ settings: [String: SettingValue] = [:]) throws -> NodeHarness {
        try NodeHarness(pluginType("tts"), settings.merging(["engine": .string(engine)]) { $1 }, offline: true)
    }

    /// Its pitch in Hz where it is strongest, from its correlation with itself.
    private func pitch(_ samples: [Float]) -> Double {
        let loudest = stride(from: 0, to: samples.count - 4800, by: 1200).max {
            Signal.rms(Array(samples[$0..<($0 + 2400)])) < Signal.rms(Array(samples[$1..<($1 + 2400)]))
        }!
        let part = samples[loudest..<(loudest + 4800)]
        func likeness(_ lag: Int) -> Float { zip(part, part.dropFirst(lag)).reduce(0) { $0 + $1.0 * $1.1 } }
        let best = (96...600).max { likeness($0) / Float(4800 - $0) < likeness($1) / Float(4800 - $1) }!
        return 48000 / Double(best)
    }

    @Test("It speaks sentences, tells words as they are written, and says the same twice", .enabled(if: isInstalled))
    func speaks() throws {
        let node = try harness("hibari")
        let samples = try spoken(Self.sentence, by: node)
        #expect((2.0...6.0).contains(Double(samples.count) / 48000) && Signal.peak(samples) > 0.1)
        let words = node.capture.events("speech.word")
        #expect(
            words.map { $0.string("text") } == [
                "At", "9:30", "Dr.", "Smith", "paid", "$5", "for", "it", "It", "speaks",
            ])
        #expect(words.map(\.frame) == words.map(\.frame).sorted() && Set(words.map(\.frame)).count == words.count)
        #expect(node.capture.events("speech.sentence").map { $0.integer("offset") } == [0, 35])
        #expect(try spoken(Self.sentence, by: node) == samples)
        #expect(try spoken("It speaks.", by: node) == spoken("It speaks.", by: harness("hibari")))
    }

    @Test("Rate, pitch and volume change what it says", .enabled(if: isInstalled)) func voice() throws {
        let node = try harness("hibari")
        let own = try spoken(Self.sentence, by: node)
        for rate in [0.5, 0.8, 1.3, 2, 2.5] {
            let share =
                try Double(spoken(Self.sentence, ["rate": .number(rate)], by: node).count) * rate / Double(own.count)
            #expect((0.85...1.15).contains(share), "\(rate): \(share)")
        }
        let high = try spoken(Self.sentence, ["pitch": .integer(75)], by: node)
        #expect(high.count == own.count)
        #expect(abs(pitch(high) / pitch(own) - 1.414) < 0.1, "\(pitch(high)) of \(pitch(own)) Hz")
        let quiet = try spoken(Self.sentence, ["volume": .integer(50)], by: node)
        #expect(abs(Signal.decibels(Signal.rms(quiet) / Signal.rms(own)) + 6.02) < 0.2)
        let unknown = #expect(throws: NodeError.self) { try harness("hibari", ["voice": .string("hart")]) }
        #expect(unknown?.key == "voice" && unknown?.hint == "did you mean \"heart\"?")
        #expect(throws: Never.self) { _ = try harness("hibari", ["language": .string("en-US")]) }
        #expect(throws: NodeError.self) { try harness("hibari", ["language": .string("de")]) }
        #expect(throws: NodeError.self) { try node.perform("speak", ["text": .string("<speak>one</speak>")]) }
    }

    @Test(
        "What it cannot say is passed over with a word, and what is endless is said in parts", .enabled(if: isInstalled)
    )
    func odd() throws {
        let node = try harness("hibari")
        _ = try spoken("你好，世界。 This is English.", by: node)
        #expect(node.capture.logs.contains { $0.text.contains("passed over: 你好") }, "\(node.capture.logs)")
        #expect(node.capture.events("speech.word").map { $0.string("text") } == ["This", "is", "English"])
        _ = try spoken("Привет мир, naïve people say 5 μm of 用Linux系统.", by: node)
        #expect(
            node.capture.logs.contains { $0.text.hasSuffix("passed over: Привет мир … 用 … 系统") },
            "\(node.capture.logs)")
        let long = try spoken(String(repeating: "one two three four five six seven ", count: 20), by: node)
        #expect(node.capture.events("speech.word").count == 140 && Double(long.count) / 48000 > 30)
        node.capture.clear()
        try node.perform("speak", ["text": .string("...")])
        _ = node.renderUntilIdle(limit: 480_000)
        #expect(node.capture.events("speech.word").isEmpty && node.capture.events("speech.finished").count == 1)
    }

    @Test(
        "Where no engine is named it speaks English, and espeak-ng what it cannot say or does not understand",
        .enabled(if: isInstalled))
    func chosen() throws {
        let node = try harness("auto")
        let own = try spoken("It speaks.", by: node)
        #expect(try own == spoken("It speaks.", by: harness("hibari")))
        let markup = "<speak>It <break time='300ms'/> speaks.</speak>"
        #expect(try spoken(markup, by: node) == spoken(markup, by: harness("espeak-ng")))
        let german = try harness("espeak-ng", ["voice": .string("de")])
        #expect(try spoken("Guten Tag.", ["voice": .string("de")], by: node) == spoken("Guten Tag.", by: german))
        #expect(try spoken("It speaks.", ["voice": .string("heart")], by: node) == own)
        let unknown = #expect(throws: NodeError.self) {
            try node.perform("speak", ["text": .string("x"), "voice": .string("hart")])
        }
        #expect(
            unknown?.hint == "did you mean \"heart\"?")
    }

    @Test(
        "A model whose files are broken is told when it is to speak, and the node goes on", .enabled(if: isInstalled),
        arguments: [
            "hibari.onnx", "lexicon_us_gold.json.gz", "tagger.json.gz", "vocab.json", "oov.json", "normalize.json",
        ])
    func broken(file: String) async throws {
        let scratch = try Scratch()
        await #expect(processExitsWith: .success) {
            [folder = scratch.path as String, models = TestModels.folder as String, file = file as String] in
            let own = folder + "/voicegraph/models"
            try FileManager.default.createDirectory(atPath: own + "/hibari", withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(
                atPath: own + "/onnxruntime", withDestinationPath: models + "/onnxruntime")
            for name in try FileManager.default.contentsOfDirectory(atPath: models + "/hibari") {
                let data = try #require(FileManager.default.contents(atPath: models + "/hibari/" + name))
                let part = name == file ? data.prefix(data.count / 2) : data
                try part.write(to: URL(fileURLWithPath: own + "/hibari/" + name))
            }
            setenv(VG_TEST_USER_DATA, folder, 1)
            let node = try NodeHarness(pluginType("tts"), ["engine": .string("hibari")], offline: true)
            try node.perform("speak", ["text": .string("one")])
            _ = node.renderUntilIdle(limit: 480_000)
            let failed = try #require(node.capture.events("speech.failed").first)
            #expect(failed.string("reason")?.contains(file) == true, "\(failed)")
        }
    }
}
