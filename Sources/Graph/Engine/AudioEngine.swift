// SPDX-License-Identifier: Apache-2.0
import CNode
import NodeKit
import Realtime
import Synchronization

/// A change of one parameter on its way to the audio thread.
struct ParameterCommand: BitwiseCopyable {
    var ramp: UnsafeMutablePointer<vg_ramp>
    var value: Float
    /// How long the change takes; 0: at once; `fires`: it is a trigger, and holds the value for one block.
    var frames: UInt32
    static var fires: UInt32 { @_noLocks get { .max } }
    /// The frame of the graph at which it begins; 0, or over: with the next block.
    var position: UInt64
}

/// What both sides reach, and nothing else: where the audio thread has something of its own beside it, changing that
/// would count as changing all of it.
struct SharedState: ~Copyable {
    /// The schedule to adopt at the next cycle; 0: none.
    let pending = Atomic<UInt>(0)
    /// The number of the schedule that was adopted last, and when, by the counter.
    let adopted = Atomic<UInt32>(0)
    let adoptedAt = Atomic<UInt64>(0)
    let position = Atomic<UInt64>(0)
    let cycles = Atomic<UInt64>(0)
    let oversized = Atomic<UInt64>(0)
    /// Changes of parameters that found no room to wait.
    let early = Atomic<UInt64>(0)
    let busyTicks = Atomic<UInt64>(0)
    let longestTicks = Atomic<UInt64>(0)
    let lostNotes = Atomic<UInt64>(0)
    let lostMIDI = Atomic<UInt64>(0)
    /// Cycles whose record found no room.
    let lostRecords = Atomic<UInt64>(0)
}

/// All that the audio thread owns, but for `notes`, to which its helpers write too, in memory that never moves.
struct EngineState: BitwiseCopyable {
    let shared: UnsafeMutablePointer<SharedState>
    var current: UnsafeMutablePointer<ScheduleHeader>
    var commands: RingReader<ParameterCommand>
    let notices: NoticeWriter
    var retirer: Retirer
    /// Parameters on the way to their target.
    var active: UnsafeMutablePointer<UnsafeMutablePointer<vg_ramp>>
    var activeCount = 0
    var activeCapacity: Int
    /// Changes of parameters that begin later, in order of their positions.
    var later: UnsafeMutablePointer<ParameterCommand>
    var laterCount = 0
    var laterCapacity: Int
    let cycle: UnsafeMutablePointer<vg_cycle>
    var records: CycleWriter
    let helperPool: HelperPool
    /// Cycles until single steps are timed again.
    var untilDetails = 0
    /// When the next cycle should begin, by the counter; 0: not known.
    var due: UInt64 = 0
    /// The driver's clock after the cycle before.
    var nextClock: UInt64 = 0
    /// See `vg_cycle`; never the same in two engines.
    var revision: UInt64
}

/// What a cycle leaves in its record.
struct Timed: BitwiseCopyable {
    /// Looks at the clock.
    var stamps: Int
    /// Whether they are those of steps.
    var detailed: Bool
    /// Whether helpers took part.
    var shared: Bool
    /// Whether it is not when each part ended that was kept, but how long it took: parts ran beside each other, or in turn.
    var hasLengths: Bool

    @_noLocks
    init(stamps: Int, detailed: Bool, shared: Bool = false, hasLengths: Bool = false) {
        self.stamps = stamps
        self.detailed = detailed
        self.shared = shared
        self.hasLengths = hasLengths
    }
}

/// What a driver calls on the audio thread: `begin`, then `bind` for each of the schedule's ports, then `run`. Plain
/// data; the `Engine` it came from must outlive it.
public struct AudioEngine: BitwiseCopyable, @unchecked Sendable {
    // Sendable: one thread at a time, the audio thread, calls it.
    let state: UnsafeMutablePointer<EngineState>

