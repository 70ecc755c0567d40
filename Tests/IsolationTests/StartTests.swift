// SPDX-License-Identifier: Apache-2.0
import Glibc
import GraphFile
import NodeKit
import TestSupport

@testable import Host
@testable import Isolation

/// Nodes that go wrong outside their audio.
@Suite(.serialized, .timeLimit(.minutes(10))) struct StartTests {
    private func load(_ settings: String, _ policy: IsolationPolicy) throws -> (PreparedGraph?, [Diagnostic]) {
        let scratch = try Scratch()
        let path = try scratch.write("graph.conf", unrulyGraph("isolate = true\n" + settings))
        return try PreparedGraph.load(path: path, registry: Unruly.shared.registry(policy))
    }

    @Test(
        "A node that crashes or hangs while it is created is left out, with the reason",
        arguments: [
            ("segv", "crashed in create (SIGSEGV)"), ("exit", "ended its process in create (exit code 3)"),
            ("loop", "hung in create: no answer within 3 s"),
        ])
    func create(trouble: String, words: String) throws {
        let before = isolatedProcesses()
        let (graph, diagnostics) = try load("trouble = \"create \(trouble)\"", testPolicy { $0.patience = 3 })
        #expect(graph?.degraded["odd"]?.contains("libvg-unruly.so \(words)") == true, "\(diagnostics)")
        try eventuallyNow("its process is gone") { Set(isolatedProcesses()).isSubset(of: before) }
    }

    @Test("A node that hung while it was created is not tried again at once") func hungBefore() throws {
        let registry = try Unruly.shared.registry(testPolicy { $0.patience = 3 })
        let scratch = try Scratch()
        let path = try scratch.write("graph.conf", unrulyGraph("isolate = true\ntrouble = \"create loop\""))
        let (first, _) = try PreparedGraph.load(path: path, registry: registry)
        #expect(first?.degraded["odd"]?.hasSuffix("no answer within 3 s") == true)
        let (second, _) = try PreparedGraph.load(path: path, registry: registry)
        #expect(second?.degraded["odd"]?.hasSuffix("it is not tried again for 30 s") == true)
        // One that is otherwise is.
        let other = try scratch.write("other.conf", unrulyGraph("isolate = true"))
        #expect(try PreparedGraph.load(path: other, registry: registry).0?.degraded == [:])
    }

    @Test(
        "A node that crashes or hangs while it is prepared is told, and bypassed",
        arguments: [("abort", "the sky is falling"), ("stop", "hung in prepare: no answer within 3 s")])
    func prepare(trouble: String, words: String) throws {
        let run = try IsolatedRun(
            unrulyGraph("isolate = true\ntrouble = \"prepare \(trouble)\""),
            policy: testPolicy { $0.patience = 3 })
        run.play(blocks: 5)
        #expect(run.all("health", "odd").first?.text("reason")?.contains(words) == true)
        #expect(run.lastBlock.allSatisfy { $0 == 0.25 })
    }

    @Test("A node that crashes in every block is restarted ever more slowly, and bypassed")
    func always() throws {
        let run = try IsolatedRun(unrulyGraph("isolate = true\ntrouble = \"process segv\""))
        try run.play("it fails again and again") { run.all("plugin.failed").count >= 5 }
        let heard = run.heard["out_1"]!
        #expect(heard.suffix(1000).allSatisfy { $0 == 0.25 })
        let policy = IsolationPolicy(command: [])
        #expect((1...10).map(policy.pause) == [0, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5, 5, 5])
    }

    @Test("Offline, a node that crashes in every block does not hold up a render for ever")
    func alwaysOffline() throws {
        let run = try IsolatedRun(unrulyGraph("isolate = true\ntrouble = \"process segv\""), offline: true)
        run.play(blocks: 200)
        #expect(run.heard["out_1"]!.suffix(1000).allSatisfy { $0 == 0.25 })
        #expect(run.all("plugin.failed").count >= 3)
    }

    @Test("A node whose saving is deadly is not asked to save again")
    func save() throws {
        let run = try IsolatedRun(unrulyGraph("isolate = true\ntrouble = \"save segv\""))
        try run.play("saving ends it") { !run.all("plugin.failed").isEmpty }
        #expect(run.all("plugin.failed").first?.text("reason")?.contains("crashed in save (SIGSEGV)") == true)
        try run.play("it is back") { !run.all("plugin.started").isEmpty }
        let asked = run.children[0].asked
        try run.play("it plays on") { run.children[0].asked > asked + 200 }
        #expect(run.all("plugin.failed").count == 1)
    }

    @Test("A crash while a message is received is named so")
    func receive() throws {
        let run = try IsolatedRun(unrulyGraph())
        run.play(blocks: 3)
        try run.tell("odd", "at once segv")
        try run.play("it is back") { !run.all("plugin.started").isEmpty }
        #expect(run.all("plugin.failed").first?.text("reason")?.contains("crashed in receive (SIGSEGV)") == true)
    }

    @Test("A control thread that hangs is noticed by its pulse, while the audio goes on")
    func pulse() throws {
        let run = try IsolatedRun(unrulyGraph(), policy: testPolicy { $0.patience = 3 })
        run.play(blocks: 3)
        try run.tell("odd", "at once loop")
        try run.play("it is told") { !run.all("plugin.failed").isEmpty }
        let reason = run.all("plugin.failed").first?.text("reason")
        #expect(reason?.contains("hung in receive: no answer within 3 s") == true, "\(reason ?? "")")
        try run.play("it is back") { !run.all("plugin.started").isEmpty }
    }

    @Test("A node that hangs whenever it is activated can be ended all the same", .timeLimit(.minutes(1)))
    func activate() throws {
        // What lasts so long passes for calm, so that the next try follows at once.
        let policy = testPolicy {
            $0.patience = 3
            $0.calm = 1
        }
        let node = try LoneNode(policy, settings: ["trouble": .string("activate loop")])
        try eventuallyNow("it is tried again") {
            node.told.withLock { told in told.events.count { $0.name == "plugin.failed" } >= 2 }
        }
        node.instance.deactivate()
        #expect(node.told.withLock { told in told.events.count { $0.name == "plugin.failed" } } <= 4)
    }

    @Test("A node that crashes while it is destroyed harms nobody")
    func destroy() throws {
        let before = isolatedProcesses()
        do {
            let run = try IsolatedRun(unrulyGraph("isolate = true\ntrouble = \"destroy segv\""))
            run.play(blocks: 3)
        }
        try eventuallyNow("its process is gone") { Set(isolatedProcesses()).isSubset(of: before) }
    }

    @Test("A program that names no command says so at the key")
    func withoutCommand() throws {
        let scratch = try Scratch()
        let path = try scratch.write("graph.conf", unrulyGraph())
        let search = PluginSearch(folders: [.init(try Unruly.shared.folder)])
        let (graph, diagnostics) = try PreparedGraph.load(
            path: path, registry: NodeRegistry(search: search, isolation: Isolation()))
        #expect(graph == nil)
        #expect(diagnostics.first?.message == "node 'odd': this program cannot isolate nodes")
        #expect(diagnostics.first?.location.line == 8)
    }

    @Test("A program that is not there leaves the node out")
    func wrongCommand() throws {
        let (graph, _) = try load("", IsolationPolicy(command: ["/nowhere/voicegraph"]))
        #expect(graph?.degraded["odd"]?.contains("/nowhere/voicegraph cannot be started: No such file") == true)
    }
}
