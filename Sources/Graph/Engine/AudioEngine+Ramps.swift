// SPDX-License-Identifier: Apache-2.0
import CNode
import NodeKit

/// The step of a move: an even number of units in which the greatest value of the way is exact. So the values do not depend
/// on how the way is cut into blocks: sums are exact, or rounded by what was in the first value, always the same way. What
/// the steps fall short of the target is part of the last. [audio]
@_noLocks
func evenStep(_ from: Float, _ to: Float, _ frames: UInt32) -> Float {
    let greatest = from.magnitude > to.magnitude ? from.magnitude : to.magnitude
    // Of 24 bits, the last but one; a value so small that it has none is taken as one that has.
    let unit = Double(Float(bitPattern: (greatest > 1e-9 ? greatest : 1e-9).bitPattern & 0x7F80_0000)) / 4_194_304
    let units = (Double(to) - Double(from)) / Double(frames) / unit
    return Float((units < 0 ? -vg_floor64(-units) : vg_floor64(units)) * unit)
}

/// Parameters on their way.
extension AudioEngine {
    /// Takes changes of parameters: what is due begins with this block, the rest waits. Whether any begins.
    @_noLocks
    func takeChanges() -> Bool {
        let position = state.pointee.shared.pointee.position.load(ordering: .relaxed)
        // First what waited: what has come since may be about the same parameters.
        var began = state.pointee.laterCount > 0 && beginOverdue(position)
        while let command = state.pointee.commands.next() {
            if command.position > position {
                if wait(command) { continue }
                state.pointee.shared.pointee.early.add(1, ordering: .relaxed)
            }
            set(command)
            began = true
        }
        return began
    }

    /// Keeps a change for its position, after those that came before for the same. False: there is no room.
    @_noLocks
    private func wait(_ command: ParameterCommand) -> Bool {
        if state.pointee.laterCount == state.pointee.laterCapacity { return false }
        var place = state.pointee.laterCount
        while place > 0, state.pointee.later[place - 1].position > command.position {
            state.pointee.later[place] = state.pointee.later[place - 1]
            place -= 1
        }
        state.pointee.later[place] = command
        state.pointee.laterCount += 1
        return true
    }

    /// Begins what should have begun before this block. Whether there was any.
    @_noLocks
    private func beginOverdue(_ position: UInt64) -> Bool {
        let count = state.pointee.laterCount
        var taken = 0
        while taken < count, state.pointee.later[taken].position <= position {
            set(state.pointee.later[taken])
            taken += 1
        }
        close(kept: 0, next: taken)
        return taken > 0
    }

    /// Begins what is due after the first frame of this block. Whether any began.
    @_noLocks
    func beginChanges(within frames: Int) -> Bool {
        let position = state.pointee.shared.pointee.position.load(ordering: .relaxed)
        let count = state.pointee.laterCount
        var kept = 0
        var next = 0
        while next < count {
            let command = state.pointee.later[next]
            let ahead = command.position &- position
            if ahead >= UInt64(truncatingIfNeeded: frames) { break }
            if !begin(command, at: UInt32(truncatingIfNeeded: ahead)) {
                state.pointee.later[kept] = command
                kept += 1
            }
            next += 1
        }
        let began = next > kept
        close(kept: kept, next: next)
        return began
    }

    /// Moves what is still to be looked at, from `next` on, behind what was looked at and kept.
    @_noLocks
    private func close(kept: Int, next: Int) {
        if kept == next { return }
        var (place, from) = (kept, next)
        while from < state.pointee.laterCount {
            state.pointee.later[place] = state.pointee.later[from]
            place += 1
            from += 1
        }
        state.pointee.laterCount = place
    }

    /// Begins a change with this block.
    @_noLocks
    private func set(_ command: ParameterCommand) {
        let ramp = command.ramp
        if command.frames == ParameterCommand.fires { return fire(ramp, command.value) }
        // A ramp in the list that is set at once leaves it at the end of this block.
        if command.frames == 0 || !activate(ramp) { return hold(ramp, at: command.value) }
        move(ramp, command)
    }

    /// Begins a change at a frame of this block but the first. False: it cannot, since a ramp has one beginning, or
    /// since there is no room.
    @_noLocks
    private func begin(_ command: ParameterCommand, at frame: UInt32) -> Bool {
        let ramp = command.ramp
        if ramp.pointee.frames != 0 || !activate(ramp) { return false }
        if command.frames == ParameterCommand.fires {
            fire(ramp, command.value)
        } else if command.frames == 0 {
            ramp.pointee.step = command.value - ramp.pointee.value
            ramp.pointee.target = command.value
            ramp.pointee.frames = 1
            ramp.pointee.length = 1
            ramp.pointee.start = frame &- 1
        } else {
            move(ramp, command)
            ramp.pointee.start = frame
        }
        return true
    }

