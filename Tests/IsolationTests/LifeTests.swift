// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import NodeKit
import TestSupport

@testable import Host
@testable import Isolation

/// Processes, groups, messages: what comes and goes with isolated nodes.
@Suite(.serialized, .timeLimit(.minutes(10))) struct LifeTests {
    private static let pair = """
        [graph]
        links = ["in -> one -> two -> out", "one.echo -> two.do"]
        [node.in]
        type = "input"
        [node.one]
        type = "unruly"
        isolate = "group"
        [node.two]
        type = "unruly"
        isolate = "group"
        gain = 2
        [node.out]
        type = "output"
        channels = 1

        """

    @Test("The nodes of a group share one process, and come back together; the one at fault is named")
    func group() throws {
        let run = try IsolatedRun(Self.pair)
        let process = try run.who("one").integer("process")
        #expect(try run.who("two").integer("process") == process)
        #expect(run.children.map(\.nodes) == [["one", "two"]])
        #expect(run.lastBlock.allSatisfy { $0 == 0.5 })
        try run.tell("two", "segv")
        try run.play("both are back") { run.all("plugin.started").count == 2 }
        #expect(run.all("plugin.failed").map(\.node) == ["one", "two"])
        #expect(run.all("plugin.failed").allSatisfy { $0.text("culprit") == "two" })
        let reason = run.all("plugin.failed", "one").first?.text("reason")
        #expect(reason == "its process ended: two (libvg-unruly.so) crashed in process (SIGSEGV)")
        let second = try run.who("one").integer("process")
        #expect(second != process)
        #expect(try run.who("two").integer("process") == second)
        run.play(blocks: 5)
        #expect(run.lastBlock.allSatisfy { $0 == 0.5 })
    }

    @Test("Without a group every node has a process of its own")
    func alone() throws {
        let run = try IsolatedRun(Self.pair.replacingOccurrences(of: "\"group\"", with: "true"))
        #expect(try run.who("one").integer("process") != run.who("two").integer("process"))
        #expect(run.children.count == 2)
    }

    @Test("Log, events, messages, presets and latency pass between the processes")
    func services() throws {
        let run = try IsolatedRun(Self.pair)
        try run.tell("one", "who")
        // What `one` sends goes over its link to `two`, which answers too.
        try run.play("both say who they are") { !run.all("who", "one").isEmpty && !run.all("who", "two").isEmpty }
        #expect(run.all("log", "one").contains { $0.text("text") == "somebody asks" && $0.text("level") == "warning" })
        try run.loadPreset("one", "3")
        #expect(try run.who("one").integer("preset") == 3)
        // A preset turns the parameter.
        try run.play("it is heard") { run.lastBlock.allSatisfy { $0 == 1.5 } }
        #expect(throws: Fault("node 'one': no preset x")) { try run.loadPreset("one", "x") }
        try run.tell("one", "remember 77")
        try run.play("the latency is told") { run.all("latency", "one").last?.fields["value"] == .number(77) }
        // The host asks for it after that.
        try run.play("the latency is known") { run.graph.nodes.first { $0.name == "one" }?.latency == 77 }
    }

    @Test("A preset that was loaded since the last state is loaded again after a restart")
    func preset() throws {
        let run = try IsolatedRun(Self.pair, policy: testPolicy { $0.saveInterval = 1000 })
        run.play(blocks: 3)
        try run.loadPreset("one", "3")
        try run.tell("one", "abort")
        try run.play("it is back") { run.all("plugin.started").count == 2 }
        #expect(try run.who("one").integer("preset") == 3)
    }

    @Test("What is said to a node while it is away, it hears when it is back")
    func messages() throws {
        let run = try IsolatedRun(
            unrulyGraph(),
            policy: testPolicy {
                $0.firstPause = 2
                $0.longestPause = 2
            })
        // The first restart comes at once; before the second there is a pause.
        for number in 1...2 {
            try run.play("it plays") { run.children.first?.restarts == number - 1 && run.children[0].process != nil }
            kill(run.children[0].process!, SIGKILL)
            try run.play("it is told") { run.all("plugin.failed").count == number }
        }
        #expect(run.children.first?.process == nil)
        // More than are kept: the rest is in the status.
        for number in 1...300 { try run.tell("odd", "remember \(number)") }
        let kept = IsolatedInstance.mostMessages
        try run.play("what is lost is counted") {
            run.graph.status.counters["odd"]?["lost messages"] == UInt64(300 - kept)
        }
        try run.play("it is back") { run.all("plugin.started").count == 2 }
        #expect(try run.who("odd").integer("remembered") == kept)
    }

    @Test("Twelve restarts leave nothing behind, and neither does the end", arguments: ["segv", "stop", "nan"])
    func leaks(trouble: String) throws {
        let before = isolatedProcesses()
        func measure() throws -> (files: Int, threads: Int, maps: Int) {
            let files = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
            let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
            let maps = contents("/proc/self/maps").components(separatedBy: "memfd:voicegraph").count
            return (files, threads, maps)
        }
        func cycle(_ run: IsolatedRun, _ number: Int) throws {
            try run.play("it plays") { run.lastBlock.allSatisfy { $0 == 0.5 } && !run.lastBlock.isEmpty }
            try run.tell("odd", trouble)
            try run.play("it is back") { run.all("plugin.started").count == number }
        }
        do {
            let run = try IsolatedRun(unrulyGraph())
            for number in 1...2 { try cycle(run, number) }
            try eventuallyNow("a spare child waits") { Set(isolatedProcesses()).subtracting(before).count == 2 }
            let first = try measure()
            for number in 3...14 { try cycle(run, number) }
            try eventuallyNow("a spare child waits") { Set(isolatedProcesses()).subtracting(before).count == 2 }
            #expect(run.children.first?.restarts == 14)
            // Threads of the pool, and those that end just now, come and go.
            try eventuallyNow("files, threads and memory are what they were: \(first), \(try measure())") {
                let last = try measure()
                return last.files <= first.files && last.maps <= first.maps && last.threads <= first.threads + 2
            }
        }
        try eventuallyNow("all processes are gone") { Set(isolatedProcesses()).isSubset(of: before) }
        try eventuallyNow("no states are left") {
            try filesBelow(StateFolder.base, "voicegraph-states-\(getpid())").isEmpty
        }
    }

    @Test("A host that is killed takes its children with it, even stopped ones, and one that computes for ever")
    func hostDies() async throws {
        for (isStopped, trouble) in [(false, ""), (true, ""), (false, "trouble = \"create loop\"")] {
            let scratch = try Scratch()
            let file = try scratch.write("graph.conf", unrulyGraph("isolate = true\n" + trouble))
            // Without jackd in the path a timer drives: a server would outlive its host as a zombie, and keep its name.
            let program = try Program(
                [Program.voicegraph, "run", file, "--json", "--plugin-path", try Unruly.shared.folder],
                environment: ["PATH": scratch.path, "JACK_DEFAULT_SERVER": "vgt-none"])
            let host = program.processID
            @Sendable func isolated() -> [pid_t] {
                childrenOf(host).filter { contents("/proc/\($0)/cmdline").contains("isolated-child") }
            }
            try await program.wait("it runs, or its child computes") { program in
                trouble.isEmpty
                    ? program.output.contains("\"running\"")
                    : isolated().contains { contents("/proc/\($0)/maps").contains("libvg-unruly") }
            }
            let children = isolated()
            #expect(!children.isEmpty)
            if isStopped { for child in children { kill(child, SIGSTOP) } }
            kill(host, SIGKILL)
            // Those that nobody has reaped yet have no command line.
            try await eventually("they are gone") { children.allSatisfy { contents("/proc/\($0)/cmdline").isEmpty } }
            _ = try await program.end()
        }
    }
}

