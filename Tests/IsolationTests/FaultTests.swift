// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import TestSupport

@testable import Host
@testable import Isolation

/// What an isolated node does to its host when it goes wrong: nothing.
@Suite(.serialized, .timeLimit(.minutes(10))) struct FaultTests {
    struct Fault: CustomStringConvertible, Sendable {
        var trouble: String
        var cause: String
        var signal = ""
        var words: String
        var description: String { trouble }
    }

    static let faults = [
        Fault(trouble: "segv", cause: "signal", signal: "SIGSEGV", words: "crashed in process (SIGSEGV)"),
        Fault(trouble: "abort", cause: "signal", signal: "SIGABRT", words: "it printed: the sky is falling"),
        Fault(trouble: "exit", cause: "exit", words: "ended its process in process (exit code 3)"),
        Fault(trouble: "loop", cause: "hang", words: "hung in process: no answer within 50 ms"),
        Fault(trouble: "stop", cause: "hang", words: "hung in process: no answer within 50 ms"),
        Fault(trouble: "nan", cause: "nan", words: "gave audio that is no number"),
        Fault(trouble: "inf", cause: "nan", words: "gave audio that is no number"),
    ]

    /// What is heard beside the isolated node, without it.
    private func reference(_ samples: Int, block: Int) throws -> [Float] {
        let run = try IsolatedRun(
            """
            [graph]
            links = ["tone -> other"]
            [node.tone]
            type = "tone"
            frequency = 331
            [node.other]
            type = "output"
            channels = 1

            """, block: block)
        run.play(blocks: samples / block)
        return run.heard["other_1"] ?? []
    }

    @Test("A fault is contained: bypass without a click, the others untouched, back with its state", arguments: faults)
    func fault(_ fault: Fault) throws {
        let run = try IsolatedRun(unrulyGraph())
        try run.tell("odd", "remember 42")
        run.play(blocks: 10)
        let first = try run.who("odd")
        #expect(first.integer("remembered") == 42)
        #expect(run.lastBlock.allSatisfy { $0 == 0.5 })
        // Its state is kept every 10 ms here.
        let process = try #require(first.integer("process"))
        try run.play("its state is kept") { run.keeps("42") }
        try run.graph.set("odd", "gain", to: 3)
        run.play(blocks: 10)
        #expect(run.lastBlock.allSatisfy { $0 == 0.75 })

        let before = try #require(run.children.first)
        let start = run.heard["out_1"]!.count
        try run.tell("odd", fault.trouble)
        try run.play("\(fault.trouble) is told") { !run.all("plugin.failed").isEmpty }
        let failed = try #require(run.all("plugin.failed").first)
        #expect(failed.node == "odd")
        #expect(failed.text("plugin") == "libvg-unruly.so")
        #expect(failed.text("cause") == fault.cause)
        #expect(failed.text("signal") == fault.signal)
        #expect(failed.text("reason")?.contains(fault.words) == true, "\(failed.text("reason") ?? "")")
        #expect(failed.integer("process") == process)
        try run.play("it is degraded, or back already") {
            run.graph.status.degraded["odd"] != nil || !run.all("plugin.started").isEmpty
        }
        #expect(run.all("log", "odd").contains { $0.text("text")?.contains(fault.words) == true })

        try run.play("it is back") { !run.all("plugin.started").isEmpty }
        run.play(blocks: 10)
        #expect(run.graph.status.degraded["odd"] == nil)
        #expect(run.lastBlock.allSatisfy { $0 == 0.75 })
        let second = try run.who("odd")
        #expect(second.integer("remembered") == 42)
        #expect(second.integer("process") != process)
        #expect(run.children.first?.restarts == 1)

        // In between the input was heard: no sample is further from the last than a fade of 480 frames allows.
        let heard = run.heard["out_1"]![start...]
        #expect(largestStep(heard) <= 0.75 / 480 * 1.01)
        #expect(heard.min()! >= 0.25 && heard.max()! <= 0.75)
        let after = try #require(run.children.first)
        #expect(after.bypassed > before.bypassed)
        // One block was waited for in vain, or none where the child answered with nonsense; no more.
        #expect(after.timeouts - before.timeouts <= 1)
        // No cycle was left out, and what else plays is what plays without the node.
        let others = run.heard["other_1"]!
        #expect(run.graph.driver.status.cycles == UInt64(others.count / 256))
        #expect(try others == reference(others.count, block: 256))
    }

    /// As where the kernel is quicker than the supervisor, which has no turn on a busy machine.
    @Test(
        "A node that the kernel ends, since it computes without a pause at realtime priority, is told to hang",
        .enabled(if: canBeRealtime, "needs the right to realtime priority"))
    func kernel() throws {
        let run = try IsolatedRun(
            unrulyGraph(),
            policy: testPolicy {
                $0.hangTime = 30
                $0.realtimeLimit = 0.1
            })
        // The child runs as the thread that plays does.
        var usual = (policy: Int32(0), parameters: sched_param())
        pthread_getschedparam(pthread_self(), &usual.policy, &usual.parameters)
        var first = sched_param(sched_priority: 1)
        #expect(pthread_setschedparam(pthread_self(), SCHED_FIFO, &first) == 0)
        defer { pthread_setschedparam(pthread_self(), usual.policy, &usual.parameters) }
        run.play(blocks: 10)
        try run.tell("odd", "loop")
        try run.play("it is told") { !run.all("plugin.failed").isEmpty }
        let failed = try #require(run.all("plugin.failed").first)
        #expect(failed.text("cause") == "hang" && failed.text("signal") == "SIGXCPU", "\(failed.fields)")
    }

    @Test("A control of a node whose process is gone goes to what the node says for that, and is back with it")
    func controls() throws {
        let run = try IsolatedRun(
            """
            [graph]
            links = ["in -> odd -> out", "in -> gate -> other", "odd.remembered -> gate.gain_db"]
            [node.in]
            type = "input"
            [node.odd]
            type = "unruly"
            isolate = true
            [node.out]
            type = "output"
            channels = 1
            [node.gate]
            type = "gain"
            [node.other]
            type = "output"
            channels = 1

            """,
            policy: testPolicy {
                $0.firstPause = 600
                $0.longestPause = 600
            })
        func level() -> Float { (run.heard["other_1"]?.last ?? 0) / run.input }
        try run.tell("odd", "remember -6")
        try run.play("the gate is open") { abs(level() - 0.501) < 0.01 }
        // The first time another process takes its place at once.
        try run.tell("odd", "segv")
        try run.play("it is back") { !run.all("plugin.started").isEmpty }
        try run.tell("odd", "segv")
        try run.play("the gate is closed") { abs(level() - 0.00316) < 0.001 }
        try run.play("it is told") { run.graph.status.degraded["odd"] != nil }
    }

    @Test(
        "A node that allocates without end ends alone, and is named for it",
        .disabled(if: Sanitizer.takesAddresses, "a sanitizer needs all addresses"))
    func memory() throws {
        // Code and stacks take addresses too, so that only a part of the limit is ever in use.
        let run = try IsolatedRun(unrulyGraph(), policy: testPolicy { $0.memory = 1 << 30 })
        run.play(blocks: 5)
        try run.tell("odd", "allocate")
        try run.play("it is told") { !run.all("plugin.failed").isEmpty }
        let failed = try #require(run.all("plugin.failed").first)
        // Where memory is touched slowly it is taken for a hang first.
        #expect(["memory", "hang"].contains(failed.text("cause")), "\(failed.fields)")
        try run.play("it is back") { !run.all("plugin.started").isEmpty }
        run.play(blocks: 10)
        #expect(run.lastBlock.allSatisfy { $0 == 0.5 })
    }

    @Test("A node that is only late is bypassed meanwhile and not ended")
    func late() throws {
        let run = try IsolatedRun(
            unrulyGraph(),
            policy: testPolicy {
                $0.blockShare = 1
                $0.hangTime = 2
            })
        try run.play("all is well") { run.lastBlock.allSatisfy { $0 == 0.5 } && !run.lastBlock.isEmpty }
        let process = run.children.first?.process
        let start = run.heard["out_1"]!.count
        try run.tell("odd", "late")
        try run.play("it is late") { (run.children.first?.timeouts ?? 0) > 0 }
        try run.play("it is heard again") {
            run.heard["out_1"]!.count > start + 2560 && run.lastBlock.allSatisfy { $0 == 0.5 }
        }
        #expect(run.children.first?.process == process)
        #expect(run.all("plugin.failed").isEmpty)
        #expect(largestStep(run.heard["out_1"]![start...]) <= 0.5 / 480 * 1.01)
        try run.play("it is told") { !run.all("plugin.late", "odd").isEmpty }
    }

    @Test("A control keeps its value while the node that gives it is away")
    func control() throws {
        let run = try IsolatedRun(
            """
            [graph]
            links = ["in -> odd", "odd.remembered -> gain.gain_db", "tone -> gain -> out"]
            [node.in]
            type = "input"
            [node.odd]
            type = "unruly"
            isolate = true
            [node.tone]
            type = "tone"
            [node.gain]
            type = "gain"
            [node.out]
            type = "output"
            channels = 1

            """)
        try run.tell("odd", "remember -60")
        try run.play("the control is heard") { (run.lastBlock.map(abs).max() ?? 1) < 0.01 }
        try run.play("its state is kept") { run.keeps("-60") }
        let start = run.heard["out_1"]!.count
        kill(run.children[0].process!, SIGKILL)
        try run.play("it is gone") { !run.all("plugin.failed").isEmpty }
        try run.play("it is back") { !run.all("plugin.started").isEmpty }
        run.play(blocks: 5)
        #expect(run.heard["out_1"]!.suffix(from: start).allSatisfy { abs($0) < 0.01 })
    }

    @Test("Offline a block is waited for, and the rest of a render waits for the restart", arguments: ["segv", "stop"])
    func offline(trouble: String) throws {
        let run = try IsolatedRun(unrulyGraph(), policy: testPolicy { $0.offlineWait = 0.3 }, offline: true)
        run.play(blocks: 20)
        try run.tell("odd", trouble)
        run.play(blocks: 40)
        // The block that it did not give, and no other, is bypassed.
        #expect(run.children.first?.bypassed == 1)
        #expect(run.all("plugin.failed").count == 1 && run.all("plugin.started").count == 1)
        let heard = run.heard["out_1"]!
        #expect(heard.prefix(20 * 256).allSatisfy { $0 == 0.5 })
        #expect(heard.suffix(30 * 256).allSatisfy { $0 == 0.5 })
        #expect(largestStep(heard) <= 0.5 / 480 * 1.01)
    }
}

/// Whether a thread of this user may have realtime priority here.
private let canBeRealtime: Bool = {
    var usual = (policy: Int32(0), parameters: sched_param())
    pthread_getschedparam(pthread_self(), &usual.policy, &usual.parameters)
    var first = sched_param(sched_priority: 1)
    guard pthread_setschedparam(pthread_self(), SCHED_FIFO, &first) == 0 else { return false }
    return pthread_setschedparam(pthread_self(), usual.policy, &usual.parameters) == 0
}()
