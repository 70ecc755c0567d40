// SPDX-License-Identifier: Apache-2.0
import Drivers
import Graph
import Realtime
import System

/// Collects what tells of dropouts: late cycles from the engine, reports of the driver, and how long the audio thread
/// waited for a processor. Judges them a tenth of a second later, when all of it is there, and makes one of those that
/// have one cause.
final class DropoutWatch: Sendable {
    /// One dropout with what the driver said of it, in the order in which it spoke.
    struct Verdict {
        var dropout: Dropout
        /// Of each report of the driver: seconds by which it was late itself.
        var delays: [Double]
    }

    /// What is known of cycles and stops when it is looked at.
    struct Seen {
        /// Those that were late since it was looked at before.
        var late: [CycleReport] = []
        /// The slowest of the last ones, and when the last one ended, in ticks.
        var recent: (slowest: CycleReport?, ended: UInt64) = (nil, .max)
        var stops: [ProcessStops.Stop] = []
        /// In ticks; nil: nobody looks for stops.
        var stopsKnownUntil: UInt64?
    }

    private struct Xrun {
        var ticks: UInt64
        var delay: Double
    }

    private struct Sample {
        var ticks: UInt64
        var waited: Double
        /// Seconds after which the next is to be taken.
        var period = 0.0
    }

    private struct State {
        var late: [CycleReport] = []
        var xruns: [Xrun] = []
        /// Reports beyond those.
        var flood = 0
        var samples: [Sample] = []
        var thread: ThreadWatch?
        /// When the oldest of what waits to be judged came, in ticks.
        var since: UInt64?
        var recent: [Dropout] = []
        var counts: [Dropout.Cause: Int] = [:]
        /// Reports that were judged, but for those of a time when the process was stopped.
        var reported = 0
        /// The end, in ticks, of the last stop that was told.
        var toldStop: UInt64 = 0
    }

    /// Dropouts that are kept to be asked for.
    static let kept = 100

    /// Knows when the process was stopped.
    let stops = ProcessStops()
    private let state = Lock(State())
    private let clock: TickClock
    /// Seconds until what was seen is judged, and at most, while the audio thread works on.
    private let (patience, limit) = (0.1, 5.0)

    init(_ clock: TickClock) { self.clock = clock }

    /// The next `check` comes after so many seconds, if nothing holds it up. [control]
    func isLookedAt(in seconds: Double) {
        state.withLock { state in
            guard let last = state.samples.indices.last else { return }
            state.samples[last].period = seconds
        }
    }

    /// The driver reports a dropout; `delay` in seconds. [any]
    func report(delay: Double) {
        let now = vg_ticks()
        state.withLock { state in
            // A flood is told by its number, and judged by its first.
            if state.xruns.count < 1000 {
                state.xruns.append(Xrun(ticks: now, delay: delay))
            } else {
                state.flood += 1
            }
            state.since = state.since ?? now
        }
    }

    /// Dropouts of late, oldest first. [any]
    var recent: [Dropout] { state.withLock { $0.recent } }

    /// How many cycles were late, by cause. [any]
    var counts: [Dropout.Cause: Int] { state.withLock { $0.counts } }

    /// Reports of the driver so far that tell of dropouts: not those of a time when the process was stopped, which is one,
    /// and those of the last tenth of a second only when they are judged. [any]
    var xruns: Int { state.withLock { $0.reported } }

    /// Takes what the engine knows; returns what can be judged now, with `all` everything. [control]
    func check(
        _ engine: Engine, thread: Int32, hasServer: Bool, others: OtherPrograms, all: Bool = false
    ) -> [Verdict] {
        var seen = Seen(late: engine.takeLateCycles())
        // Mostly there is nothing to judge.
        if all || !seen.late.isEmpty || state.withLock({ $0.since != nil }) {
            seen.recent = engine.recentCycles
            (seen.stops, seen.stopsKnownUntil) = stops.known
        }
        return check(seen, thread: thread, hasServer: hasServer, others: others, all: all)
    }