extension LifeTests {
    @Test("The command goes on when a plugin dies, says so, and ends in order")
    func command() async throws {
        let scratch = try Scratch()
        let file = try scratch.write("graph.conf", unrulyGraph())
        let program = try Program(
            [Program.voicegraph, "run", file, "--json", "--plugin-path", try Unruly.shared.folder],
            environment: ["PATH": scratch.path, "JACK_DEFAULT_SERVER": "vgt-none"])
        try await program.wait("it runs") { $0.output.contains("\"running\"") }
        let first = childrenOf(program.processID).filter { contents("/proc/\($0)/maps").contains("libvg-unruly") }
        #expect(first.count == 1)
        for child in first { kill(child, SIGSEGV) }
        try await program.wait("the node is back") { $0.output.contains("\"plugin.started\"") }
        let failed = program.lines.first { $0.contains("\"plugin.failed\"") } ?? ""
        #expect(failed.contains("\"node\":\"odd\"") && failed.contains("\"signal\":\"SIGSEGV\""), "\(failed)")
        let children = childrenOf(program.processID)
        program.signal(SIGINT)
        #expect(try await program.end() == 0)
        #expect(program.output.contains("\"finished\""))
        #expect(children.allSatisfy { contents("/proc/\($0)/cmdline").isEmpty })
    }
}

/// The processes that a process started.
func childrenOf(_ process: pid_t) -> [pid_t] {
    let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
    return tasks.flatMap { task in
        contents("/proc/\(process)/task/\(task)/children").split(separator: " ").compactMap { pid_t($0) }
    }
}
