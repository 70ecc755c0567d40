// SPDX-License-Identifier: Apache-2.0
import CNode
import NodeKit
import Realtime
import Synchronization
import System

/// Engines so far.
private let engineCount = Atomic<UInt64>(0)

/// The control side of the audio thread: gives it schedules and parameter changes, takes back what it is done with.
/// One owner calls it; the audio thread has its own view, `audio`.
public final class Engine: @unchecked Sendable {
    // Sendable: `lock` guards the control side; the audio side is reached through rings and atomics.

    /// What a driver calls.
    public let audio: AudioEngine

    private let lock: Lock<Owned>
    /// Under the lock, but for its count.
    private let monitor: CycleMonitor
    private let commands = Ring<ParameterCommand>(minimumCapacity: 4096)
    private let notices = NoticeQueue(capacity: 1024)
    private let retired = RetireQueue(capacity: 16)
    private let records = CycleRing()
    private let clock = TickClock()
    private let shared: UnsafeMutablePointer<SharedState>
    /// The audio thread's, once it runs.
    private let state: UnsafeMutablePointer<EngineState>
    private let sink: UnsafeMutablePointer<vg_notice_sink>

    private struct Owned {
        /// The schedule published last.
        var newest: Schedule?
        /// Kept alive until the audio thread gives them back, in the order in which they were published.
        var alive: [Schedule] = []
        /// Nodes of schedules that were replaced before the audio thread took them. It may still hold changes of their
        /// parameters, until it has taken a later schedule.
        var skipped: [(number: Int, nodes: [NodeInstance])] = []
        var published = 0
    }

    /// An engine that runs an empty schedule. [control]
    public init() {
        let empty = Schedule(Plan(), ResolvedGraph(), rate: 48_000, maxBlock: 16_384, handles: [])
        let capacity = 1024
        let waiting = 512
        monitor = CycleMonitor(records, clock)
        lock = Lock(Owned(newest: empty, alive: [empty]))
        shared = .allocate(capacity: 1)
        shared.initialize(to: SharedState())
        state = .allocate(capacity: 1)
        state.initialize(
            to: EngineState(
                shared: shared, current: empty.header, commands: commands.reader, notices: notices.writer,
                retirer: retired.retirer,
                active: .allocate(capacity: capacity), activeCapacity: capacity,
                later: .allocate(capacity: waiting), laterCapacity: waiting, cycle: .allocate(capacity: 1),
                records: CycleWriter(records), helperPool: HelperPool(),
                // Room for more changes than an engine sees in centuries.
                revision: engineCount.wrappingAdd(1, ordering: .relaxed).newValue << 40))
        state.pointee.cycle.initialize(to: vg_cycle())
        sink = .allocate(capacity: 1)
        sink.initialize(to: vg_notice_sink(handle: UnsafeMutableRawPointer(state), push: pushNotice))
        audio = AudioEngine(state: state)
    }

    deinit {
        state.pointee.helperPool.free()
        state.pointee.active.deallocate()
        state.pointee.later.deallocate()
        state.pointee.cycle.deallocate()
        state.deallocate()
        shared.deinitialize(count: 1)
        shared.deallocate()
        sink.deallocate()
    }

