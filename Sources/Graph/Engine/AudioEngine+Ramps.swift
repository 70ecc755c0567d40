// SPDX-License-Identifier: Apache-2.0
import CNode
import NodeKit

/// Parameters on their way.
extension AudioEngine {
    @_noLocks
    func set(_ command: ParameterCommand) {
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
    func advanceRamps(_ frames: UInt32) {
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
    func settleDriven(_ header: UnsafeMutablePointer<ScheduleHeader>) {
        for index in 0..<header.pointee.drivenCount {
            let ramp = header.pointee.driven[index]
            if !isActive(ramp) { hold(ramp, at: ramp.pointee.target) }
        }
    }

    /// Ends the ramps of nodes that the next schedule has not: such a node may be gone soon, or come back much later.
    @_noLocks
    func forget(_ next: UnsafeMutablePointer<ScheduleHeader>) {
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
