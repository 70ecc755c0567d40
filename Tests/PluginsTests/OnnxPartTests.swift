// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import TestSupport

@testable import Models

/// Parts of models.
@Suite struct OnnxPartTests {
    private func field(_ number: UInt8, _ content: [UInt8]) -> [UInt8] {
        [number << 3 | 2, UInt8(content.count)] + content
    }
    private func text(_ number: UInt8, _ text: String) -> [UInt8] { field(number, Array(text.utf8)) }
    private func node(_ inputs: [String], _ output: String) -> [UInt8] {
        field(1, inputs.flatMap { text(1, $0) } + text(2, output))
    }

    /// x -> a -> b -> c, with a constant at each; it gives c.
    private var model: [UInt8] {
        let nodes = node(["x", "k1"], "a") + node(["a", "k2"], "b") + node(["b", "k3"], "c")
        let constants = ["k1", "k2", "k3"].flatMap { field(5, [8 << 3 | 2, 2] + Array($0.utf8)) }
        return [1 << 3, 8] + field(7, nodes + constants + field(11, text(1, "x")) + field(12, text(1, "c")))
    }

    @Test("What leads from some values to others is kept, with the constants that it needs") func cut() throws {
        let floats = field(2, field(1, [8, 1]))
        let first =
            node(["x", "k1"], "a") + field(5, text(8, "k1")) + field(11, text(1, "x")) + field(12, text(1, "a"))
        #expect(OnnxPart(to: ["a"]).cut(out: model) == [1 << 3, 8] + field(7, first))
        let second =
            node(["b", "k3"], "c") + field(5, text(8, "k3")) + field(11, text(1, "b") + floats)
            + field(12, text(1, "c"))
        #expect(OnnxPart(from: ["b"], to: ["c"]).cut(out: model) == [1 << 3, 8] + field(7, second))
    }

    @Test("What is no model, or has not what is asked for, is none") func refused() {
        #expect(OnnxPart(to: ["d"]).cut(out: model) == nil && OnnxPart(from: ["y"], to: ["c"]).cut(out: model) == nil)
        #expect(OnnxPart(to: ["c"]).cut(out: []) == nil && OnnxPart(to: ["c"]).cut(out: Array("{}".utf8)) == nil)
        for length in 0..<model.count { #expect(OnnxPart(to: ["c"]).cut(out: Array(model.prefix(length))) == nil) }
        var random = TestRandom(seed: 3)
        for _ in 0..<20_000 {
            var bytes = model
            for _ in 0...Int.random(in: 0...3, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            _ = OnnxPart(from: ["a"], to: ["c"]).cut(out: bytes)
        }
    }
}