    /// The same of what is given.
    func check(
        _ seen: Seen, thread: Int32, hasServer: Bool, others: OtherPrograms, all: Bool = false
    ) -> [Verdict] {
        let now = vg_ticks()
        return state.withLock { state in
            sample(&state, thread, now)
            state.late += seen.late
            if !seen.late.isEmpty { state.since = state.since ?? now }
            guard let since = state.since else { return [] }
            let ticksPerSecond = clock.rate
            let age = Double(now &- since) / ticksPerSecond
            // A cycle that still runs may be the one that was reported.
            let isOpen = state.xruns.contains { $0.ticks > seen.recent.ended }
            // Nor is it known at once whether the process was stopped.
            let newest = max(state.late.last?.ended ?? 0, state.xruns.last?.ticks ?? 0)
            let isUnclear = seen.stopsKnownUntil.map { $0 < newest } ?? false
            guard all || age >= limit || (age >= patience && !isOpen && !isUnclear) else { return [] }
            state.since = nil
            // The cycle of a stop is told as that, whatever is reported after it.
            let slowest = seen.recent.slowest.flatMap { cycle in
                seen.stops.contains { $0.excuses(cycle, ticksPerSecond) } ? nil : cycle
            }
            let verdicts =
                takeStopped(&state, seen.stops, ticksPerSecond)
                + judge(&state, slowest, ticksPerSecond, hasServer, others).filter { !$0.dropout.isTrifle }
            for verdict in verdicts {
                state.counts[verdict.dropout.cause, default: 0] += verdict.dropout.cycles
                state.recent.append(verdict.dropout)
            }
            state.recent.removeFirst(max(0, state.recent.count - Self.kept))
            return verdicts
        }
    }

    /// Takes out what happened because the process was stopped, and gives one dropout for each stop that was not told yet.
    private func takeStopped(
        _ state: inout State, _ stops: [ProcessStops.Stop], _ ticksPerSecond: Double
    ) -> [Verdict] {
        stops.compactMap { stop in
            // What the server reported meanwhile comes soon after.
            let end = stop.to &+ UInt64(0.5 * ticksPerSecond)
            func isExcused(_ xrun: Xrun) -> Bool { xrun.ticks >= stop.from && xrun.ticks <= end }
            func isExcused(_ cycle: CycleReport) -> Bool { stop.excuses(cycle, ticksPerSecond) }
            let cycles = state.late.filter(isExcused)
            let reports = state.xruns.count(where: isExcused)
            guard !cycles.isEmpty || reports > 0 else { return nil }
            state.late.removeAll(where: isExcused)
            state.xruns.removeAll(where: isExcused)
            if reports > 0 { state.flood = 0 }
            guard stop.to > state.toldStop else { return nil }
            state.toldStop = stop.to
            func length(_ cycle: CycleReport) -> Double { max(cycle.lateness, cycle.delay, cycle.busy) }
            let worst = cycles.max { length($0) < length($1) }
            let seconds = worst.map(length) ?? Double(stop.to &- stop.from) / ticksPerSecond
            var dropout = DropoutJudge.judge(DropoutEvidence(cycle: worst, stopped: seconds))
            dropout.cycles = max(1, cycles.count)
            return Verdict(dropout: dropout, delays: [])
        }
    }

