// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport
import Testing

/// Shared objects in a plugin folder that are no good.
@Suite(.serialized, .timeLimit(.minutes(5))) struct PluginTrialTests {
    /// What crashes, ends the process or hangs when it is opened or asked for what it offers, by its name.
    private static let broken = [
        "segv": "__attribute__((constructor)) static void start(void) { *(volatile int *)0 = 1; }",
        "abort": "#include <stdlib.h>\n__attribute__((constructor)) static void start(void) { abort(); }",
        "ends": "#include <unistd.h>\n__attribute__((constructor)) static void start(void) { _exit(0); }",
        "hangs": "#include <unistd.h>\n__attribute__((constructor)) static void start(void) { for (;;) pause(); }",
        "entry": "const void *vg_plugin_entry(unsigned abi) { (void)abi; *(volatile int *)0 = 1; return 0; }",
        "rubbish": "const void *vg_plugin_entry(unsigned abi) { (void)abi; return (void *)8; }",
    ]

    private func build(_ name: String, in folder: Scratch) async throws {
        let source = try folder.write("\(name).c", try #require(Self.broken[name]))
        let result = try await runTool(["cc", "-w", "-fPIC", "-shared", source, "-o", folder.file("libvg-\(name).so")])
        try #require(result.status == 0, "\(result.output)")
    }

    private func call(_ arguments: String...) async throws -> (code: Int32, output: String) {
        let program = try Program([Program.voicegraph] + arguments)
        let code = try await program.end(seconds: 120)
        return (code, program.output + program.errors)
    }

    @Test("Each is told with what it does, and those beside it are offered") func listed() async throws {
        let folder = try Scratch()
        for name in Self.broken.keys { try await build(name, in: folder) }
        _ = try await compile("plugins/unruly", in: folder, as: "libvg-unruly.so")
        let nodes = try await call("nodes", "--plugin-path", folder.path)
        #expect(nodes.code == 0 && nodes.output.contains("unruly"), "\(nodes.output)")
        for name in Self.broken.keys { #expect(nodes.output.contains(name), "\(name): \(nodes.output)") }
        let graph = toneGraph.replacing("[graph]", with: "[node.x]\ntype = \"TYPE\"\n[graph]")
        for (name, reason) in [
            ("segv", "crashes in its opening (SIGSEGV)"), ("abort", "crashes in its opening (SIGABRT)"),
            ("ends", "ends the whole process in its opening (exit code 0)"), ("hangs", "does not come back"),
            ("entry", "crashes in its opening (SIGSEGV)"), ("rubbish", "crashes in its opening (SIGSEGV)"),
        ] {
            let file = try folder.write("graph.conf", graph.replacing("TYPE", with: name))
            let check = try await call("check", file, "--plugin-path", folder.path)
            #expect([0, 1].contains(check.code) && check.output.contains(reason), "\(name): \(check)")
        }
    }

    @Test("A type that is mistyped while a graph plays ends no run") func mistyped() async throws {
        let turn = try await JackTurn.wait()
        let folder = try Scratch()
        for name in ["segv", "ends"] { try await build(name, in: folder) }
        let session = try Session(toneGraph, ["--driver", "dummy", "--plugin-path", folder.path])
        try await session.plays()
        let added = try await session.call("ctl", "add", "x", "gian")
        #expect(added.code == 1 && added.output.contains("gain"), "\(added)")
        try await session.done("ctl", "add", "y", "gain")
        try await session.end()
        turn.end()
    }

    @Test("A plugin that hangs while it is created does not keep a signal away", arguments: [SIGINT, SIGTERM])
    func hangingCreate(_ signal: Int32) async throws {
        let folder = try Scratch()
        _ = try await compile("plugins/unruly", in: folder, as: "libvg-unruly.so")
        let graph = toneGraph.replacing(
            "[graph]", with: "[node.x]\ntype = \"unruly\"\ntrouble = \"create loop\"\n[graph]")
        let run = try Program([
            Program.voicegraph, "run", try folder.write("graph.conf", graph), "--driver", "dummy", "--plugin-path",
            folder.path,
        ])
        // It is in `create` once it has opened the plugin.
        try await run.wait("the plugin is there") { run in
            contents("/proc/\(run.processID)/maps").contains("libvg-unruly.so")
        }
        run.signal(signal)
        #expect(try await run.end() == 1)
        #expect(run.errors.contains("ended before it played"), "\(run.errors)")
    }
}
