// SPDX-License-Identifier: Apache-2.0
import Drivers
import LV2
import NodeKit
import TestSupport

@testable import Host

private let phaser = "http://zynaddsubfx.sourceforge.net/fx#Phaser"
private let params = "http://lv2plug.in/plugins/eg-params"
private let installed = Set(World.shared.installed(names: false).map(\.uri))

/// LV2 plugins that are changed while the graph plays.
@Suite(.timeLimit(.minutes(5))) struct LivePluginTests {
    private static let graph = """
        [graph]
        links = ["tone -> phaser -> out"]
        [node.tone]
        type = "tone"
        frequency = 220
        level_db = -6
        [node.phaser]
        type = "lv2"
        plugin = "\(phaser)"
        preset = "Analog Phaser 1"
        [node.out]
        type = "output"
        channels = 2

        """

    private func step(_ signal: some Collection<Float>) -> Float {
        zip(signal, signal.dropFirst()).reduce(0) { max($0, abs($1.1 - $1.0)) }
    }

    @Test(
        "A preset is loaded without a click, and the graph plays on",
        .enabled(if: installed.contains(phaser), "needs zynaddsubfx-lv2"), arguments: [64, 256])
    func livePreset(block: Int) throws {
        let run = try OfflineRun(Self.graph, block: block)
        var output: [Float] = []
        func play(_ frames: Int) throws {
            for _ in 0..<(frames / block) {
                run.play(block)
                output += Array(try #require(run.driver.buffer(of: "out_1")).prefix(block))
            }
        }
        try play(24_000)
        let node = run.graph.nodes[1]
        let before = node.parameters.indices.map { node.ramps[$0].target }
        try preset("phaser 5", on: "phaser", of: run)
        let loaded = output.count
        try play(24_000)
        #expect(node.parameters.indices.contains { node.ramps[$0].target != before[$0] })
        let ownSteps = max(step(output[4800..<loaded]), step(output[(loaded + 8000)...]))
        #expect(step(output[4800...]) <= 1.5 * ownSteps + output.map(abs).max()! / 480)
        #expect(output[loaded...].contains(0))
        #expect(output[(loaded + 8000)...].map(abs).max()! > 0.05)
        #expect(throws: Fault("there is no node 'fazer'", hint: "nodes: tone, phaser, out")) {
            try preset("phaser 5", on: "fazer", of: run)
        }
        #expect(
            throws: NodeError(
                "ZynPhaser has no preset \"Phaser7\"",
                hint: "did you mean Phaser 1 or Phaser 2 or Phaser 3?")
        ) {
            try preset("Phaser7", on: "phaser", of: run)
        }
        #expect(throws: NodeError("nodes of type tone have no action 'preset'", hint: "they have no actions")) {
            try preset("sine", on: "tone", of: run)
        }
    }

    private func preset(_ name: String, on node: String, of run: OfflineRun) throws {
        _ = try run.graph.instance(node).performAndWait(VG_ACTION_PRESET, ["preset": .string(name)])
    }

    private static let file = """
        [graph]
        name = "live-plugin"
        [node.params]
        type = "lv2"
        plugin = "\(params)"
        [node.phaser]
        type = "lv2"
        plugin = "\(phaser)"

        """

    private func property(_ key: String, _ host: Host) async throws -> SettingValue? {
        try await host.perform("property", on: "params", ["key": .string(key)])["value"]
    }

    @Test(
        "The actor sets and tells properties and loads presets",
        .enabled(if: installed.isSuperset(of: [phaser, params]), "needs lv2-examples and zynaddsubfx-lv2"))
    func throughTheActor() async throws {
        let turn = try await JackTurn.wait()
        let scratch = try Scratch()
        let host = Host()
        try await host.load(scratch.write("graph.conf", Self.file))
        let early = await #expect(throws: Fault.self) { try await property("string", host) }
        #expect(early?.message == "no graph is playing")
        try await host.run(DriverRequest(kind: .dummy, client: "live-plugin", rate: 48_000, block: 128))
        #expect(try await property("string", host) == .string("Hello, world"))
        try await host.perform("property", on: "params", ["key": .string("STRING"), "value": .string("evening")])
        try await host.perform("property", on: "params", ["key": .string("float"), "value": .number(0.25)])
        #expect(try await property("string", host) == .string("evening"))
        #expect(try await property("http://lv2plug.in/plugins/eg-params#float", host) == .number(0.25))
        try await host.perform("preset", on: "phaser", ["preset": .string("Phaser 3")])
        let wrong = await #expect(throws: Fault.self) { try await property("strung", host) }
        #expect(
            wrong?.description
                == "node 'params': Example Parameters has no property \"strung\" (did you mean string or spring?)")
        await host.close()
        withExtendedLifetime(turn) {}
    }
}