    /// Adopts a new schedule, if one waits, and takes changes of parameters. [audio]
    @_noLocks
    public func begin() -> ActiveSchedule {
        // The pending schedule is taken before the commands are read: commands for nodes that it no longer has were
        // sent before it was published, so they are all seen here, while those nodes are still alive.
        var adopted: UInt = 0
        // Looked at before it is exchanged: an exchange costs as much as a few nodes.
        if state.pointee.retirer.flush(), state.pointee.shared.pointee.pending.load(ordering: .relaxed) != 0 {
            adopted = state.pointee.shared.pointee.pending.exchange(0, ordering: .acquiringAndReleasing)
        }
        // Before the commands, which may set the same parameters.
        if adopted != 0 { settleDriven(state.pointee.current) }
        var moved = state.pointee.activeCount > 0 || adopted != 0
        if takeChanges() { moved = true }
        if let next = UnsafeMutablePointer<ScheduleHeader>(bitPattern: adopted) {
            forget(next)
            let before = state.pointee.current
            // For another format the audio had to wait: nobody is late.
            if before.pointee.rate != next.pointee.rate || before.pointee.maxBlock != next.pointee.maxBlock { resume() }
            state.pointee.retirer.retire(state.pointee.current.pointee.owner)
            state.pointee.current = next
            state.pointee.shared.pointee.adoptedAt.store(vg_ticks(), ordering: .relaxed)
            state.pointee.shared.pointee.adopted.store(next.pointee.number, ordering: .releasing)
        }
        if moved || state.pointee.current.pointee.drivenCount > 0 { state.pointee.revision &+= 1 }
        return ActiveSchedule(header: state.pointee.current)
    }

    /// The next cycle follows on a pause that was meant: its time says nothing. [audio]
    @_noLocks
    public func resume() { state.pointee.due = 0 }

