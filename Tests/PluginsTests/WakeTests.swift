// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import TestSupport

@Suite(.serialized, .timeLimit(.minutes(5))) struct WakeTests {
    private func harness(_ settings: [String: SettingValue] = [:], rate: Double = 48000) throws -> NodeHarness {
        let all = settings.merging(["phrase": .string("hello computer")]) { given, _ in given }
        return try NodeHarness(pluginType("wake"), all, rate: rate, offline: true)
    }

    /// The seconds for which the gate was open, block by block.
    private func open(_ node: NodeHarness) -> Double {
        Double(node.controlOutputs.count { $0[0] == 1 } * 1024) / node.preparation.rate
    }

    @Test("The phrase opens the gate for as long as it is to, and other speech does not", arguments: [16000.0, 48000])
    func phrase(rate: Double) throws {
        let node = try harness(["seconds": .number(2)], rate: rate)
        try node.hear(silence(0.5) + spoken("he was not an ill disposed young man") + silence(1))
        #expect(node.capture.events("wake.heard").isEmpty && open(node) == 0)
        let before = Double(node.position) / rate
        try node.hear(spoken("well then hello computer please go on") + silence(4))
        let heard = node.capture.events("wake.heard")
        #expect(heard.map { $0.string("phrase") } == ["hello computer"])
        let end = try #require(heard.first?.number("end"))
        #expect(abs(end - before - 1.5) < 0.3 && abs(Double(heard[0].frame) / rate - end) < 0.01)
        #expect(abs(open(node) - 2) < 0.2, "\(open(node))")
        #expect(node.capture.events("wake.state").map { $0.bool("open") } == [false, true, false])
    }

    @Test("With until_turn it stays open until the turn is over, or closes when there is none")
    func turn() throws {
        let node = try harness(["seconds": .number(1), "until_turn": .bool(true)])
        try node.perform("open")
        node.controlInputs[0] = 1
        try node.hear(silence(3))
        #expect(abs(open(node) - 3) < 0.1)
        node.controlInputs[0] = 0
        try node.hear(silence(1))
        #expect(abs(open(node) - 3) < 0.1)
        // A turn that was over before does not count.
        try node.perform("open")
        try node.hear(silence(3))
        #expect(abs(open(node) - 4) < 0.1)
    }

    @Test("Actions open and close the gate") func actions() throws {
        let node = try harness()
        try node.perform("open")
        try node.hear(silence(0.5))
        try node.perform("close")
        try node.hear(silence(1))
        #expect(abs(open(node) - 0.5) < 0.1)
    }

    @Test("A phrase with a word that nobody knows is refused") func unknownWord() throws {
        let error = #expect(throws: NodeError.self) { try harness(["phrase": .string("hello xyzzy")]) }
        #expect(error?.key == "phrase" && error?.message.contains("\"xyzzy\"") == true)
    }
}

/// Wake words by small models, the real ones.
@Suite(.serialized, .enabled(if: TestModels.have("micro-wakeword")), .timeLimit(.minutes(5)))
struct MicroWakeTests {
    private func harness(
        _ phrases: [String], _ settings: [String: SettingValue] = [:], rate: Double = 48000, models: String? = nil
    ) throws -> NodeHarness {
        let all = settings.merging(["phrase": .list(phrases.map { .string($0) })]) { given, _ in given }
        return try NodeHarness(pluginType("wake"), all, rate: rate, offline: true, models: models)
    }

    private func heard(_ node: NodeHarness) -> [String] {
        node.capture.events("wake.heard").compactMap { $0.string("phrase") }
    }

