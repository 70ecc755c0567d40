// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// A part of a model: what leads from some of its values to others, each of floats. So a net that works in stages can be
/// computed stage by stage, and its inner values be had.
///
/// The numbers here are those of fields in onnx.proto (github.com/onnx/onnx).
public struct OnnxPart: Sendable {
    /// Values that are given, of floats; inputs of the model that the part needs besides stay inputs.
    public var inputs: [String]
    /// Values that are wanted.
    public var outputs: [String]

    /// Names a part.
    public init(from inputs: [String] = [], to outputs: [String]) {
        self.inputs = inputs
        self.outputs = outputs
    }

    /// The bytes of a model of that part alone; nil: this is no model, or one without these values. [worker]
    func cut(out bytes: [UInt8]) -> [UInt8]? {
        guard let model = ProtoField.all(in: bytes[...]), let graph = model.last(where: { $0.number == 7 }),
            let parts = ProtoField.all(in: graph.content)
        else { return nil }
        var nodes: [(field: ProtoField, inputs: [String], outputs: [String])] = []
        for field in parts where field.number == 1 {
            guard let node = ProtoField.all(in: field.content) else { return nil }
            nodes.append((field, texts(node, 1), texts(node, 2)))
        }
        // Backwards from what is wanted to what is given.
        var needed = Set(outputs)
        var kept: [ProtoField] = []
        for node in nodes.reversed() where node.outputs.contains(where: needed.contains) {
            kept.append(node.field)
            needed.subtract(node.outputs)
            needed.formUnion(node.inputs.filter { !$0.isEmpty && !inputs.contains($0) })
        }
        let made = Set(nodes.flatMap(\.outputs))
        guard outputs.allSatisfy(made.contains), inputs.allSatisfy(made.contains) else { return nil }
        var result: [UInt8] = []
        for node in kept.reversed() { result += node.whole }
        for field in parts {
            switch field.number {
            case 1, 12, 13: continue
            // Constants and inputs of the model, as far as they are needed: their names are fields 8 and 1.
            case 5, 11:
                guard let content = ProtoField.all(in: field.content) else { return nil }
                if texts(content, field.number == 5 ? 8 : 1).allSatisfy(needed.contains) { result += field.whole }
            default: result += field.whole
            }
        }
        // A tensor whose elements are floats: kind 1 of type 1.
        let floats = protoMessage(2, protoMessage(1, [1 << 3, 1]))
        for name in inputs { result += protoMessage(11, protoMessage(1, Array(name.utf8)) + floats) }
        for name in outputs { result += protoMessage(12, protoMessage(1, Array(name.utf8))) }
        return model.filter { $0.number != 7 }.flatMap(\.whole) + protoMessage(7, result)
    }

    private func texts(_ fields: [ProtoField], _ number: Int) -> [String] {
        fields.filter { $0.number == number }.map { String(decoding: $0.content, as: UTF8.self) }
    }
}
