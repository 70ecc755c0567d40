// SPDX-License-Identifier: Apache-2.0
import Realtime
import Synchronization

/// The control side of the records: counts what every node takes, and keeps the cycles that were late. The engine's,
/// under its lock.
final class CycleMonitor {
    /// Late cycles that nobody took yet, oldest first.
    private(set) var late: [CycleReport] = []
    /// Late cycles beyond those.
    let unkept = Atomic(0)
    /// When the newest cycle ended, in ticks.
    private(set) var newestEnd: UInt64 = 0

    /// When the first cycle of `awaitCycle` began, in ticks; nil: not yet.
    private(set) var awaitedStart: UInt64?

    private let ring: CycleRing
    private let clock: TickClock
    private var lines: [CycleLine] = []
    private var ticks: [UInt32] = []
    private var views: [Int: View] = [:]
    /// The slowest cycle of the last 32 to 64.
    private var slow: (before: CycleReport?, now: CycleReport?) = (nil, nil)
    private var seen = 0
    private var awaited: UInt64?
    private var secondsPerTick = 0.0
    /// When the times of nodes began to be counted for the window that is open, in ticks.
    private var windowStart: UInt64 = 0

    /// How long a window of recent times is, in seconds; two are looked at.
    static let window = 0.5

    /// Late cycles kept at most, until they are taken.
    static let kept = 256

    /// What the parts of a schedule are, and where their times are counted.
    private struct View {
        var segments: [(part: Segment, statistics: TimeStatistics)]
        var steps: [TimeStatistics?]
        var names: [String?]

        /// A new window of time begins.
        func roll() {
            for segment in segments { segment.statistics.roll() }
            for step in steps { step?.roll() }
        }
    }

    init(_ ring: CycleRing, _ clock: TickClock) {
        self.ring = ring
        self.clock = clock
    }

    /// Takes all records that wait now, but none that come meanwhile: an audio thread that never rests may make them
    /// as fast. `schedules` are those that may have made them. [control]
    func drain(_ schedules: [Schedule]) {
        var waiting = ring.waiting
        if waiting > 0 { secondsPerTick = 1 / clock.rate }
        while waiting > 0, ring.next(&lines) {
            waiting -= lines.count
            let record = lines.withUnsafeBytes { $0.load(as: CycleRecord.self) }
            newestEnd = record.started &+ record.busy
            if let frame = awaited, record.position > frame { (awaited, awaitedStart) = (nil, record.started) }
            guard let view = view(Int(record.schedule), schedules) else { continue }
            if Double(record.started &- windowStart) * secondsPerTick > Self.window {
                windowStart = record.started
                view.roll()
            }
            readTicks(record)
            take(record, ticks[...], view)
        }
        views = views.filter { number, _ in schedules.contains { $0.number == number } }
    }

    /// From now on looks for the first cycle that begins behind a frame. [control]
    func awaitCycle(behind frame: UInt64) { (awaited, awaitedStart) = (frame, nil) }

    /// Takes the late cycles, oldest first. [control]
    func takeLate() -> [CycleReport] {
        defer { late = [] }
        return late
    }

    /// The cycle that ended latest in its period, of those of late. [control]
    var slowest: CycleReport? {
        [slow.before, slow.now].compactMap { $0 }.max { $0.finish < $1.finish }
    }

    /// How long each part took, which mostly follows from when each ended.
    private func readTicks(_ record: CycleRecord) {
        ticks.removeAll(keepingCapacity: true)
        var before = record.started
        lines.withUnsafeBytes { bytes in
            let stamps = bytes[MemoryLayout<CycleLine>.size...].bindMemory(to: UInt64.self)
            for stamp in stamps.prefix(Int(record.stamps)) {
                if record.flags & CycleRecord.lengths != 0 { before = 0 }
                ticks.append(UInt32(clamping: stamp &- before))
                before = stamp
            }
        }
    }

    private func take(_ record: CycleRecord, _ ticks: ArraySlice<UInt32>, _ view: View) {
        let detailed = record.flags & CycleRecord.detailed != 0
        if record.flags & CycleRecord.offline == 0 {
            seen += 1
            if seen % 32 == 0 { slow = (slow.now, nil) }
            let finish = record.period == 0 ? 0 : finish(record)
            let isSlowest = finish > slow.now?.finish ?? 0
            let keeps = record.isLate && late.count < Self.kept
            if record.isLate, !keeps { unkept.add(1, ordering: .relaxed) }
            if isSlowest || keeps {
                let report = report(record, ticks, view)
                if isSlowest { slow.now = report }
                if keeps { late.append(report) }
            }
        }
        guard detailed else {
            for index in 0..<min(view.segments.count, ticks.count) { view.segments[index].statistics.add(ticks[index]) }
            return
        }
        for index in 0..<min(view.steps.count, ticks.count) { view.steps[index]?.add(ticks[index]) }
        for segment in view.segments {
            if segment.part.node != nil, segment.part.steps.upperBound <= ticks.count {
                // Single steps of others are too short to be measured beside the clock.
                segment.statistics.add(
                    UInt32(clamping: ticks[segment.part.steps].reduce(UInt64(0)) { $0 + UInt64($1) }))
            }
        }
    }

