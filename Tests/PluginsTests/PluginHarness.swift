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
