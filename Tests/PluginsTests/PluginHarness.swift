// SPDX-License-Identifier: Apache-2.0
import Foundation
import Host
import NodeKit
import TestSupport

/// A node type of one of the package's own plugins, loaded by dlopen from beside the test's executable.
func pluginType(_ name: String) throws -> UnsafePointer<vg_node_type> {
    let registry = NodeRegistry()
    let entry = registry.catalog(for: [name]).types[name]
    return try #require(entry, "\(name): \(registry.failures)").type
}

/// Drives a node offline as a host would: waits for each block, processes it, polls.
extension NodeHarness {
    /// Renders until the node is idle, at most `limit` frames.
    func renderUntilIdle(limit: Int, block: Int = 256, inputs: [[Float]] = []) -> [[Float]] {
        var result = [[Float]](
            repeating: [], count: instance.ports.count { $0.kind == VG_AUDIO_PORT && $0.direction == VG_OUTPUT })
        while !instance.askIdle(), (result.first?.count ?? 0) < limit {
            for (channel, samples) in render(block, block: block, inputs: inputs).enumerated() {
                result[channel] += samples
            }
        }
        return result
    }

    /// Renders `frames` in blocks.
    func render(_ frames: Int, block: Int = 256, inputs: [[Float]] = []) -> [[Float]] {
        var result: [[Float]] = []
        var done = 0
        while done < frames {
            let count = min(block, frames - done)
            instance.wait(frames: count)
            let part = run([count], inputs: inputs.map { Array($0.dropFirst(done)) })
            if result.isEmpty { result = part } else { for index in part.indices { result[index] += part[index] } }
            done += count
        }
        return result
    }
}

/// Noise that is the same in every run.
func noise(_ count: Int, seed: UInt32 = 1) -> [Float] {
    var state = seed
    return (0..<count).map { _ in
        state = state &* 1_664_525 &+ 1_013_904_223
        return Float(Int32(bitPattern: state)) / Float(Int32.max) * 0.5
    }
}

extension NodeCapture {
    /// The names of all events, in order.
    var eventNames: [String] { events.map(\.name) }
    /// The events of one name, in order.
    func events(_ name: String) -> [CapturedEvent] { events.filter { $0.name == name } }
}

extension CapturedEvent {
    /// An integer field.
    func numbers(_ key: String) -> [Double]? {
        guard case .list(let items) = fields[key] else { return nil }
        return items.compactMap { if case .number(let value) = $0 { value } else { nil } }
    }
    func integer(_ key: String) -> Int? { if case .integer(let value) = fields[key] { Int(value) } else { nil } }
    /// A text field.
    func string(_ key: String) -> String? { if case .string(let value) = fields[key] { value } else { nil } }
    /// A number field.
    func number(_ key: String) -> Double? { if case .number(let value) = fields[key] { value } else { nil } }
    /// A yes or no.
    func bool(_ key: String) -> Bool? { if case .bool(let value) = fields[key] { value } else { nil } }
    /// The frame at which it happened.
    var frame: Int { Int(position) }
}