    /// Lets a trigger have a value until the end of this block, and then the one that it has now.
    @_noLocks
    private func fire(_ ramp: UnsafeMutablePointer<vg_ramp>, _ value: Float) {
        // Without room it would never fall back.
        if !activate(ramp) { return }
        ramp.pointee.value = value
        ramp.pointee.step = 0
        ramp.pointee.frames = ParameterCommand.fires
        ramp.pointee.length = ParameterCommand.fires
        ramp.pointee.start = 0
    }

    @_noLocks
    private func move(_ ramp: UnsafeMutablePointer<vg_ramp>, _ command: ParameterCommand) {
        ramp.pointee.step = evenStep(ramp.pointee.value, command.value, command.frames)
        ramp.pointee.target = command.value
        ramp.pointee.frames = command.frames
        ramp.pointee.length = command.frames
        ramp.pointee.start = 0
    }

    /// Sees to it that a ramp is advanced. False: there is no room.
    @_noLocks
    private func activate(_ ramp: UnsafeMutablePointer<vg_ramp>) -> Bool {
        if isActive(ramp) { return true }
        if state.pointee.activeCount == state.pointee.activeCapacity { return false }
        state.pointee.active[state.pointee.activeCount] = ramp
        state.pointee.activeCount += 1
        return true
    }

    @_noLocks
    private func isActive(_ ramp: UnsafeMutablePointer<vg_ramp>) -> Bool {
        for index in 0..<state.pointee.activeCount where state.pointee.active[index] == ramp { return true }
        return false
    }

    @_noLocks
    func advanceRamps(_ frames: UInt32) {
        var index = 0
        while index < state.pointee.activeCount {
            if advance(state.pointee.active[index], frames) {
                index += 1
            } else {
                state.pointee.activeCount -= 1
                state.pointee.active[index] = state.pointee.active[state.pointee.activeCount]
            }
        }
    }

    /// Ends a block of a ramp. False: it has come to its end.
    @_noLocks
    private func advance(_ ramp: UnsafeMutablePointer<vg_ramp>, _ frames: UInt32) -> Bool {
        let moved = frames &- ramp.pointee.start
        if ramp.pointee.frames <= moved || ramp.pointee.length == ParameterCommand.fires {
            hold(ramp, at: ramp.pointee.target)
            return false
        }
        ramp.pointee.value += ramp.pointee.step * Float(moved)
        ramp.pointee.frames -= moved
        ramp.pointee.start = 0
        return true
    }

    /// Ends a block of the parameters that follow controls.
    @_noLocks
    func advanceDriven(_ header: UnsafeMutablePointer<ScheduleHeader>, _ frames: UInt32) {
        for index in 0..<header.pointee.drivenCount {
            let ramp = header.pointee.driven[index]
            if ramp.pointee.frames != 0, !isActive(ramp) { _ = advance(ramp, frames) }
        }
    }

    @_noLocks
    private func hold(_ ramp: UnsafeMutablePointer<vg_ramp>, at value: Float) {
        ramp.pointee.value = value
        ramp.pointee.target = value
        ramp.pointee.step = 0
        ramp.pointee.frames = 0
        ramp.pointee.start = 0
        ramp.pointee.length = 0
    }

    /// Lets the moves of parameters that followed controls come to their end: in the next schedule they may follow no more,
    /// and nobody would advance them.
    @_noLocks
    func settleDriven(_ header: UnsafeMutablePointer<ScheduleHeader>) {
        for index in 0..<header.pointee.drivenCount {
            let ramp = header.pointee.driven[index]
            if ramp.pointee.frames != 0, !activate(ramp) { hold(ramp, at: ramp.pointee.target) }
        }
    }

    /// Ends the ramps of nodes that the next schedule has not, and takes what waits for them as done: such a node may be
    /// gone soon, or come back much later.
    @_noLocks
    func forget(_ next: UnsafeMutablePointer<ScheduleHeader>) {
        var index = 0
        while index < state.pointee.activeCount {
            let ramp = state.pointee.active[index]
            if isForgotten(ramp, next) {
                hold(ramp, at: ramp.pointee.target)
                state.pointee.activeCount -= 1
                state.pointee.active[index] = state.pointee.active[state.pointee.activeCount]
            } else {
                index += 1
            }
        }
        var kept = 0
        for index in 0..<state.pointee.laterCount {
            let command = state.pointee.later[index]
            if isForgotten(command.ramp, next) {
                hold(command.ramp, at: command.value)
            } else {
                state.pointee.later[kept] = command
                kept += 1
            }
        }
        state.pointee.laterCount = kept
    }

    /// Whether a ramp is of a node that the schedule before had and the next has not.
    @_noLocks
    private func isForgotten(_ ramp: UnsafeMutablePointer<vg_ramp>, _ next: UnsafeMutablePointer<ScheduleHeader>)
        -> Bool
    {
        // The ranges are in order of address: the last one that starts at or before the ramp.
        var low = 0
        var high = next.pointee.forgottenCount
        while low < high {
            let middle = (low + high) / 2
            if next.pointee.forgotten[middle].start <= ramp { low = middle + 1 } else { high = middle }
        }
        if low == 0 { return false }
        let range = next.pointee.forgotten + (low - 1)
        return ramp < range.pointee.start + range.pointee.count
    }
}