    @Test(
        "A phrase with a small model is heard of each voice, where it ends, and nothing else is",
        arguments: [16000.0, 48000])
    func voices(rate: Double) throws {
        let node = try harness(["Okay  Nabu", "alexa"], ["seconds": .number(0.5)], rate: rate)
        try node.hear(silence(1) + spoken("he was not an ill disposed young man, and so we all went home") + silence(1))
        #expect(heard(node).isEmpty)
        for voice in ["slt", "rms", "awb", "kal16"] {
            let before = Double(node.position) / rate
            let said = try spoken("okay nabu.", voice: voice)
            node.capture.clear()
            try node.hear(said + silence(1))
            #expect(heard(node) == ["okay nabu"], "\(voice)")
            let end = try #require(node.capture.events("wake.heard").first?.number("end"))
            #expect(abs(end - before - Double(said.count) / 16000) < 0.4, "\(voice): \(end - before)")
        }
        // The gate was open for half a second each time.
        let open = Double(node.controlOutputs.count { $0[0] == 1 } * 1024) / rate
        #expect(abs(open - 2) < 0.3, "\(open)")
    }

    @Test("What has no small model is heard by PocketSphinx beside it") func both() throws {
        let node = try harness(["alexa", "hello computer"])
        try node.hear(silence(1) + spoken("alexa.", voice: "rms") + silence(1))
        try node.hear(spoken("well then hello computer please go on") + silence(1))
        #expect(heard(node) == ["alexa", "hello computer"])
        let known = node.capture.events("wake.heard").map { $0.number("start") != nil }
        #expect(known == [false, true])
    }

    @Test("Where only small models are to listen, a phrase without one is refused, with those that there are")
    func refused() throws {
        let micro: [String: SettingValue] = ["engine": .string("micro-wakeword")]
        let error = #expect(throws: NodeError.self) { try harness(["hello computer"], micro) }
        #expect(error?.key == "phrase" && error?.hint.contains("hey jarvis") == true, "\(error.debugDescription)")
        let missing = #expect(throws: NodeError.self) { try harness(["alexa"], micro, models: "/nowhere") }
        #expect(missing?.hint == "voicegraph models install micro-wakeword")
        // A gate that nobody could open is none.
        #expect(throws: NodeError.self) { try harness(["okay nabu"], ["engine": .string("pocketsphinx")]) }
    }

    @Test("Words of one's own are in a folder beside it; one that is none is told") func own() throws {
        let scratch = try Scratch()
        let installed = TestModels.folder + "/micro-wakeword"
        let folder = scratch.file("models/wake-words")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: scratch.file("models/micro-wakeword"), withDestinationPath: installed)
        let text = try String(contentsOfFile: installed + "/alexa.json", encoding: .utf8)
        for (name, text) in [
            ("mine", text.replacing("Alexa", with: "My Friend")), ("half", String(text.prefix(60))), ("empty", ""),
            ("gone", text.replacing("Alexa", with: "Nobody").replacing("alexa.tflite", with: "gone.tflite")),
        ] {
            try Data(text.utf8).write(to: URL(filePath: folder + "/\(name).json"))
        }
        try FileManager.default.copyItem(atPath: installed + "/alexa.tflite", toPath: folder + "/alexa.tflite")
        let node = try harness(["my friend"], models: scratch.file("models"))
        try node.hear(silence(1) + spoken("alexa.", voice: "slt") + silence(1))
        #expect(heard(node) == ["my friend"])
        #expect(node.capture.logs.count { $0.text.contains("describes no wake word") } == 2)
        // A model that cannot be read fails the node, and the gate stays closed.
        for (name, bytes) in [("gone", nil), ("gone", Data(repeating: 7, count: 5000))] as [(String, Data?)] {
            try bytes?.write(to: URL(filePath: folder + "/\(name).tflite"))
            let broken = try harness(["nobody"], models: scratch.file("models"))
            try broken.hear(silence(1) + spoken("alexa.", voice: "slt") + silence(1))
            #expect(heard(broken).isEmpty && broken.controlOutputs.allSatisfy { $0[0] == 0 })
            #expect(broken.capture.health.contains { if case .failed = $0 { true } else { false } })
        }
    }
}