    private func judge(
        _ state: inout State, _ slowest: CycleReport?, _ ticksPerSecond: Double, _ hasServer: Bool,
        _ others: OtherPrograms
    ) -> [Verdict] {
        defer {
            state.reported += state.xruns.count + state.flood
            state.late = []
            state.xruns = []
            state.flood = 0
        }
        var verdicts: [Verdict] = []
        func add(_ dropout: Dropout, _ delays: [Double]) {
            let known = verdicts.firstIndex { $0.dropout.cause == dropout.cause && $0.dropout.nodes == dropout.nodes }
            guard let known else { return verdicts.append(Verdict(dropout: dropout, delays: delays)) }
            var worst = verdicts[known].dropout.took >= dropout.took ? verdicts[known].dropout : dropout
            worst.cycles = verdicts[known].dropout.cycles + dropout.cycles
            worst.xruns = verdicts[known].dropout.xruns + dropout.xruns
            verdicts[known].dropout = worst
            verdicts[known].delays += delays
        }
        var open = state.xruns
        for cycle in state.late {
            // Reported while it was awaited or ran, or soon after.
            let from = cycle.started &- min(cycle.started, UInt64((cycle.lateness + 2 * cycle.period) * ticksPerSecond))
            let to = cycle.ended &+ UInt64((2 * cycle.period + 0.05) * ticksPerSecond)
            let own = open.filter { $0.ticks >= from && $0.ticks <= to }
            open.removeAll { $0.ticks >= from && $0.ticks <= to }
            let found = evidence(state, cycle, own, ticksPerSecond, hasServer, others)
            add(DropoutJudge.judge(found), own.map(\.delay))
        }
        if !open.isEmpty {
            let cycle = slowest.flatMap { slowest in
                Double(open[0].ticks &- min(open[0].ticks, slowest.ended)) / ticksPerSecond < 0.5 ? slowest : nil
            }
            var dropout = DropoutJudge.judge(evidence(state, cycle, open, ticksPerSecond, hasServer, others))
            dropout.cycles = open.count
            add(dropout, open.map(\.delay))
        }
        return verdicts
    }

    private func evidence(
        _ state: State, _ cycle: CycleReport?, _ xruns: [Xrun], _ ticksPerSecond: Double, _ hasServer: Bool,
        _ others: OtherPrograms
    ) -> DropoutEvidence {
        var evidence = DropoutEvidence(
            cycle: cycle, xruns: xruns.count, driverDelay: xruns.map(\.delay).max() ?? 0, hasServer: hasServer,
            others: others)
        guard let cycle else { return evidence }
        let from = cycle.started &- min(cycle.started, UInt64(max(cycle.lateness, cycle.delay) * ticksPerSecond))
        let before = state.samples.lastIndex { $0.ticks <= from } ?? 0
        let after = state.samples.firstIndex { $0.ticks >= cycle.ended } ?? state.samples.count - 1
        guard before < after else { return evidence }
        evidence.waited = max(0, state.samples[after].waited - state.samples[before].waited)
        for index in before..<after {
            let (sample, next) = (state.samples[index], state.samples[index + 1])
            let start = max(sample.ticks, from)
            let end = min(next.ticks, cycle.started)
            let due = sample.ticks &+ UInt64(sample.period * ticksPerSecond)
            // A sample in time tells nothing of what was between, but one that came late by a part of it does.
            guard end > start, next.ticks > due, next.ticks &- due >= (end &- start) / 4 else { continue }
            let still = Double(end &- start) / ticksPerSecond
            evidence.stoodStill = max(evidence.stoodStill, still)
        }
        return evidence
    }

    private func sample(_ state: inout State, _ thread: Int32, _ now: UInt64) {
        if state.thread?.thread != thread {
            state.thread = ThreadWatch(thread: thread)
            state.samples = []
        }
        guard let waited = state.thread?.times?.waited else { return }
        state.samples.append(Sample(ticks: now, waited: waited))
        // Some seconds of them.
        if state.samples.count > 2048 { state.samples.removeFirst(1024) }
    }
}

extension ProcessStops.Stop {
    /// Whether a cycle was late while the process was stopped.
    fileprivate func excuses(_ cycle: CycleReport, _ ticksPerSecond: Double) -> Bool {
        let span = UInt64(max(cycle.lateness, cycle.delay) * ticksPerSecond)
        return cycle.ended >= from && cycle.started &- min(cycle.started, span) <= to
    }
}
