// SPDX-License-Identifier: Apache-2.0
import CNode
import NodeKit
import Realtime
import Synchronization

/// A change of one parameter on its way to the audio thread.
struct ParameterCommand: BitwiseCopyable {
    var ramp: UnsafeMutablePointer<vg_ramp>
    var value: Float
    /// How long the change takes; 0: at once.
    var frames: UInt32
}

/// What both sides reach, and nothing else: where the audio thread has something of its own beside it, changing that
/// would count as changing all of it.
struct SharedState: ~Copyable {
    /// The schedule to adopt at the next cycle; 0: none.
    let pending = Atomic<UInt>(0)
    let position = Atomic<UInt64>(0)
    let cycles = Atomic<UInt64>(0)
    let oversized = Atomic<UInt64>(0)
    let busyTicks = Atomic<UInt64>(0)
    let longestTicks = Atomic<UInt64>(0)
    let lostNotes = Atomic<UInt64>(0)
    let lostMIDI = Atomic<UInt64>(0)
}

/// All that the audio thread owns, in memory that never moves.
struct EngineState: BitwiseCopyable {
    let shared: UnsafeMutablePointer<SharedState>
    var current: UnsafeMutablePointer<ScheduleHeader>
    var commands: RingReader<ParameterCommand>
    var notes: RingWriter<vg_note>
    var retirer: Retirer
    /// Parameters on the way to their target.
    var active: UnsafeMutablePointer<UnsafeMutablePointer<vg_ramp>>
    var activeCount = 0
    var activeCapacity: Int
    let cycle: UnsafeMutablePointer<vg_cycle>
    /// Cycles until nodes are timed again.
    var untilTiming = 0
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
        while let command = state.pointee.commands.next() { set(command) }
        if let next = UnsafeMutablePointer<ScheduleHeader>(bitPattern: adopted) {
            forget(next)
            state.pointee.retirer.retire(state.pointee.current.pointee.owner)
            state.pointee.current = next
        }
        return ActiveSchedule(header: state.pointee.current)
    }

    /// Runs one block of the schedule that `begin` gave. A block longer than the schedule was made for is silence, and
    /// counted. [audio]
    @_noLocks
    public func run(_ schedule: ActiveSchedule, frames: Int, clock: UInt64, flags: UInt32, transport: vg_transport) {
        let started = vg_ticks()
        let header = schedule.header
        if frames <= header.pointee.maxBlock, frames > 0 {
            state.pointee.cycle.pointee.frames = UInt32(truncatingIfNeeded: frames)
            state.pointee.cycle.pointee.flags = flags
            state.pointee.cycle.pointee.rate = header.pointee.rate
            state.pointee.cycle.pointee.position = state.pointee.shared.pointee.position.load(ordering: .relaxed)
            state.pointee.cycle.pointee.clock = clock
            state.pointee.cycle.pointee.transport = transport
            execute(header)
            advanceRamps(UInt32(truncatingIfNeeded: frames))
            countLostMIDI(header)
        } else {
            schedule.silence(frames)
            if frames > 0 {
                state.pointee.shared.pointee.oversized.store(
                    state.pointee.shared.pointee.oversized.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
            }
        }
        let position = state.pointee.shared.pointee.position.load(ordering: .relaxed)
        state.pointee.shared.pointee.position.store(position &+ UInt64(truncatingIfNeeded: frames), ordering: .relaxed)
        state.pointee.shared.pointee.cycles.store(
            state.pointee.shared.pointee.cycles.load(ordering: .relaxed) &+ 1, ordering: .releasing)
        let ticks = vg_ticks() &- started
        state.pointee.shared.pointee.busyTicks.store(
            state.pointee.shared.pointee.busyTicks.load(ordering: .relaxed) &+ ticks, ordering: .relaxed)
        if ticks > state.pointee.shared.pointee.longestTicks.load(ordering: .relaxed) {
            state.pointee.shared.pointee.longestTicks.store(ticks, ordering: .relaxed)
        }
    }

    @_noLocks
    private func execute(_ header: UnsafeMutablePointer<ScheduleHeader>) {
        // In locals: as far as the compiler knows, a flag might be a part of the header.
        let flags = header.pointee.silenceFlags
        let flagCount = header.pointee.silenceCount
        for index in 0..<flagCount { flags[index] = 0 }
        for index in 0..<header.pointee.writtenMIDICount {
            header.pointee.midi[index].pointee.count = 0
            header.pointee.midi[index].pointee.used = 0
        }
        let steps = header.pointee.steps
        let count = header.pointee.stepCount
        let cycle = UnsafePointer<vg_cycle>(state.pointee.cycle)
        if state.pointee.untilTiming > 0 {
            state.pointee.untilTiming -= 1
            for index in 0..<count { vg_call_process(steps[index].process, steps[index].state, steps[index].io, cycle) }
            return
        }
        state.pointee.untilTiming = header.pointee.timingInterval - 1
        var before = vg_ticks()
        for index in 0..<count {
            vg_call_process(steps[index].process, steps[index].state, steps[index].io, cycle)
            let after = vg_ticks()
            if let timing = steps[index].timing { timing.pointee.add(after &- before) }
            before = after
        }
    }

    @_noLocks
    private func set(_ command: ParameterCommand) {
        let ramp = command.ramp
        // A ramp in the list that is set at once leaves it at the end of this block.
        if command.frames == 0 { return hold(ramp, at: command.value) }
        if !isActive(ramp) {
            if state.pointee.activeCount == state.pointee.activeCapacity { return hold(ramp, at: command.value) }
            state.pointee.active[state.pointee.activeCount] = ramp
            state.pointee.activeCount += 1
        }
        ramp.pointee.step = (command.value - ramp.pointee.value) / Float(command.frames)
        ramp.pointee.target = command.value
        ramp.pointee.frames = command.frames
    }

    @_noLocks
    private func isActive(_ ramp: UnsafeMutablePointer<vg_ramp>) -> Bool {
        for index in 0..<state.pointee.activeCount where state.pointee.active[index] == ramp { return true }
        return false
    }

    @_noLocks
    private func advanceRamps(_ frames: UInt32) {
        var index = 0
        while index < state.pointee.activeCount {
            let ramp = state.pointee.active[index]
            if ramp.pointee.frames > frames {
                ramp.pointee.value += ramp.pointee.step * Float(frames)
                ramp.pointee.frames -= frames
                index += 1
            } else {
                ramp.pointee.value = ramp.pointee.target
                ramp.pointee.step = 0
                ramp.pointee.frames = 0
                state.pointee.activeCount -= 1
                state.pointee.active[index] = state.pointee.active[state.pointee.activeCount]
            }
        }
    }

    @_noLocks
    private func hold(_ ramp: UnsafeMutablePointer<vg_ramp>, at value: Float) {
        ramp.pointee.value = value
        ramp.pointee.target = value
        ramp.pointee.step = 0
        ramp.pointee.frames = 0
    }

    /// Ends the moves of parameters that followed controls: in the next schedule they may follow no more, and nobody
    /// would end them.
    @_noLocks
    private func settleDriven(_ header: UnsafeMutablePointer<ScheduleHeader>) {
        for index in 0..<header.pointee.drivenCount {
            let ramp = header.pointee.driven[index]
            if !isActive(ramp) { hold(ramp, at: ramp.pointee.target) }
        }
    }

    @_noLocks
    private func countLostMIDI(_ header: UnsafeMutablePointer<ScheduleHeader>) {
        for index in 0..<header.pointee.midiCount {
            let midi = header.pointee.midi[index]
            if midi.pointee.dropped == 0 { continue }
            let lost = state.pointee.shared.pointee.lostMIDI.load(ordering: .relaxed) &+ UInt64(midi.pointee.dropped)
            state.pointee.shared.pointee.lostMIDI.store(lost, ordering: .relaxed)
            midi.pointee.dropped = 0
        }
    }

    /// Ends the ramps of nodes that the next schedule has not: such a node may be gone soon, or come back much later.
    @_noLocks
    private func forget(_ next: UnsafeMutablePointer<ScheduleHeader>) {
        var index = 0
        while index < state.pointee.activeCount {
            let ramp = state.pointee.active[index]
            // The ranges are in order of address: the last one that starts at or before the ramp.
            var low = 0
            var high = next.pointee.forgottenCount
            while low < high {
                let middle = (low + high) / 2
                if next.pointee.forgotten[middle].start <= ramp { low = middle + 1 } else { high = middle }
            }
            let range = next.pointee.forgotten + (low - 1)
            if low > 0, ramp < range.pointee.start + range.pointee.count {
                hold(ramp, at: ramp.pointee.target)
                state.pointee.activeCount -= 1
                state.pointee.active[index] = state.pointee.active[state.pointee.activeCount]
            } else {
                index += 1
            }
        }
    }
}