    /// Hands a schedule to the audio thread, which adopts it at its next cycle. A schedule that was published before
    /// and not yet adopted is dropped. [control]
    public func publish(_ schedule: Schedule) {
        lock.withLock { owned in
            collect(&owned)
            var seen = Set(schedule.nodes.map(ObjectIdentifier.init))
            var gone: [RampRange] = []
            for node in owned.alive.flatMap(\.nodes) + owned.skipped.flatMap(\.nodes)
            where seen.insert(ObjectIdentifier(node)).inserted && !node.parameters.isEmpty {
                gone.append(RampRange(start: node.ramps, count: node.parameters.count))
            }
            schedule.forget(gone.sorted { $0.start < $1.start })
            schedule.setNotes(UnsafePointer(sink))
            owned.published += 1
            schedule.number = owned.published
            schedule.header.pointee.number = UInt32(truncatingIfNeeded: schedule.number)
            let rate = clock.rate
            schedule.header.pointee.ticksPerFrame = rate / schedule.rate
            schedule.header.pointee.leastShared = rate * Schedule.leastShared
            state.pointee.helperPool.setPatience(ticks: UInt64(rate * Schedule.patience))
            owned.alive.append(schedule)
            owned.newest = schedule
            let skipped = shared.pointee.pending.exchange(
                UInt(bitPattern: schedule.header), ordering: .acquiringAndReleasing)
            if let index = owned.alive.firstIndex(where: { UInt(bitPattern: $0.header) == skipped }) {
                let schedule = owned.alive.remove(at: index)
                owned.skipped.append((schedule.number, schedule.nodes))
            }
        }
    }

    /// Turns a parameter; the value is clamped to the parameter's range. The change takes about 10 ms, or no time where
    /// the parameter or `atOnce` says so; a trigger holds it for one block. It begins at the frame `position` of the graph, or with the next block if that
    /// is over. Where the parameter is still moving then, it begins with the block after; 512 changes can wait, and what
    /// is more begins early and is counted. False: the queue is full, nothing changes. [control]
    public func set(
        _ node: NodeInstance, parameter index: Int, to value: Float, atOnce: Bool = false, at position: UInt64 = 0
    ) -> Bool {
        guard node.parameters.indices.contains(index), !value.isNaN else { return false }
        let parameter = node.parameters[index]
        let target = min(max(value, parameter.range.lowerBound), parameter.range.upperBound)
        return lock.withLock { owned in
            guard let newest = owned.newest, newest.nodes.contains(where: { $0 === node }) else { return false }
            let done = commands.writer.push(
                ParameterCommand(
                    ramp: node.ramps + index, value: target,
                    frames: parameter.isTrigger
                        ? ParameterCommand.fires : parameter.isAbrupt || atOnce ? 0 : UInt32(newest.rate / 100),
                    position: position))
            if done { node.keep(index, target) }
            return done
        }
    }

    /// Frees what the audio thread is done with; call it now and then. [control]
    public func collect() { lock.withLock { collect(&$0) } }

    /// Schedules that are alive: one, after a while without edits. [control]
    public var liveSchedules: Int { lock.withLock { $0.alive.count } }

    /// When the audio thread adopted a schedule of this number or a later one, by the counter; nil: not yet. Ask before
    /// the next one is published. [any]
    public func adoption(of number: Int) -> UInt64? {
        let adopted = shared.pointee.adopted.load(ordering: .acquiring)
        return Int(adopted) >= number ? shared.pointee.adoptedAt.load(ordering: .relaxed) : nil
    }

    /// Threads that schedules that are alive can use, with the audio thread. [control]
    public var threads: Int { lock.withLock { $0.alive.reduce(1) { max($0, $1.threads) } } }

    /// The schedule published last. [control]
    public var schedule: Schedule? { lock.withLock { $0.newest } }

    /// How long the nodes of the newest schedule took per block, in the order of the file, without those that have not
    /// run. [control]
    public var timings: [NodeTiming] {
        lock.withLock { owned in
            collect(&owned)
            let secondsPerTick = 1 / clock.rate
            return owned.newest?.nodes.compactMap { $0.timing(secondsPerTick: secondsPerTick) } ?? []
        }
    }

    /// What nodes took per block on average, in seconds, those that were measured; by their numbers. [control]
    public var costs: [UInt32: Double] {
        lock.withLock { owned in
            collect(&owned)
            let secondsPerTick = 1 / clock.rate
            var costs: [UInt32: Double] = [:]
            for node in owned.newest?.nodes ?? [] {
                if let timing = node.timing(secondsPerTick: secondsPerTick) { costs[node.number] = timing.average }
            }
            return costs
        }
    }

