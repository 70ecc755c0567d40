// SPDX-License-Identifier: Apache-2.0
import Drivers
import Graph
import NodeKit
import TestSupport

@testable import Host

@Suite("Judging dropouts") struct DropoutJudgeTests {
    private static let block = 0.004

    private func part(_ nodes: [String], _ took: Double, usual: Double = 0.0001) -> CycleReport.Part {
        CycleReport.Part(nodes: nodes, took: took, average: usual, p99: usual * 2)
    }

    /// A cycle of 4 ms with these parts.
    private func cycle(
        _ parts: [CycleReport.Part], late: Double = 0, delay: Double = 0, skipped: Int = 0
    ) -> CycleReport {
        CycleReport(
            position: 48_000, frames: 192, started: 1_000_000, ended: 2_000_000,
            busy: parts.reduce(0) { $0 + $1.took }, period: Self.block, lateness: late, delay: delay, skipped: skipped,
            parts: parts, usual: parts.reduce(0) { $0 + $1.average })
    }

    private func judge(_ cycle: CycleReport?, _ change: (inout DropoutEvidence) -> Void = { _ in }) -> Dropout {
        var evidence = DropoutEvidence(cycle: cycle)
        change(&evidence)
        return DropoutJudge.judge(evidence)
    }

    @Test("A server that was late by less than a tenth of a block, while we were in time, is not worth a word")
    func trifle() {
        let calm = cycle([part(["a"], 0.0001)])
        func late(_ delay: Double) -> Dropout {
            judge(calm) {
                $0.driverDelay = delay
                $0.xruns = 1
            }
        }
        #expect(late(0.00001).cause == .server && late(0.00001).isTrifle)
        #expect(late(0.0005).cause == .server && !late(0.0005).isTrifle)
        #expect(!judge(cycle([part(["a"], 0.0001)], late: 0.0045, delay: 0.0001)).isTrifle)
        #expect(!judge(cycle([part(["b"], 0.006)])).isTrifle)
    }

    @Test("The node that took far longer than it usually does is named")
    func node() {
        let dropout = judge(cycle([part(["b"], 0.006), part(["a"], 0.001, usual: 0.001)])) { $0.xruns = 2 }
        #expect(dropout.cause == .node && dropout.nodes == ["b"])
        #expect(dropout.took == 0.006 && dropout.usual == 0.0002 && dropout.xruns == 2)
        #expect(dropout.position == 48_000)
        #expect(dropout.text == "node 'b' took 6.00 ms of a block of 4.00 ms, usually 0.20 ms")
    }

    @Test("A node that is always too slow is named, too, and one of several that are timed together says so")
    func alwaysSlow() {
        #expect(judge(cycle([part(["a"], 0.0001), part(["b"], 0.02, usual: 0.02)])).nodes == ["b"])
        let shared = judge(cycle([part(["a", "b"], 0.02)]))
        #expect(shared.cause == .node && shared.nodes == ["a", "b"])
        #expect(shared.text.hasPrefix("one of the nodes a, b took 20.0 ms"))
    }

    @Test("Many nodes that are too much together are the graph's fault")
    func graph() {
        let parts = (0..<10).map { part(["n\($0)"], 0.0005, usual: 0.00049) }
        let dropout = judge(cycle(parts))
        #expect(dropout.cause == .graph && abs(dropout.took - 0.005) < 1e-9)
        #expect(dropout.text.contains("most of it node 'n"))
    }

    @Test("What the thread waited for a processor is nobody's fault, unless it would have been too slow without that")
    func waiting() {
        let slow = cycle([part(["a"], 0.010)])
        #expect(judge(slow) { $0.waited = 0.007 }.cause == .scheduling)
        #expect(judge(slow) { $0.waited = 0.007 }.took == 0.007)
        #expect(judge(slow) { $0.waited = 0.005 }.cause == .node)
        let late = cycle([part(["a"], 0.0001)], late: 0.010)
        #expect(judge(late) { $0.waited = 0.006 }.cause == .scheduling)
        #expect(judge(late) { $0.waited = 0.004 }.cause != .scheduling)
        #expect(judge(late) { $0.stoodStill = 0.009 }.cause == .scheduling)
        #expect(judge(late) { $0.hasServer = false }.cause == .scheduling)
    }

