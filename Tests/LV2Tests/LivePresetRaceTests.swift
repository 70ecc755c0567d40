// SPDX-License-Identifier: Apache-2.0
import Glibc
import Graph
import GraphFile
import NodeKit
import Synchronization
import TestSupport

@testable import Graph
@testable import GraphFile
@testable import LV2

/// Presets and messages while the audio thread runs, for the thread sanitizer.
@Suite(.timeLimit(.minutes(10)))
struct LivePresetRaceTests {
    /// The audio thread.
    private final class Loop: @unchecked Sendable {
        // Sendable: `run` is called on one thread; the rest is atomic.
        let audio: AudioEngine
        let ended = Atomic(false)
        let cycles = Atomic(0)

        init(_ engine: Engine) { audio = engine.audio }

        func run() {
            while !ended.load(ordering: .acquiring) {
                let schedule = audio.begin()
                audio.run(schedule, frames: 64, clock: 0, flags: 0, transport: vg_transport())
                cycles.add(1, ordering: .releasing)
                sched_yield()
            }
        }
    }

    private func node(_ settings: [String: SettingValue], _ capture: NodeCapture) throws -> NodeInstance {
        let node = try NodeInstance(
            type: lv2NodeType(), name: "node", settings: Settings(settings), services: capture.services)
        try node.prepare(Preparation(rate: 48_000, maxBlock: 64))
        node.isDriven = true  // what it is to do is done on the thread that polls
        return node
    }

    /// Plays the node while `body` is called again and again, with a poll after each; some blocks go by meanwhile.
    private func play(_ node: NodeInstance, rounds: Int, _ body: (Int) throws -> Void) throws {
        let engine = Engine()
        var graph = ResolvedGraph()
        graph.nodes = [ResolvedGraph.Node(instance: node, description: NodeDescription(name: "node", type: "lv2"))]
        engine.publish(try Compiler.compile(graph, rate: 48_000, maxBlock: 64, verifying: false))
        node.onSetParameter { [weak engine, weak node] place, value, atOnce, position in
            guard let engine, let node else { return false }
            return engine.set(node, parameter: place, to: value, atOnce: atOnce, at: position)
        }
        node.activate()
        let loop = Loop(engine)
        var fault: (any Error)?
        together({ loop.run() }) {
            defer { loop.ended.store(true, ordering: .releasing) }
            do {
                for round in 0..<rounds {
                    try body(round)
                    node.poll()
                    let seen = loop.cycles.load(ordering: .acquiring)
                    while loop.cycles.load(ordering: .acquiring) < seen + round % 12 { sched_yield() }
                }
            } catch { fault = error }
        }
        if let fault { throw fault }
        node.deactivate()
        node.poll()
    }

    @Test("No state is restored while the plugin runs, and the last preset is the one that stays")
    func presetsWaitTheirTurn() throws {
        _ = try ProbeBundle.load()
        let capture = NodeCapture()
        let node = try node(settings(ProbeBundle.probe), capture)
        let rounds = stressed(600)
        try play(node, rounds: rounds) { round in
            if round % 3 == 0 { try node.loadPreset(round % 2 == 0 ? "Loud And Far" : "Small And Near") }
        }
        let restored = capture.logs.map(\.text).filter { $0.contains("restored") }
        #expect(restored.count > rounds / 20)
        #expect(!restored.contains { $0.contains("while") }, "\(restored.count { $0.contains("while") })")
        // The last of the rounds that load is an odd one.
        #expect(restored.last == "Host Probe: restored 2.5")
    }

    @Test("Properties are set and told while the plugin runs", needs(Plugins.params, package: "lv2-examples"))
    func messagesPass() throws {
        let capture = NodeCapture()
        let node = try node(settings(Plugins.params), capture)
        let rounds = stressed(500)
        let answers = Mutex<[ActionResult]>([])
        try play(node, rounds: rounds) { round in
            // Messages that cannot wait any more are refused, and the next are taken when there is room.
            do throws(NodeError) {
                try node.setProperty("string", to: .string("round \(round)"))
            } catch {
                #expect(error.message.hasPrefix("too many messages"))
            }
            node.perform("property", ["key": .string("string")]) { answer in answers.withLock { $0.append(answer) } }
            node.drain()
        }
        let told = answers.withLock { $0 }.compactMap { answer -> Int? in
            do throws(NodeError) {
                guard case .string(let text)? = try answer.get()["value"] else { return nil }
                return Int(text.dropFirst("round ".count))
            } catch {
                #expect(error.message.hasPrefix("too many messages"))
                return nil
            }
        }
        #expect(told.count > 10)
        #expect(zip(told, told.dropFirst()).allSatisfy { $0 <= $1 })
    }
}
