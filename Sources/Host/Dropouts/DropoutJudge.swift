// SPDX-License-Identifier: Apache-2.0
import Drivers
import Graph

/// What is known of one dropout.
struct DropoutEvidence {
    /// The cycle: late, or, where no cycle of ours was late, the slowest of those around.
    var cycle: CycleReport?
    /// Dropouts that the driver reported.
    var xruns = 0
    /// Seconds by which the driver says that it was late itself.
    var driverDelay = 0.0
    /// Seconds for which the audio thread waited for a processor from when the cycle should have begun to its end.
    var waited = 0.0
    /// Seconds of that time in which the control side did not run either.
    var stoodStill = 0.0
    /// Whether there is a server that calls us, and others with us.
    var hasServer = true
    /// What other programs there are at the server.
    var others = OtherPrograms()
    /// Seconds for which the whole process was stopped, if that is what happened.
    var stopped = 0.0
}

/// Finds whose fault a dropout was.
enum DropoutJudge {
    /// The judgement. What a thread had to wait for a processor is nobody's fault but the scheduler's; what is left
    /// after that decides.
    static func judge(_ evidence: DropoutEvidence) -> Dropout {
        if evidence.stopped > 0 { return made(.stopped, evidence, took: evidence.stopped) }
        guard let cycle = evidence.cycle, cycle.period > 0 else { return unseen(evidence) }
        if cycle.isCalledLate, cycle.lateness >= cycle.busy { return calledLate(evidence, cycle) }
        if cycle.isOverrun { return tooSlow(evidence, cycle) }
        // In time, but by so little that with what the server does around us it was too much.
        guard cycle.finish > 0.7 else { return unseen(evidence) }
        return cycle.delay > cycle.busy ? calledLate(evidence, cycle) : tooSlow(evidence, cycle)
    }

    private static func tooSlow(_ evidence: DropoutEvidence, _ cycle: CycleReport) -> Dropout {
        let own = cycle.busy - evidence.waited
        let limit = cycle.isOverrun ? cycle.period : 0.7 * cycle.period
        // Without the waiting it would have been in time.
        if evidence.waited > 0, own <= limit { return made(.scheduling, evidence, took: evidence.waited) }
        let excess = cycle.busy - cycle.usual
        if let part = cycle.parts.first, part.excess >= 0.5 * excess, part.excess > 0.1 * cycle.period {
            return made(.node, evidence, took: part.took, usual: part.p99, nodes: part.nodes)
        }
        // One that is always too slow has no excess.
        let longest = cycle.parts.max { $0.took < $1.took }
        if let longest, longest.took >= 0.5 * cycle.busy, !longest.nodes.isEmpty {
            return made(.node, evidence, took: longest.took, usual: longest.p99, nodes: longest.nodes)
        }
        return made(
            .graph, evidence, took: cycle.busy, usual: cycle.usual, nodes: Array(longest?.nodes.prefix(1) ?? []))
    }

    private static func calledLate(_ evidence: DropoutEvidence, _ cycle: CycleReport) -> Dropout {
        let late = max(cycle.lateness, cycle.delay)
        if !evidence.hasServer || evidence.waited >= 0.5 * late {
            return made(.scheduling, evidence, took: evidence.hasServer ? evidence.waited : late)
        }
        if evidence.stoodStill >= 0.8 * late { return made(.scheduling, evidence, took: evidence.stoodStill) }
        // The server's cycle began in time, or its time went on while we were not called, and not because it slept.
        let slept = evidence.driverDelay >= 0.5 * late
        let serverRan = cycle.delay >= 0.5 * late || (cycle.skipped >= cycle.frames && !slept)
        // Where we hear nobody, nobody comes before us.
        return made(serverRan && evidence.others.precede ? .upstream : .server, evidence, took: late)
    }

    private static func unseen(_ evidence: DropoutEvidence) -> Dropout {
        if evidence.driverDelay > 0 { return made(.server, evidence, took: evidence.driverDelay) }
        guard evidence.hasServer else { return made(.scheduling, evidence, took: evidence.waited) }
        guard evidence.others.exist else { return made(.server, evidence, took: 0) }
        return made(.elsewhere, evidence, took: evidence.cycle.map { $0.delay + $0.busy } ?? 0)
    }

    private static func made(
        _ cause: Dropout.Cause, _ evidence: DropoutEvidence, took: Double, usual: Double = 0, nodes: [String] = []
    ) -> Dropout {
        let cycle = evidence.cycle
        return Dropout(
            cause: cause, nodes: nodes, took: took, usual: usual, period: cycle?.period ?? 0,
            lateness: max(cycle?.lateness ?? 0, cycle?.delay ?? 0), busy: cycle?.busy ?? 0, waited: evidence.waited,
            position: cycle?.position ?? 0, cycles: 1, xruns: evidence.xruns)
    }
}
