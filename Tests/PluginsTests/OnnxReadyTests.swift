// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import TestSupport

@testable import Models

/// Models that are made ready once, and what the runtime writes of them.
@Suite struct OnnxRepairTests {
    private func field(_ number: UInt8, _ content: [UInt8]) -> [UInt8] {
        protoMessage(Int(number), content)
    }
    private func text(_ number: UInt8, _ text: String) -> [UInt8] { field(number, Array(text.utf8)) }
    private func constant(_ name: String, _ data: String) -> [UInt8] { field(5, text(8, name) + text(9, data)) }
    private func model(_ graph: [UInt8]) -> [UInt8] { [1 << 3, 8] + field(7, graph) }
    /// A node with a graph in it.
    private func node(_ graph: [UInt8]) -> [UInt8] {
        field(1, text(1, "x") + field(5, text(1, "branch") + field(6, graph)))
    }

    @Test("Graphs within nodes get names, however deep they lie, and the last of each constant stays") func repaired() {
        let deep = node(text(2, "named") + constant("k", "1"))
        let given = model(
            constant("a", "old") + node(deep + constant("b", "old") + constant("c", "2") + constant("b", "new"))
                + constant("a", "new") + text(2, "whole"))
        let wanted = model(
            node(deep + constant("c", "2") + constant("b", "new") + text(2, "graph")) + constant("a", "new")
                + text(2, "whole"))
        #expect(OnnxRepair.repaired(given) == wanted && OnnxRepair.repaired(wanted) == wanted)
        // A number below zero takes ten bytes.
        let negative: [UInt8] = [3 << 3] + [UInt8](repeating: 255, count: 9) + [1]
        #expect(OnnxRepair.repaired(model(negative)) == model(negative))
    }

    @Test("What is no model is none") func refused() {
        let whole = model(node(constant("a", "1")))
        for length in 3..<whole.count { #expect(OnnxRepair.repaired(Array(whole.prefix(length))) == nil) }
        var random = TestRandom(seed: 5)
        for _ in 0..<20_000 {
            var bytes = whole
            for _ in 0...Int.random(in: 0...3, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            _ = OnnxRepair.repaired(bytes)
        }
    }
}

@Suite(
    .serialized, .enabled(if: TestModels.have("onnxruntime", "moonshine-base-en")), .timeLimit(.minutes(5)))
struct OnnxReadyTests {
    private let scratch: Scratch
    private let runtime: OnnxRuntime
    private let model: String
    private let ready: String

    init() throws {
        scratch = try Scratch()
        runtime = try OnnxRuntime.load(from: TestModels.folder)
        model = scratch.file("encoder_model.ort")
        ready = scratch.file("ready")
        try FileManager.default.copyItem(
            atPath: TestModels.folder + "/moonshine-base-en/encoder_model.ort", toPath: model)
    }

    /// What the model makes of a second of sound, and what was told of it.
    private func heard() throws -> (result: [Float], notes: [(level: vg_log_level, text: String)]) {
        var notes: [(level: vg_log_level, text: String)] = []
        let session = try OnnxSession.reading(runtime, ready: model) { notes.append(($0, $1)) }
        return (try computed(session), notes)
    }

    private func computed(_ session: OnnxSession) throws -> [Float] {
        let sound = (0..<16000).map { 0.3 * Float(sin(Double($0) * 0.1)) }
        let input = try OnnxValue(runtime, sound, shape: [1, sound.count])
        return try session.run([("input_values", input)], outputs: session.outputs)[0].floats().elements
    }

    private var files: [String] { names(in: ready).filter { $0 != "lock" }.sorted() }

    @Test("A model is made ready once, for everybody, and says the same") func once() throws {
        let plain = try computed(OnnxSession(runtime, path: model))
        let first = try heard()
        #expect(first.notes.map(\.level) == [VG_LOG_INFO], "\(first.notes)")
        #expect(first.result.count == plain.count && plain.count > 1000)
        for (one, other) in zip(first.result, plain) { #expect(abs(one - other) < 1e-3) }
        #expect(files.map { $0.suffix(4) } == [".bin", "onnx"], "\(files)")
        let second = try heard()
        #expect(second.notes.isEmpty && second.result == first.result, "\(second.notes)")
    }

    /// Its graph has others within, unlike the encoder's.
    @Test("The decoder can be made ready as well") func decoder() throws {
        let decoder = scratch.file("decoder_model_merged.ort")
        try FileManager.default.copyItem(
            atPath: TestModels.folder + "/moonshine-base-en/decoder_model_merged.ort", toPath: decoder)
        var notes: [vg_log_level] = []
        for _ in 0..<2 {
            let session = try OnnxSession.reading(runtime, ready: decoder) { level, _ in notes.append(level) }
            try session.require(inputs: ["input_ids", "use_cache_branch"], outputs: ["logits"])
        }
        #expect(notes == [VG_LOG_INFO])
    }

    @Test("What is damaged, left behind or of another file is made anew") func anew() throws {
        let wanted = try heard().result
        let made = files
        func again(_ note: Comment) throws {
            let next = try heard()
            #expect(next.notes.map(\.level) == [VG_LOG_INFO] && next.result == wanted, note)
            #expect(files.count == 2, note)
        }
        // A disk was full once, or the power failed.
        truncate(ready + "/" + made[0], 1 << 20)
        try again("constants cut short")
        try Data("nothing".utf8).write(to: URL(filePath: ready + "/" + made[1]))
        try again("no model")
        // Somebody was killed while he made it, and the file is another now.
        try FileManager.default.createDirectory(
            atPath: ready + "/encoder_model.part", withIntermediateDirectories: true)
        try Data("half".utf8).write(to: URL(filePath: ready + "/encoder_model.part/plain.onnx"))
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_000_000_000)], ofItemAtPath: model)
        try again("another file")
        #expect(Set(files).isDisjoint(with: made), "\(files)")
    }

    @Test("Where it cannot be made ready it works as it is, and that is told") func cannot() throws {
        // No folder can be made where a file is.
        try scratch.write("ready", "")
        let result = try heard()
        #expect(result.notes.map(\.level) == [VG_LOG_WARNING] && result.result.count > 1000, "\(result.notes)")
        #expect(result.notes.first?.text.contains("works more slowly") == true)
        try Data("nothing".utf8).write(to: URL(filePath: model))
        try FileManager.default.removeItem(atPath: ready)
        #expect(throws: NodeError.self) { try heard() }
        #expect(files.isEmpty)
    }
}
