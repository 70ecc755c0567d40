// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A model of NeMo's CTC family, as ONNX has it, that recognizes two tones: it writes a piece for one of 500 Hz, another for
/// one of 2500 Hz, and nothing for silence.
public struct ToneModel {
    /// Whether it hears as it comes.
    public var isStreaming: Bool

    /// What it writes for the low tone, and for the high one; U+2581 stands for a space.
    public var pieces: (low: String, high: String)

    /// Of one of both kinds.
    public init(streaming isStreaming: Bool, pieces: (low: String, high: String) = ("\u{2581}low", "\u{2581}high")) {
        self.isStreaming = isStreaming
        self.pieces = pieces
    }

    /// Writes the model and its tokens into a new folder.
    public func write(to scratch: Scratch, _ folder: String) throws -> String {
        let path = scratch.file(folder)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try scratch.write(folder + "/tokens.txt", "\(pieces.low) 0\n\(pieces.high) 1\n<blk> 2\n")
        try Data(bytes).write(to: URL(filePath: path + "/model.onnx"))
        return path
    }

    /// Frames of features that become one.
    private static let pool = 4

    /// The file, a message of protobuf as onnx.proto has them.
    public var bytes: [UInt8] {
        let float = 1
        let integer = 7
        var nodes: [[UInt8]] = [
            node(
                "AveragePool", ["audio_signal"], "pooled",
                numbers: [("kernel_shape", Self.pool), ("strides", Self.pool)]),
            node("Transpose", ["pooled"], "frames", numbers: [("perm", 0), ("perm", 2), ("perm", 1)]),
            node("MatMul", ["frames", "weights"], "scores"), node("Add", ["scores", "bias"], "logprobs"),
        ]
        var inputs = [value("audio_signal", float, [1, 80, nil]), value("length", integer, [1])]
        var outputs = [value("logprobs", float, [1, nil, 3])]
        var facts = [
            ("vocab_size", isStreaming ? "2" : "3"), ("subsampling_factor", "\(Self.pool)"), ("normalize_type", ""),
            ("model_type", "EncDecCTCModelBPE"),
        ]
        if isStreaming {
            let memories = [("channel", float, [1, 1, 1, 1]), ("time", float, [1, 1, 1, 1]), ("count", integer, [1])]
            nodes.append(node("Identity", ["length"], "lengths"))
            outputs.append(value("lengths", integer, [1]))
            for (name, type, shape) in memories {
                nodes.append(node("Identity", [name], name + "_next"))
                inputs.append(value(name, type, shape))
                outputs.append(value(name + "_next", type, shape))
            }
            facts += [("window_size", "20"), ("chunk_shift", "20")]
            facts += ["channel", "time"].flatMap { name in (1...3).map { ("cache_last_\(name)_dim\($0)", "1") } }
        }
        // Bands of mel, by Slaney's formula, in which the tones are.
        var weights = [Float](repeating: 0, count: 80 * 3)
        for band in 12..<15 { weights[band * 3] = 1.0 / 3 }
        for band in 49..<52 { weights[band * 3 + 1] = 1.0 / 3 }
        let constants = [constant("weights", [80, 3], weights), constant("bias", [3], [8, 8, 0])]
        let graph =
            nodes.flatMap { field(1, $0) } + field(2, "tones") + constants.flatMap { field(5, $0) }
            + inputs.flatMap { field(11, $0) } + outputs.flatMap { field(12, $0) }
        return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 13))
            + facts.flatMap { field(14, field(1, $0.0) + field(2, $0.1)) }
    }

    private func node(
        _ type: String, _ inputs: [String], _ output: String, numbers: [(name: String, value: Int)] = []
    ) -> [UInt8] {
        var attributes: [UInt8] = []
        for name in Set(numbers.map(\.name)).sorted() {
            let values = numbers.filter { $0.name == name }.flatMap { field(8, $0.value) }
            // 7: several integers.
            attributes += field(5, field(1, name) + values + field(20, 7))
        }
        return inputs.flatMap { field(1, $0) } + field(2, output) + field(4, type) + attributes
    }

    /// nil: any length.
    private func value(_ name: String, _ type: Int, _ shape: [Int?]) -> [UInt8] {
        let dimensions = shape.flatMap { field(1, $0.map { field(1, $0) } ?? field(2, "frames")) }
        return field(1, name) + field(2, field(1, field(1, type) + field(2, dimensions)))
    }

    private func constant(_ name: String, _ shape: [Int], _ values: [Float]) -> [UInt8] {
        let raw = values.flatMap { value in withUnsafeBytes(of: value.bitPattern.littleEndian) { Array($0) } }
        return shape.flatMap { field(1, $0) } + field(2, 1) + field(8, name) + field(9, raw)
    }

    private func field(_ number: Int, _ value: Int) -> [UInt8] { varint(number << 3) + varint(value) }
    private func field(_ number: Int, _ text: String) -> [UInt8] { field(number, Array(text.utf8)) }
    private func field(_ number: Int, _ bytes: [UInt8]) -> [UInt8] {
        varint(number << 3 | 2) + varint(bytes.count) + bytes
    }

    private func varint(_ value: Int) -> [UInt8] {
        value < 128 ? [UInt8(value)] : [UInt8(value & 127 | 128)] + varint(value >> 7)
    }
}
