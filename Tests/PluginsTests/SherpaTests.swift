// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import TestSupport

/// Models of the user's own, which sherpa-onnx reads.
@Suite(.serialized, .timeLimit(.minutes(5))) struct SherpaTests {
    private static let isInstalled = TestModels.have("onnxruntime", "sherpa-onnx")

    private func sherpa(_ folder: String, _ settings: [String: SettingValue]) throws -> NodeHarness {
        let own: [String: SettingValue] = ["engine": .string("sherpa"), "model": .string(folder), "gated": .bool(true)]
        return try transcribe(own.merging(settings) { $1 })
    }

    private func tone(_ frequency: Double, _ seconds: Double = 0.3) -> [Float] {
        (0..<Int(seconds * 16000)).map { Float(0.3 * sin(2 * .pi * frequency * Double($0) / 16000)) }
    }

    /// An item of these samples.
    private func hear(_ samples: [Float], _ node: NodeHarness) throws {
        try node.hear(silence(0.6))
        node.controlInputs[0] = 1
        try node.hear(samples)
        node.controlInputs[0] = 0
        try node.hear(silence(0.5))
    }

    private func words(_ final: CapturedEvent?) -> [Settings] {
        guard case .list(let list)? = final?.fields["words"] else { return [] }
        return list.compactMap { if case .table(let word) = $0 { Settings(word) } else { nil } }
    }

    @Test(
        "A model of one's own writes what it hears, with the times of its words", .enabled(if: isInstalled),
        arguments: ["nemo-ctc", "streaming-nemo-ctc"])
    func tones(kind: String) throws {
        let scratch = try Scratch()
        let isStreaming = kind.hasPrefix("streaming")
        let folder = try ToneModel(streaming: isStreaming).write(to: scratch, "tones")
        let node = try sherpa(folder, ["kind": .string(kind)])
        let (low, high) = (tone(500), tone(2500))
        for sounds in [[low, high, low], [high, high]] { try hear(sounds.flatMap { $0 + silence(0.3) }, node) }
        let finals = node.capture.events("transcribe.final")
        #expect(finals.map { $0.string("text") } == ["low high low", "high high"])
        let words = words(finals.first)
        #expect(words.map { $0.string("text") } == ["low", "high", "low"])
        for (word, start) in zip(words, [0.6, 1.2, 1.8]) {
            #expect(abs((word.number("start") ?? 0) - start) < 0.1, "\(words)")
        }
        // What is not whole yet is told where there is more of it.
        #expect(node.capture.events("transcribe.partial").compactMap { $0.string("text") }.contains("low"))
    }

    @Test(
        "Words begin at spaces, or are letters of a script without them, as the pieces have them",
        .enabled(if: isInstalled),
        arguments: [
            (("\u{2581}lo", "w"), "low", ["low"]),
            (("\u{4f60}", "\u{597d}"), "\u{4f60}\u{597d}", ["\u{4f60}", "\u{597d}"]),
            (("lo@@", "w"), "lo@@w", ["lo@@w"]),
        ])
    func pieces(pieces: (low: String, high: String), text: String, expected: [String]) throws {
        let scratch = try Scratch()
        let folder = try ToneModel(streaming: false, pieces: pieces).write(to: scratch, "tones")
        let node = try sherpa(folder, ["kind": .string("nemo-ctc")])
        try hear(tone(500) + tone(2500), node)
        let final = node.capture.events("transcribe.final").first
        #expect(final?.string("text") == text)
        #expect(words(final).map { $0.string("text") ?? "" } == expected)
    }

    @Test("Moonshine's files are read by it too", .enabled(if: isInstalled && TestModels.have("moonshine-base-en")))
    func moonshine() throws {
        let scratch = try Scratch()
        let folder = try moonshineFolder(scratch)
        let node = try sherpa(folder, ["kind": .string("moonshine"), "partials": .bool(false)])
        try hear(spoken(TranscribeTests.phrase), node)
        let text = node.capture.events("transcribe.final").first?.string("text") ?? ""
        #expect(text.lowercased().contains("go forward"), "\(text)")
    }

    /// The model of the catalogue, with its tokens as sherpa-onnx has them.
    private func moonshineFolder(_ scratch: Scratch) throws -> String {
        let model = TestModels.folder + "/moonshine-base-en"
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: model + "/tokenizer.bin")))
        var (lines, place, number) = ("", 0, 0)
        while place < bytes.count {
            var length = Int(bytes[place])
            place += 1
            if length >= 128 {
                length += Int(bytes[place]) * 128 - 128
                place += 1
            }
            let token = Data(length == 0 ? [0] : bytes[place..<place + length]).base64EncodedString()
            lines += "\(token) \(number)\n"
            (place, number) = (place + length, number + 1)
        }
        try FileManager.default.createDirectory(
            atPath: scratch.file("moonshine"), withIntermediateDirectories: true)
        try scratch.write("moonshine/tokens.txt", lines)
        for name in ["encoder_model.ort", "decoder_model_merged.ort"] {
            try FileManager.default.createSymbolicLink(
                atPath: scratch.file("moonshine/" + name), withDestinationPath: model + "/" + name)
        }
        return scratch.file("moonshine")
    }

    @Test("What is missing or cannot be a model is told with what to do")
    func refused() throws {
        let scratch = try Scratch()
        let folder = try ToneModel(streaming: false).write(to: scratch, "tones")
        func error(_ settings: [String: SettingValue]) -> NodeError? {
            do {
                _ = try transcribe(settings.merging(["engine": .string("sherpa")]) { $1 })
                return nil
            } catch { return error as? NodeError }
        }
        let kind: SettingValue = .string("nemo-ctc")
        #expect(error([:])?.key == "kind")
        #expect(error([:])?.hint.contains("such as whisper, transducer or") == true)
        #expect(error(["kind": kind])?.key == "model")
        let nowhere = error(["kind": kind, "model": .string(scratch.file("nowhere"))])
        #expect(
            nowhere?.message.contains("there is no file such as tokens.txt") == true, "\(String(describing: nowhere))")
        let other = error(["kind": .string("transducer"), "model": .string(folder)])
        #expect(
            other?.message.contains("there is no file such as encoder.onnx") == true, "\(String(describing: other))")
        let language = error(["kind": .string("sense-voice"), "model": .string(folder), "language": .string("fi")])
        #expect(language?.key == "language" && language?.hint == "it knows en, ja, ko, yue, zh")
        try scratch.write("tones/another.onnx", "x")
        let several = error(["kind": kind, "model": .string(folder)])
        #expect(several?.message.contains("several files") == true && several?.hint.isEmpty == false)
        // The smaller one is taken, and it only says where the model is.
        try scratch.write("tones/model.int8.onnx", "version https://git-lfs.github.com/spec/v1\n")
        let pointer = error(["kind": kind, "model": .string(folder)])
        #expect(pointer?.message.contains("Git LFS") == true && pointer?.hint == "git lfs pull")
    }
}
