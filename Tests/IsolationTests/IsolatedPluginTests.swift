// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import LV2
import NodeKit
import TestSupport
import Testing

@testable import Host
@testable import Isolation

private let params = "http://lv2plug.in/plugins/eg-params"
private let piano = "http://drobilla.net/plugins/mda/EPiano"
private let installed = Set(World.shared.installed(names: false).map(\.uri))

/// Installed LV2 plugins in processes of their own: presets and properties as in the host's own.
@Suite(.serialized, .timeLimit(.minutes(10))) struct IsolatedPluginTests {
    private static func graph(isolate: String) -> String {
        """
        [graph]
        name = "isolated-plugins"
        links = ["piano -> out"]
        [node.params]
        type = "lv2"
        plugin = "\(params)"
        \(isolate)
        params = { string = "from the file", int = 3 }
        [node.piano]
        type = "lv2"
        plugin = "\(piano)"
        \(isolate)
        [node.out]
        type = "output"
        channels = 2

        """
    }

    private func property(_ run: IsolatedRun, _ key: String) throws -> SettingValue? { try run.property("params", key) }

    private func values(_ run: IsolatedRun) throws -> [Float] {
        let node = try #require(run.graph.nodes.first { $0.name == "piano" })
        return node.parameters.indices.map { node.value($0) }
    }

    /// Ends the process that has a node, and waits until it is back.
    private func kill(_ run: IsolatedRun, _ node: String) throws {
        let before = run.all("plugin.started", node).count
        let process = try #require(run.children.first { $0.nodes.contains(node) }?.process)
        Glibc.kill(process, SIGKILL)
        try run.play("\(node) is back") { run.all("plugin.started", node).count > before }
        run.play(blocks: 20)
    }

    @Test(
        "Properties and presets are back after a crash, with a saved state and without",
        .enabled(if: installed.isSuperset(of: [params, piano]), "needs lv2-examples and mda-lv2"),
        arguments: ["isolate = true", "isolate = \"group\""], [0.01, 1000])
    func crash(isolate: String, saveInterval: Double) throws {
        let run = try IsolatedRun(
            Self.graph(isolate: isolate),
            policy: testPolicy {
                $0.saveInterval = saveInterval
                // What is loaded again may turn parameters for so long without being heard.
                if saveInterval > 1 { $0.settling = 1000 }
                $0.hangTime = 5  // a busy machine is no fault of the node
            })
        run.play(blocks: 5)
        #expect(try property(run, "string") == .string("from the file"))
        try run.setProperty("params", "string", to: .string("live"))
        try run.setProperty("params", "float", to: .number(0.25))
        #expect(try property(run, "string") == .string("live"))
        // The preset turns what the same one turns in the host's own process.
        let before = try values(run)
        try run.loadPreset("piano", "Mellow")
        let own = try IsolatedRun(Self.graph(isolate: ""))
        own.play(blocks: 5)
        try own.loadPreset("piano", "Mellow")
        own.play(blocks: 20)
        let mellow = try values(own)
        try run.play("the preset has arrived") { (try? values(run)) == mellow }
        #expect(mellow != before)
        let key = try #require(run.graph.nodes.first { $0.name == "piano" }).parameters[0]
        try run.graph.set("piano", key.key, to: key.range.upperBound)
        if saveInterval < 1 {
            try run.play("a state holds all") {
                run.registry.isolator.instances.allSatisfy { $0.replays.withLock(\.records.isEmpty) }
            }
        }
        // Not three times: what fails again and again starts without its state.
        for node in ["params", "piano"] { try kill(run, node) }
        #expect(try property(run, "string") == .string("live"))
        #expect(try property(run, "float") == .number(0.25))
        #expect(try property(run, "int") == .integer(3))
        #expect(try values(run) == [key.range.upperBound] + mellow.dropFirst())
        #expect(
            throws: Fault(
                "node 'params': Example Parameters has no property \"strung\"", hint: "did you mean string or spring?")
        ) { try run.property("params", "strung") }
        #expect(throws: Fault.self) { try run.loadPreset("piano", "Mallow") }
        #expect(throws: Fault("node 'params': int takes a whole number", hint: "give a whole number")) {
            try run.setProperty("params", "int", to: .string("one"))
        }
    }

    /// What the file says of properties reaches a plugin with its first block.
    @Test(
        "Properties of the file are back after a crash that comes before or soon after the first block",
        .enabled(if: installed.isSuperset(of: [params, piano]), "needs lv2-examples and mda-lv2"), arguments: [0, 1, 2])
    func early(blocks: Int) throws {
        let run = try IsolatedRun(Self.graph(isolate: "isolate = true"), policy: testPolicy { $0.hangTime = 5 })
        run.play(blocks: blocks)
        let saves = try #require(run.registry.isolator.instances.first { $0.recipe.name == "params" })
        if blocks < 2 { usleep(100_000) } else { try run.wait("its state is kept") { saves.state != nil } }
        #expect((saves.state != nil) == (blocks == 2))
        try kill(run, "params")
        #expect(try property(run, "int") == .integer(3))
        #expect(try property(run, "string") == .string("from the file"))
    }

    @Test(
        "From the shell they are reached as those of any other plugin",
        .enabled(if: installed.isSuperset(of: [params, piano]), "needs lv2-examples and mda-lv2"))
    func shell() async throws {
        let scratch = try Scratch()
        let file = try scratch.write("graph.conf", Self.graph(isolate: "isolate = true"))
        let environment = ["XDG_RUNTIME_DIR": scratch.path, "JACK_DEFAULT_SERVER": "vgt-none"]
        let run = try Program(
            [Program.voicegraph, "run", file, "--json"],
            environment: environment.merging(["PATH": scratch.path]) { $1 })
        try await run.wait("it runs") { $0.output.contains("\"running\"") }
        func ctl(_ arguments: String...) async throws -> String {
            let call = try Program([Program.voicegraph, "ctl"] + arguments, environment: environment)
            let code = try await call.end()
            #expect(code == 0, "\(arguments): \(call.errors)")
            return call.output
        }
        #expect(try await ctl("do", "params", "property", "key=string") == "value  from the file\n")
        #expect(try await ctl("do", "params", "property", "key=string", "value=live").isEmpty)
        #expect(try await ctl("do", "params", "property", "key=string") == "value  live\n")
        #expect(try await ctl("do", "piano", "preset", "preset=Mellow").isEmpty)
        let values = try await ctl("get", "piano")
        for child in childrenOf(run.processID) where contents("/proc/\(child)/cmdline").contains("isolated-child") {
            Glibc.kill(child, SIGKILL)
        }
        try await run.wait("both are back") {
            $0.lines.count { $0.contains("\"plugin.started\"") } == 2
        }
        #expect(try await ctl("do", "params", "property", "key=string") == "value  live\n")
        #expect(try await ctl("get", "piano") == values)
        run.signal(SIGINT)
        #expect(try await run.end() == 0)
    }
}