    @Test("Called late: the program before us, when the server's cycle or its time went on; else the server")
    func calledLate() {
        #expect(judge(cycle([part(["a"], 0.001)], late: 0.1, delay: 0.099)).cause == .upstream)
        #expect(judge(cycle([part(["a"], 0.001)], late: 0.1, skipped: 4800)).cause == .upstream)
        #expect(judge(cycle([part(["a"], 0.001)], late: 0.1)).cause == .server)
        #expect(judge(cycle([part(["a"], 0.001)], late: 0.1, skipped: 4800)) { $0.driverDelay = 0.1 }.cause == .server)
        #expect(
            judge(cycle([part(["a"], 0.001)], late: 0.1, skipped: 4800)) { $0.driverDelay = 0.001 }.cause == .upstream)
        // Late and slow: the larger counts.
        #expect(judge(cycle([part(["a"], 0.2)], late: 0.1)).cause == .node)
        #expect(judge(cycle([part(["a"], 0.09)], late: 0.1, delay: 0.1)).cause == .upstream)
    }

    @Test("A report of the server about a cycle of ours that was in time is about others")
    func elsewhere() {
        let fine = cycle([part(["a"], 0.001)])
        #expect(judge(fine) { $0.xruns = 1 }.cause == .elsewhere)
        #expect(judge(fine) { ($0.xruns, $0.driverDelay) = (1, 0.002) }.cause == .server)
        #expect(judge(nil) { $0.xruns = 1 }.cause == .elsewhere)
        // Near enough to the end of the block to be the reason.
        #expect(judge(cycle([part(["a"], 0.0035)])) { $0.xruns = 1 }.nodes == ["a"])
        #expect(judge(cycle([part(["a"], 0.0005)], delay: 0.003)) { $0.xruns = 1 }.cause == .upstream)
    }

    @Test(
        "Where this graph hears no other program, none of them is blamed for a late call, and without any none at all")
    func alone() {
        for late in [
            cycle([part(["a"], 0.001)], late: 0.1, delay: 0.099), cycle([part(["a"], 0.001)], late: 0.1, skipped: 4800),
        ] {
            let dropout = judge(late) { $0.others.precede = false }
            #expect(dropout.cause == .server && !dropout.text.contains("upstream"))
            #expect(judge(late) { ($0.others.precede, $0.waited) = (false, 0.09) }.cause == .scheduling)
        }
        let fine = cycle([part(["a"], 0.001)])
        #expect(judge(fine) { ($0.xruns, $0.others.precede) = (1, false) }.cause == .elsewhere)
        let alone = judge(fine) { ($0.xruns, $0.others) = (1, OtherPrograms(exist: false, precede: false)) }
        #expect(alone.cause == .server)
        #expect(
            alone.text == "the server reports a dropout; this graph was done in time, and there is no other program")
    }

    @Test("A process that was stopped is told as that, however late or slow the cycle seems")
    func stopped() {
        for cycle in [cycle([part(["a"], 0.0001)], late: 12.3, skipped: 590_400), cycle([part(["a"], 12.3)]), nil] {
            let dropout = judge(cycle) { ($0.stopped, $0.xruns) = (12.3, 80) }
            #expect(dropout.cause == .stopped && dropout.took == 12.3 && dropout.nodes.isEmpty)
            #expect(dropout.text == "the program was stopped for 12.3 s")
        }
        #expect(judge(nil) { $0.stopped = 0.05 }.text == "the program was stopped for 50.0 ms")
    }

    @Test("Every cause has words, advice and fields for JSON", arguments: Dropout.Cause.allCases)
    func words(cause: Dropout.Cause) {
        let dropout = Dropout(
            cause: cause, nodes: ["a"], took: 0.012, usual: 0.001, period: 0.004, lateness: 0, busy: 0.001, waited: 0,
            position: 1, cycles: 3, xruns: 1)
        #expect(dropout.text.contains("12.0 ms") && !dropout.advice.isEmpty, "\(dropout.text)")
        #expect(dropout.fields["cause"] == .string(cause.rawValue) && dropout.fields["cycles"] == .integer(3))
    }
}
