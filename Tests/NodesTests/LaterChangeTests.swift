// SPDX-License-Identifier: Apache-2.0
import Drivers
import NodeKit
import TestSupport

@testable import Graph
@testable import GraphFile

/// A change that begins at a frame, heard through the built-in nodes.
struct LaterChange: CustomTestStringConvertible, Sendable {
    var node: String
    var parameter: String
    /// Before and after.
    var from, to: Float
    var atOnce: Bool
    /// From the frame of the change to the first sample that is another; nil: that depends on the signal.
    var delay: Int?
    var settings: [String: SettingValue] = [:]

    var testDescription: String { "\(node).\(parameter) \(from) to \(to)\(atOnce ? " at once" : "")" }

    /// A ramp has the old value at its first frame; a tone's frequency is heard one frame later.
    static let all =
        [true, false].flatMap { atOnce in
            [
                LaterChange(
                    node: "gain", parameter: "gain_db", from: -6, to: -20, atOnce: atOnce, delay: atOnce ? 0 : 1),
                LaterChange(
                    node: "gain", parameter: "gain_db", from: -120, to: 0, atOnce: atOnce, delay: atOnce ? 0 : 1),
                LaterChange(
                    node: "gain", parameter: "gain_db", from: 6, to: -120, atOnce: atOnce, delay: atOnce ? 0 : 1),
                LaterChange(
                    node: "mix", parameter: "gain_1_db", from: 0, to: -9, atOnce: atOnce, delay: atOnce ? 0 : 1),
                LaterChange(
                    node: "mix", parameter: "gain_2_db", from: -120, to: -3, atOnce: atOnce, delay: atOnce ? 0 : 1),
                LaterChange(
                    node: "pan", parameter: "position", from: -0.5, to: 0.7, atOnce: atOnce, delay: atOnce ? 0 : 1),
                LaterChange(
                    node: "tone", parameter: "frequency", from: 440, to: 1000, atOnce: atOnce, delay: atOnce ? 1 : 2),
                LaterChange(
                    node: "tone", parameter: "frequency", from: 440, to: 441, atOnce: atOnce, delay: nil,
                    settings: ["wave": .string("square")]),
                LaterChange(
                    node: "tone", parameter: "frequency", from: 1000, to: 9000, atOnce: atOnce, delay: nil,
                    settings: ["wave": .string("triangle")]),
                LaterChange(
                    node: "tone", parameter: "level_db", from: -20, to: -3, atOnce: atOnce, delay: atOnce ? 0 : 1,
                    settings: ["wave": .string("noise")]),
            ]
        } + [
            LaterChange(node: "delay", parameter: "ms", from: 10, to: 20, atOnce: true, delay: 0),
            LaterChange(node: "delay", parameter: "ms", from: 10.11, to: 3.37, atOnce: false, delay: 1),
            LaterChange(
                node: "delay", parameter: "ms", from: 10, to: 12, atOnce: false, delay: nil,
                settings: ["change": .string("glide")]),
            LaterChange(
                node: "delay", parameter: "ms", from: 5, to: 0.1, atOnce: true, delay: nil,
                settings: ["change": .string("glide")]),
            LaterChange(node: "mute", parameter: "muted", from: 0, to: 1, atOnce: false, delay: 0),
            LaterChange(node: "mute", parameter: "muted", from: 1, to: 0, atOnce: true, delay: 0),
        ]

    /// What is heard of 6000 frames, per channel; `position` nil: without the change.
    func heard(_ plan: BlockPlan, at position: UInt64?) throws -> [[Float]] {
        func make(_ name: String, _ type: String, _ settings: [String: SettingValue]) throws -> ResolvedGraph.Node {
            let instance = try NodeInstance(
                type: try NodesTests.type(type), name: name, settings: Settings(settings))
            try instance.prepare(Preparation(rate: 48000, maxBlock: 1024))
            return ResolvedGraph.Node(instance: instance, description: NodeDescription(name: name, type: type))
        }
        var graph = ResolvedGraph()
        graph.nodes = [try make("node", node, settings)]
        let instance = graph.nodes[0].instance
        func ports(_ direction: vg_direction) -> Int { instance.ports.count { $0.direction == direction } }
        graph.nodes.append(try make("out", "output", ["channels": .integer(Int64(ports(VG_OUTPUT)))]))
        let outputs = instance.ports.indices.filter { instance.ports[$0].direction == VG_OUTPUT }
        for (port, output) in outputs.enumerated() {
            graph.links.append(
                ResolvedGraph.Link(fromNode: 0, fromPort: output, toNode: 1, target: .port(port), kind: VG_AUDIO_PORT))
        }
        for port in instance.ports.indices
        where instance.ports[port].direction == VG_INPUT && instance.ports[port].kind == VG_AUDIO_PORT {
            let source: [String: SettingValue] = ["wave": .string("noise"), "seed": .integer(Int64(port + 1))]
            graph.nodes.append(try make("source-\(port)", "tone", source))
            graph.links.append(
                ResolvedGraph.Link(
                    fromNode: graph.nodes.count - 1, fromPort: 0, toNode: 0, target: .port(port), kind: VG_AUDIO_PORT))
        }
        let index = try #require(instance.parameterIndex(parameter))
        instance.start(index, at: from)
        let engine = Engine()
        let driver = OfflineDriver(rate: 48000, maxBlock: 1024)
        let schedule = try Compiler.compile(graph, rate: 48000, maxBlock: 1024)
        schedule.setHandles(try driver.register(schedule.externals))
        engine.publish(schedule)
        try driver.start(engine.audio) { _ in }
        if let position { #expect(engine.set(instance, parameter: index, to: to, atOnce: atOnce, at: position)) }
        var heard = [[Float]](repeating: [], count: ports(VG_OUTPUT))
        for frames in plan.sizes(6000) {
            driver.process(frames: frames)
            for channel in heard.indices {
                heard[channel] += try #require(driver.buffer(of: "out_\(channel + 1)"))[..<frames]
            }
        }
        driver.stop()
        return heard
    }
}

@Suite struct LaterChangeTests {
    @Test("A change is heard at its frame, and every sample is the same in all blocks", arguments: LaterChange.all)
    func atItsFrame(_ change: LaterChange) throws {
        // In a block, at the beginning of one, right after one, at the end of one.
        for position in [1500, 2048, 3073, 4095] {
            let single = try change.heard(.fixed(1), at: UInt64(position))
            let without = try change.heard(.fixed(1), at: nil)
            let first = (0..<6000).first { frame in single.indices.contains { single[$0][frame] != without[$0][frame] }
            }
            if let delay = change.delay { #expect(first == position + delay) }
            #expect(try #require(first) >= position)
            for plan in BlockPlan.all {
                let same = try change.heard(plan, at: UInt64(position)) == single
                #expect(same, "\(plan), at \(position)")
            }
        }
    }
}
