// SPDX-License-Identifier: Apache-2.0
import Foundation
import Graph
import Host
import NodeKit
import TestSupport

/// Who listens to speech hears when somebody speaks and when he has finished.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ListenTests {
    /// The detectors that can be used here.
    static let detectors = ["webrtc"] + (TestModels.have("onnxruntime", "silero-vad") ? ["silero"] : [])

    /// A second of silence, a sentence, and two seconds of silence, at a rate that is a multiple of 16 kHz.
    private func sentence(rate: Double) throws -> (samples: [Float], begin: Double, end: Double) {
        let heard = try silence(1) + spoken("please turn the light in the kitchen on") + silence(2)
        // The voice begins and ends with silence of its own.
        let begin = heard.firstIndex { abs($0) > 0.02 } ?? 0
        let end = heard.lastIndex { abs($0) > 0.02 } ?? 0
        return (stretched(heard, Int(rate / 16000)), Double(begin) / 16000, Double(end) / 16000)
    }

    /// Each sample so many times, on straight lines.
    private func stretched(_ samples: [Float], _ times: Int) -> [Float] {
        if times <= 1 { return samples }
        return samples.indices.flatMap { index -> [Float] in
            let next = index + 1 < samples.count ? samples[index + 1] : samples[index]
            return (0..<times).map { samples[index] + (next - samples[index]) * Float($0) / Float(times) }
        }
    }

    /// What a host gives nodes, with its models elsewhere.
    private func services(models: String) -> NodeServices {
        var services = NodeServices()
        services.folders.models = models
        return services
    }

    private func vad(_ detector: String, rate: Double = 48000, maxBlock: Int = 8192) throws -> NodeHarness {
        try NodeHarness(
            pluginType("vad"), ["detector": .string(detector)], rate: rate, maxBlock: maxBlock, offline: true)
    }

    @Test("Speech is told where it begins and where it ends", arguments: detectors, [16000.0, 48000, 96000, 192_000])
    func places(_ detector: String, _ rate: Double) throws {
        let (samples, begin, end) = try sentence(rate: rate)
        let node = try vad(detector, rate: rate)
        let output = node.render(samples.count, block: 1024, inputs: [samples])
        #expect(output == [samples])
        let starts = node.capture.events("vad.started").map { Double($0.frame) / rate }
        let ends = node.capture.events("vad.ended").map { Double($0.frame) / rate }
        let first = try #require(starts.first)
        let last = try #require(ends.last)
        #expect(starts.count == ends.count)
        #expect(abs(first - begin) < 0.15, "\(starts), spoken from \(begin)")
        #expect(abs(last - end) < 0.15, "\(ends), spoken until \(end)")
        // Controls follow: none before, 1 during, none after.
        let speech = node.controlOutputs.map { $0[0] }
        func control(_ seconds: Double) -> Float { speech[Int(seconds * rate) / 1024] }
        #expect(control(0.5) == 0 && control((begin + end) / 2) == 1 && speech.last == 0)
        #expect(
            node.capture.events("vad.state").map { $0.bool("speech") } == [false]
                + starts.flatMap { _ in [true, false] })
        #expect(node.capture.events("vad.state").first?.string("detector") == detector)
    }

    @Test("It is the same in all blocks", arguments: detectors, [64, 1000, 8192])
    func blocks(_ detector: String, _ block: Int) throws {
        let (samples, _, _) = try sentence(rate: 48000)
        func heard(_ block: Int) throws -> [Int] {
            let node = try vad(detector)
            _ = node.render(samples.count, block: block, inputs: [samples])
            return node.capture.events.filter { $0.name != "vad.state" }.map(\.frame)
        }
        let events = try heard(block)
        #expect(try events == heard(256) && !events.isEmpty)
    }

    @Test("Silence, and what is no number, are no speech", arguments: detectors)
    func nothing(_ detector: String) throws {
        let node = try vad(detector)
        var samples = [Float](repeating: 0, count: 96000)
        samples[24000] = .nan
        samples[48000] = .infinity
        _ = node.render(samples.count, inputs: [samples])
        #expect(node.capture.events("vad.started").isEmpty)
        // And after that it still hears.
        let (speech, _, _) = try sentence(rate: 48000)
        _ = node.render(speech.count, inputs: [speech])
        #expect(!node.capture.events("vad.started").isEmpty)
    }

    @Test(
        "Noise is no speech for the model",
        .enabled(if: TestModels.have("onnxruntime", "silero-vad"), "needs the models onnxruntime and silero-vad"))
    func noises() throws {
        let node = try vad("silero")
        _ = node.render(240_000, inputs: [noise(240_000)])
        #expect(node.capture.events("vad.started").isEmpty)
    }

    @Test(
        "While a room sounds as it did before, the model rests, and it hears the next who speaks",
        .enabled(if: TestModels.have("onnxruntime", "silero-vad"), "needs the models onnxruntime and silero-vad"),
        arguments: [0, 0.0003, 0.01] as [Float])
    func rests(_ level: Float) throws {
        let node = try vad("silero")
        let (speech, begin, end) = try sentence(rate: 48000)
        var position = 0
        func hear(_ samples: [Float], noise level: Float) {
            let heard = zip(samples, noise(samples.count)).map { $0 + $1 * level }
            _ = node.render(heard.count, block: 1024, inputs: [heard])
            position += heard.count
        }
        // What the model says is never nothing at all.
        func isAtRest() -> Bool { node.controlOutputs.last?[1] == 0 }
        func silence(_ seconds: Int) -> [Float] { Array(repeating: 0, count: seconds * 48000) }
        for _ in 0..<2 {
            hear(silence(4), noise: level)
            #expect(isAtRest())
            let start = Double(position) / 48000
            hear(speech, noise: level)
            let first = try #require(node.capture.events("vad.started").last.map { Double($0.frame) / 48000 })
            let last = try #require(node.capture.events("vad.ended").last.map { Double($0.frame) / 48000 })
            #expect(abs(first - start - begin) < 0.2 && abs(last - start - end) < 0.25)
        }
        let told = node.capture.events("vad.started").count
        // Something begins to hum, or ends to.
        for level in [level * 10 + 0.001, level] {
            hear(silence(1), noise: level)
            hear(silence(4), noise: level)
            #expect(isAtRest())
        }
        #expect(node.capture.events("vad.started").count == told)
    }

    @Test("A detector that is not there is told, with what to do") func missing() throws {
        let scratch = try Scratch()
        let models = scratch.file("none")
        let error = #expect(throws: NodeError.self) {
            try NodeInstance(
                type: pluginType("vad"), name: "vad", settings: Settings(["detector": .string("silero")]),
                services: services(models: models))
        }
        #expect(error?.message == "the model onnxruntime is not installed in \(models)")
        #expect(error?.hint == "voicegraph models install onnxruntime")
        let unknown = #expect(throws: NodeError.self) { try vad("ears") }
        #expect(unknown?.key == "detector")
    }

    @Test(
        "A model that is cut short is told and left out",
        .enabled(if: TestModels.have("onnxruntime", "silero-vad"), "needs the models onnxruntime and silero-vad"))
    func damaged() throws {
        let scratch = try Scratch()
        let files = FileManager.default
        try files.createDirectory(atPath: scratch.file("silero-vad"), withIntermediateDirectories: true)
        try files.createSymbolicLink(
            atPath: scratch.file("onnxruntime"), withDestinationPath: TestModels.folder + "/onnxruntime")
        let whole = try Data(contentsOf: URL(fileURLWithPath: TestModels.folder + "/silero-vad/silero_vad.onnx"))
        try whole.prefix(whole.count / 2).write(to: URL(fileURLWithPath: scratch.file("silero-vad/silero_vad.onnx")))
        let error = #expect(throws: NodeError.self) {
            try NodeInstance(
                type: pluginType("vad"), name: "vad", settings: Settings(["detector": .string("silero")]),
                services: services(models: scratch.file("")))
        }
        #expect(error?.message.contains("cannot read the model") == true, "\(String(describing: error))")
    }

    // MARK: - turn

    private func turn(_ settings: [String: SettingValue] = [:]) throws -> NodeHarness {
        try NodeHarness(
            pluginType("turn"), ["model": .string("none")].merging(settings) { $1 }, rate: 48000, offline: true)
    }

    @Test("Without a model silence ends a turn, and a pause does not") func silences() throws {
        let node = try turn(["silence_ms": .number(500)])
        func hears(_ speech: Float, seconds: Double) {
            node.controlInputs = [speech]
            _ = node.render(Int(seconds * 48000), inputs: [noise(Int(seconds * 48000))])
        }
        hears(0, seconds: 1)
        hears(1, seconds: 1)
        hears(0, seconds: 0.4)
        hears(1, seconds: 1)
        #expect(node.capture.eventNames.filter { $0 != "turn.state" } == ["turn.started"])
        #expect(node.controlOutputs.last == [1])
        hears(0, seconds: 1)
        let ended = try #require(node.capture.events("turn.ended").first)
        #expect(ended.string("reason") == "silence")
        #expect(abs(Double(ended.frame) / 48000 - (1 + 1 + 0.4 + 1 + 0.5)) < 0.02)
        #expect(abs((ended.number("seconds") ?? 0) - 2.9) < 0.05)
        #expect(node.controlOutputs.last == [0])
        #expect(node.capture.events("turn.state").map { $0.bool("turn") } == [false, true, false])
    }

    @Test(
        "What the model says of a pause does not count when the speaker has gone on",
        .enabled(if: TestModels.have("onnxruntime", "smart-turn"), "needs the models onnxruntime and smart-turn"))
    func wentOn() throws {
        let words = try spoken("I would like to have a table for four people tonight.")
        let half = words.count * 55 / 100
        // A pause that is asked about, though `speech` has not fallen.
        let samples = stretched(
            silence(0.5) + words[..<half] + silence(0.4) + words[half...] + silence(0.2), 3)
        let node = try turn(["model": .string("smart-turn"), "max_silence_ms": .number(1500)])
        node.controlInputs = [1]
        _ = node.render(samples.count, inputs: [samples])
        node.controlInputs = [0]
        _ = node.render(48000, inputs: [[Float](repeating: 0, count: 48000)])
        let asked = try #require(node.capture.events("turn.asked").first?.number("probability"))
        print("figure: gone on \(asked)")
        #expect(asked > 0.5)
    }

    /// What the model's own front end makes of the same samples is 0.98 for the whole sentence, 0.04 for its half. On a
    /// processor without VNNI both were above 0.6 until sums were kept from overflowing: see `vg_onnx_read`.
    @Test(
        "The model ends a turn that sounds finished at once, and waits for one that does not",
        .enabled(if: TestModels.have("onnxruntime", "smart-turn"), "needs the models onnxruntime and smart-turn"))
    func judged() throws {
        let words = try spoken("I would like to have a table for four people tonight.")
        for (part, finishes) in [(words, true), (Array(words.prefix(words.count * 55 / 100)), false)] {
            let node = try turn(["model": .string("smart-turn"), "max_silence_ms": .number(1500)])
            let samples = stretched(silence(0.5) + part + silence(0.2), 3)
            node.controlInputs = [1]
            _ = node.render(samples.count, inputs: [samples])
            node.controlInputs = [0]
            _ = node.render(96000, inputs: [[Float](repeating: 0, count: 96000)])
            let asked = try #require(node.capture.events("turn.asked").first?.number("probability"))
            print("figure: the model says \(asked)")
            #expect((asked > 0.5) == finishes)
            let ended = try #require(node.capture.events("turn.ended").first)
            #expect(ended.string("reason") == (finishes ? "finished" : "silence"))
        }
    }
}
