// SPDX-License-Identifier: Apache-2.0
import Glibc
import Graph
import GraphFile
import NodeKit
import Nodes
import Testing

@testable import LV2

/// Blocks in which nothing moved take a short way to the plugin: what moved must never be missed.
@Suite(needs(Plugins.amp, package: "lv2-examples"))
struct SteadyTests {
    /// An engine with `in -> amp -> out`, called as a driver calls it.
    private final class Amp {
        let engine = Engine()
        let node: NodeInstance
        private let schedule: Schedule
        private var clock: UInt64 = 0

        init() throws {
            let description = GraphDescription(
                nodes: [
                    NodeDescription(name: "in", type: "input"),
                    NodeDescription(
                        name: "amp", type: "lv2", entries: ["plugin": Entry(.string(Plugins.amp))], keys: ["plugin"]),
                    NodeDescription(
                        name: "out", type: "output", entries: ["channels": Entry(.integer(1))], keys: ["channels"]),
                ],
                links: [
                    LinkDescription(from: Endpoint("in"), to: Endpoint("amp")),
                    LinkDescription(from: Endpoint("amp"), to: Endpoint("out")),
                ])
            let result = GraphBuilder.build(description, catalog: NodeCatalog(builtInNodeTypes + [lv2NodeType()]))
            let graph = try #require(result.graph, "\(result.diagnostics)")
            node = graph.nodes[1].instance
            for node in graph.nodes { try node.instance.prepare(Preparation(rate: 48000, maxBlock: 1024)) }
            schedule = try Compiler.compile(graph, rate: 48000, maxBlock: 1024)
            engine.publish(schedule)
            node.activate()
        }

        /// One block of ones through the driver's buffers.
        func run(_ input: UnsafeMutablePointer<Float>, _ output: UnsafeMutablePointer<Float>, frames: Int = 100) {
            let active = engine.audio.begin()
            for index in 0..<active.externalCount { active.bind(index, active.isCapture(index) ? input : output) }
            for frame in 0..<frames { (input[frame], output[frame]) = (1, .nan) }
            engine.audio.run(active, frames: frames, clock: clock, flags: 0, transport: vg_transport())
            clock += UInt64(frames)
        }
    }

    @Test("A parameter that is turned after a while of rest is followed, to its end")
    func parameterIsFollowed() throws {
        let amp = try Amp()
        let (input, output) = (buffer(), buffer())
        defer { for one in [input, output] { one.deallocate() } }
        for target: Float in [-20, 6, 0] {
            for _ in 0..<20 { amp.run(input, output) }
            let before = output[0]
            #expect(amp.engine.set(amp.node, parameter: 0, to: target))
            amp.run(input, output)
            #expect(output[0] != before)
            for _ in 0..<8 { amp.run(input, output) }
            #expect(output[0] == powf(10, target * 0.05) && output[99] == output[0])
        }
    }

    @Test("Buffers that move after a while of rest are followed, block by block")
    func buffersAreFollowed() throws {
        let amp = try Amp()
        let buffers = (0..<4).map { _ in buffer() }
        defer { for one in buffers { one.deallocate() } }
        for turn in 0..<60 {
            // A while in the first two, then others in every block.
            let pair = turn < 30 ? 0 : turn % 2
            let output = buffers[1 + 2 * pair]
            amp.run(buffers[2 * pair], output)
            #expect((0..<100).allSatisfy { output[$0] == 1 }, "block \(turn)")
        }
    }

    @Test("After a stop and a start with the same schedule the ports are connected again")
    func restartConnects() throws {
        let amp = try Amp()
        let (input, output) = (buffer(), buffer())
        defer { for one in [input, output] { one.deallocate() } }
        for _ in 0..<5 { amp.run(input, output) }
        amp.node.deactivate()
        amp.node.activate()
        amp.run(input, output)
        #expect((0..<100).allSatisfy { output[$0] == 1 })
    }

    @Test("Every frame of a block of any length is zeroed before the plugin runs, and none behind it")
    func zeroesExactly() throws {
        for frames in 1...300 {
            let memory = UnsafeMutablePointer<Float>.allocate(capacity: 320)
            defer { memory.deallocate() }
            memory.initialize(repeating: 7, count: 320)
            // At an odd address, as a driver may give one.
            var port = vg_foreign_port(connected: memory + 3, port: 0)
            let state = UnsafeMutablePointer<vg_foreign_state>.allocate(capacity: 1)
            let ran = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)
            defer {
                state.deallocate()
                ran.deallocate()
            }
            state.initialize(to: vg_foreign_state(revision: 5, moved: 0))
            ran.initialize(to: 0)
            withUnsafeMutablePointer(to: &port) { port in
                var foreign = vg_foreign(
                    steady: vg_foreign_choose(), moved: { _, _, _ in }, state: state, outputs: port,
                    output_end: port + 1, handle: ran,
                    run: { $0.assumingMemoryBound(to: UInt32.self).pointee = $1 })
                var cycle = vg_cycle()
                cycle.frames = UInt32(frames)
                cycle.revision = 5
                var io = vg_io()
                vg_foreign_process(&foreign, &io, &cycle)
            }
            #expect(ran.pointee == UInt32(frames))
            #expect((0..<320).allSatisfy { memory[$0] == ((3..<3 + frames).contains($0) ? 0 : 7) }, "\(frames) frames")
        }
    }

    private func buffer() -> UnsafeMutablePointer<Float> {
        let memory = UnsafeMutablePointer<Float>.allocate(capacity: 1024)
        memory.initialize(repeating: 0, count: 1024)
        return memory
    }
}