    /// Runs one block of the schedule that `begin` gave. A block longer than the schedule was made for is silence, and
    /// counted. `delay`: microseconds since the driver's cycle began, if the driver knows. `block`: frames of the driver's
    /// block, of which these are a piece; 0: they are all of it. [audio]
    @_noLocks
    public func run(
        _ schedule: ActiveSchedule, frames: Int, clock: UInt64, flags: UInt32, transport: vg_transport,
        delay: UInt32 = 0, block: UInt32 = 0
    ) {
        let started = vg_ticks()
        let header = schedule.header
        let position = state.pointee.shared.pointee.position.load(ordering: .relaxed)
        // After a pause the driver's clock says nothing.
        let isLate = state.pointee.due != 0 && clock > state.pointee.nextClock
        let skipped = isLate ? saturated(clock &- state.pointee.nextClock) : 0
        var timed = Timed(stamps: 0, detailed: false)
        if frames <= header.pointee.maxBlock, frames > 0 {
            state.pointee.cycle.pointee.frames = UInt32(truncatingIfNeeded: frames)
            state.pointee.cycle.pointee.flags = flags
            state.pointee.cycle.pointee.rate = header.pointee.rate
            state.pointee.cycle.pointee.position = position
            state.pointee.cycle.pointee.clock = clock
            state.pointee.cycle.pointee.transport = transport
            state.pointee.cycle.pointee.skipped = skipped
            if header.pointee.boundAnew {
                header.pointee.boundAnew = false
                state.pointee.revision &+= 1
            }
            let detailed = header.pointee.hasDetails && takeDetails()
            timed =
                header.pointee.grid == 0
                ? runPiece(header, frames, detailed: detailed) : runPieces(header, frames, detailed: detailed)
            countLostMIDI(header)
        } else {
            schedule.silence(frames)
            if frames > 0 {
                state.pointee.shared.pointee.oversized.store(
                    state.pointee.shared.pointee.oversized.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
            }
        }
        state.pointee.shared.pointee.position.store(position &+ UInt64(truncatingIfNeeded: frames), ordering: .relaxed)
        state.pointee.shared.pointee.cycles.store(
            state.pointee.shared.pointee.cycles.load(ordering: .relaxed) &+ 1, ordering: .releasing)
        let ended = vg_ticks()
        let ticks = ended &- started
        // The last part ends with the block.
        if timed.stamps > 0, !timed.hasLengths { header.pointee.stamps[timed.stamps &- 1] = ended }
        let period = frames > 0 ? UInt64(Double(frames) * header.pointee.ticksPerFrame) : 0
        if header.pointee.tasks.count != 0 { judgeSharing(header, timed, ticks, period) }
        record(
            header,
            CycleRecord(
                stamps: UInt32(truncatingIfNeeded: timed.stamps),
                schedule: header.pointee.number, started: started, busy: ticks, position: position, period: period,
                frames: UInt32(truncatingIfNeeded: frames), delay: delay, skipped: skipped,
                flags: CycleRecord.pieces(frames > 0 ? block / UInt32(truncatingIfNeeded: frames) : 0)
                    | (timed.detailed ? CycleRecord.detailed : 0)
                    | (timed.hasLengths ? CycleRecord.lengths : 0)
                    | (flags & UInt32(VG_CYCLE_OFFLINE | VG_CYCLE_FREEWHEEL) != 0 ? CycleRecord.offline : 0)),
            clock: clock, ended: ended)
        state.pointee.shared.pointee.busyTicks.store(
            state.pointee.shared.pointee.busyTicks.load(ordering: .relaxed) &+ ticks, ordering: .relaxed)
        if ticks > state.pointee.shared.pointee.longestTicks.load(ordering: .relaxed) {
            state.pointee.shared.pointee.longestTicks.store(ticks, ordering: .relaxed)
        }
    }

    /// Whether single steps are to be timed in this block. [audio]
    @_noLocks
    private func takeDetails() -> Bool {
        let takes = state.pointee.untilDetails == 0
        state.pointee.untilDetails = takes ? 30 : state.pointee.untilDetails &- 1
        return takes
    }

    /// Runs `frames` in which parameters move as they are set now. [audio]
    @_noLocks
    func runPiece(_ header: UnsafeMutablePointer<ScheduleHeader>, _ frames: Int, detailed: Bool) -> Timed {
        if state.pointee.laterCount > 0, beginChanges(within: frames) { state.pointee.revision &+= 1 }
        state.pointee.cycle.pointee.revision = state.pointee.revision
        let timed = execute(header, detailed: detailed)
        advanceRamps(UInt32(truncatingIfNeeded: frames))
        advanceDriven(header, UInt32(truncatingIfNeeded: frames))
        return timed
    }

    /// Takes all steps.
    @_noLocks
    private func execute(_ header: UnsafeMutablePointer<ScheduleHeader>, detailed: Bool) -> Timed {
        // In locals: as far as the compiler knows, a flag might be a part of the header.
        let flags = header.pointee.silenceFlags
        let flagCount = header.pointee.silenceCount
        if flagCount <= 8 {
            UnsafeMutableRawPointer(flags).storeBytes(of: 0, as: UInt64.self)
        } else {
            for index in 0..<flagCount { flags[index] = 0 }
        }
        for index in 0..<header.pointee.writtenMIDICount {
            header.pointee.midi[index].pointee.count = 0
            header.pointee.midi[index].pointee.used = 0
        }
        if header.pointee.tasks.count != 0, header.pointee.sharing.isShared, state.pointee.helperPool.isManned {
            return share(header, detailed: detailed)
        }
        let cycle = UnsafePointer<vg_cycle>(state.pointee.cycle)
        let stamps = header.pointee.stamps
        let steps = header.pointee.steps
        if detailed {
            let count = header.pointee.stepCount
            for index in 0..<count {
                vg_call_process(steps[index].process, steps[index].state, steps[index].io, cycle)
                vg_stamp(stamps + index)
            }
            return Timed(stamps: count, detailed: true)
        }
        var step = steps
        let end = steps + header.pointee.stepCount
        while step != end {
            vg_call_process(step.pointee.process, step.pointee.state, step.pointee.io, cycle)
            if let stamp = step.pointee.stamp { vg_stamp(stamp) }
            step += 1
        }
        return Timed(stamps: header.pointee.segmentCount, detailed: false)
    }
}