    private func finish(_ record: CycleRecord) -> Double {
        (Double(record.delay) * 1e-6 + Double(record.busy) * secondsPerTick) / (Double(record.period) * secondsPerTick)
    }

    private func report(
        _ record: CycleRecord, _ ticks: ArraySlice<UInt32>, _ view: View
    ) -> CycleReport {
        var parts: [(segment: Segment, ticks: UInt32, statistics: TimeStatistics?)] = []
        for segment in view.segments {
            if record.flags & CycleRecord.detailed == 0 {
                if parts.count < ticks.count { parts.append((segment.part, ticks[parts.count], segment.statistics)) }
            } else {
                for step in segment.part.steps where step < ticks.count {
                    let single = Segment(steps: step..<step + 1, node: segment.part.node)
                    let statistics = segment.part.node == nil ? view.steps[step] : segment.statistics
                    parts.append((single, ticks[step], statistics))
                }
            }
        }
        let usual = view.segments.reduce(0) { $0 + $1.statistics.average } * secondsPerTick
        func excess(_ index: Int) -> Double { Double(parts[index].ticks) - (parts[index].statistics?.average ?? 0) }
        let order = parts.indices.sorted { excess($0) > excess($1) }.prefix(4)
        let longest = parts.indices.sorted { parts[$0].ticks > parts[$1].ticks }.prefix(4)
        let chosen = order + longest.filter { !order.contains($0) }
        return CycleReport(
            position: record.position, frames: Int(record.frames), started: record.started,
            ended: record.started &+ record.busy, busy: Double(record.busy) * secondsPerTick,
            period: Double(record.period) * secondsPerTick, lateness: Double(record.lateness) * secondsPerTick,
            delay: Double(record.delay) * 1e-6, skipped: Int(record.skipped),
            parts: chosen.map { index in
                let (segment, ticks, statistics) = parts[index]
                return CycleReport.Part(
                    nodes: segment.steps.compactMap { view.names[$0] }, took: Double(ticks) * secondsPerTick,
                    average: (statistics?.average ?? 0) * secondsPerTick,
                    p99: (statistics?.quantile(0.99) ?? 0) * secondsPerTick)
            }, usual: usual)
    }

    private func view(_ number: Int, _ schedules: [Schedule]) -> View? {
        if let known = views[number] { return known }
        guard let schedule = schedules.first(where: { $0.number == number }) else { return nil }
        func statistics(_ step: Int) -> TimeStatistics? {
            schedule.roles[step].map { role in
                let node = schedule.nodes[role.node]
                return role.absorbs ? node.absorbTimes : node.times
            }
        }
        let alone = Set(schedule.segments.compactMap(\.node))
        let made = View(
            segments: schedule.segments.map { segment in
                let own = segment.node == nil ? nil : segment.steps.lazy.compactMap(statistics).first
                return (segment, own ?? TimeStatistics())
            },
            steps: schedule.roles.indices.map { step in
                schedule.roles[step].flatMap { alone.contains($0.node) ? nil : statistics(step) }
            },
            names: schedule.roles.map { role in role.map { schedule.nodes[$0.node].name } })
        views[number] = made
        return made
    }
}

extension NodeInstance {
    /// What it took, if it ran. Under the engine's lock. [control]
    func timing(secondsPerTick: Double) -> NodeTiming? {
        let parts = [times, absorbTimes].filter { $0.count > 0 }
        guard let first = parts.first else { return nil }
        func sum(_ value: (TimeStatistics) -> Double) -> Double { parts.reduce(0) { $0 + value($1) } * secondsPerTick }
        return NodeTiming(
            node: name, count: first.count, minimum: sum { Double($0.minimum) }, average: sum(\.average),
            p99: sum { $0.quantile(0.99) }, maximum: sum { Double($0.maximum) }, recent: sum(\.recent.average),
            recentMaximum: sum(\.recent.maximum))
    }
}
