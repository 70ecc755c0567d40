// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// A part of a model: what leads from some of its values to others, each of floats. So a net that works in stages can be
/// computed stage by stage, and its inner values be had.
///
/// A model is a protocol buffer (github.com/onnx/onnx, onnx.proto). The numbers here are those of its fields.
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
        guard let model = fields(bytes[...]), let graph = model.last(where: { $0.number == 7 }),
            let parts = fields(graph.content)
        else { return nil }
        var nodes: [(field: Field, inputs: [String], outputs: [String])] = []
        for field in parts where field.number == 1 {
            guard let node = fields(field.content) else { return nil }
            nodes.append((field, texts(node, 1), texts(node, 2)))
        }
        // Backwards from what is wanted to what is given.
        var needed = Set(outputs)
        var kept: [Field] = []
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
                guard let content = fields(field.content) else { return nil }
                if texts(content, field.number == 5 ? 8 : 1).allSatisfy(needed.contains) { result += field.whole }
            default: result += field.whole
            }
        }
        // A tensor whose elements are floats: kind 1 of type 1.
        let floats = message(2, message(1, [1 << 3, 1]))
        for name in inputs { result += message(11, message(1, Array(name.utf8)) + floats) }
        for name in outputs { result += message(12, message(1, Array(name.utf8))) }
        return model.filter { $0.number != 7 }.flatMap(\.whole) + message(7, result)
    }

    // MARK: protocol buffers

    private struct Field {
        var number: Int
        /// With its number and length.
        var whole: ArraySlice<UInt8>
        var content: ArraySlice<UInt8>
    }

    private func texts(_ fields: [Field], _ number: Int) -> [String] {
        fields.filter { $0.number == number }.map { String(decoding: $0.content, as: UTF8.self) }
    }

    /// The fields of a message; nil: it is none.
    private func fields(_ bytes: ArraySlice<UInt8>) -> [Field]? {
        var fields: [Field] = []
        var place = bytes.startIndex
        func number() -> Int? {
            var value: UInt64 = 0
            for shift in stride(from: 0, to: 64, by: 7) {
                guard place < bytes.endIndex else { return nil }
                value |= UInt64(bytes[place] & 127) << UInt64(shift)
                place += 1
                if bytes[place - 1] < 128 { return Int(exactly: value) }
            }
            return nil
        }
        while place < bytes.endIndex {
            let start = place
            guard let key = number() else { return nil }
            var length: Int?
            switch key & 7 {
            case 0:
                let begin = place
                length = number().map { _ in place - begin }
                place = begin
            case 1: length = 8
            case 2: length = number()
            case 5: length = 4
            default: return nil
            }
            guard let length, length >= 0, length <= bytes.endIndex - place else { return nil }
            let content = bytes[place..<(place + length)]
            place += length
            fields.append(Field(number: key >> 3, whole: bytes[start..<place], content: content))
        }
        return fields
    }

    /// A field that has a message or a text.
    private func message(_ number: Int, _ content: [UInt8]) -> [UInt8] {
        var head: [UInt8] = [UInt8(number << 3 | 2)]
        var length = content.count
        while length > 127 {
            head.append(UInt8(length & 127 | 128))
            length >>= 7
        }
        return head + [UInt8(length)] + content
    }
}
