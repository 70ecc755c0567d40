// SPDX-License-Identifier: Apache-2.0

/// What is wrong with models that ONNX Runtime writes, so that it refuses to read them (seen in 1.28): graphs within nodes have
/// no names, and some of their constants are there twice. The numbers are those of fields in onnx.proto
/// (github.com/onnx/onnx).
enum OnnxRepair {
    private static let (graph, node, attribute, innerGraph) = (7, 1, 5, 6)
    private static let (graphName, constant, constantName) = (2, 5, 8)

    /// A model as it can be read; nil: this is none.
    static func repaired(_ model: [UInt8]) -> [UInt8]? {
        replacing(graph, in: model[...]) { repaired(graph: $0, isWithin: false) }
    }

    private static func repaired(graph bytes: ArraySlice<UInt8>, isWithin: Bool) -> [UInt8]? {
        guard let fields = ProtoField.all(in: bytes) else { return nil }
        // The last of each name counts: it says where the constants of a file beside the model are.
        var last: [String: Int] = [:]
        for (index, field) in fields.enumerated() where field.number == constant {
            guard let name = name(of: field) else { return nil }
            last[name] = index
        }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + 64)
        for (index, field) in fields.enumerated() {
            switch field.number {
            case node:
                let whole = replacing(attribute, in: field.content) {
                    replacing(innerGraph, in: $0) { repaired(graph: $0, isWithin: true) }
                }
                guard let whole else { return nil }
                result += protoMessage(node, whole)
            case constant where name(of: field).map({ last[$0] != index }) ?? true: continue
            default: result += field.whole
            }
        }
        let hasName = fields.contains { $0.number == graphName && !$0.content.isEmpty }
        return isWithin && !hasName ? result + protoMessage(graphName, Array("graph".utf8)) : result
    }

    private static func name(of constant: ProtoField) -> String? {
        ProtoField.all(in: constant.content)?.last { $0.number == constantName }
            .map { String(decoding: $0.content, as: UTF8.self) }
    }

    /// A message in which all fields of a number, each a message, have another content.
    private static func replacing(
        _ number: Int, in bytes: ArraySlice<UInt8>, by body: (ArraySlice<UInt8>) -> [UInt8]?
    ) -> [UInt8]? {
        guard let fields = ProtoField.all(in: bytes) else { return nil }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + 64)
        for field in fields {
            guard field.number == number else {
                result += field.whole
                continue
            }
            guard let content = body(field.content) else { return nil }
            result += protoMessage(number, content)
        }
        return result
    }
}