    /// Takes the cycles that came late or took too long since the last call, oldest first; what is more than 256 is
    /// counted in `counters`. None in an offline run. [control]
    public func takeLateCycles() -> [CycleReport] {
        lock.withLock { owned in
            collect(&owned)
            return monitor.takeLate()
        }
    }

    /// Of the last 32 to 64 cycles the one that was done latest in its period, and when the newest one ended, in ticks;
    /// as of the last `collect`. [control]
    public var recentCycles: (slowest: CycleReport?, ended: UInt64) {
        lock.withLock { _ in (monitor.slowest, monitor.newestEnd) }
    }

    /// Looks for the first cycle that has all that the audio thread was given until now: one that runs may not have.
    /// [control]
    public func awaitCycle() { lock.withLock { _ in monitor.awaitCycle(behind: counters.position) } }

    /// When that began, in ticks, as of the last `collect`; nil: not yet. [control]
    public var awaitedCycle: UInt64? { lock.withLock { _ in monitor.awaitedStart } }

    /// The oldest notice of a processor, if there is one. [control]
    public func nextNotice() -> vg_notice? { notices.pop() }

    /// What was counted so far. [any]
    public var counters: EngineCounters {
        EngineCounters(
            position: shared.pointee.position.load(ordering: .relaxed),
            cycles: shared.pointee.cycles.load(ordering: .acquiring),
            oversizedBlocks: shared.pointee.oversized.load(ordering: .relaxed),
            earlyChanges: shared.pointee.early.load(ordering: .relaxed),
            busyTicks: shared.pointee.busyTicks.load(ordering: .relaxed),
            longestTicks: shared.pointee.longestTicks.load(ordering: .relaxed),
            lostNotes: shared.pointee.lostNotes.load(ordering: .relaxed),
            lostMIDI: shared.pointee.lostMIDI.load(ordering: .relaxed),
            lostRecords: shared.pointee.lostRecords.load(ordering: .relaxed)
                + UInt64(monitor.unkept.load(ordering: .relaxed)))
    }

    private func collect(_ owned: inout Owned) {
        var done: Set<UnsafeMutableRawPointer> = []
        retired.drain { done.insert($0) }
        // All records of what was given back have come before it.
        monitor.drain(owned.alive)
        if !done.isEmpty { owned.alive.removeAll { done.contains(Unmanaged.passUnretained($0).toOpaque()) } }
        // What came before the oldest has been given back, so the audio thread has taken the oldest.
        if let taken = owned.alive.first?.number { owned.skipped.removeAll { $0.number < taken } }
    }
}

/// What an engine has counted.
public struct EngineCounters: Sendable, Equatable {
    /// Frames since the start.
    public var position: UInt64
    /// Blocks since the start.
    public var cycles: UInt64
    /// Blocks longer than the schedule was made for, played as silence.
    public var oversizedBlocks: UInt64
    /// Changes of parameters that began before their frame, because too many waited already.
    public var earlyChanges: UInt64
    /// Time spent in the schedule, in ticks (see `TickClock`).
    public var busyTicks: UInt64
    /// Longest block, in ticks.
    public var longestTicks: UInt64
    /// Notes that found the ring full.
    public var lostNotes: UInt64
    /// MIDI events that found their block's buffer full.
    public var lostMIDI: UInt64
    /// Cycles of which nothing is known, because the control side did not keep up.
    public var lostRecords: UInt64
}

@_noLocks
private func pushNotice(_ handle: UnsafeMutableRawPointer?, _ notice: UnsafePointer<vg_notice>?) -> Bool {
    guard let handle, let notice else { return false }
    let state = handle.assumingMemoryBound(to: EngineState.self)
    if state.pointee.notices.put(notice.pointee) { return true }
    state.pointee.shared.pointee.lostNotes.add(1, ordering: .relaxed)
    return false
}

extension RingReader<ParameterCommand> {
    @_noLocks
    func next() -> ParameterCommand? { pop() }
}
