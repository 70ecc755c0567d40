// SPDX-License-Identifier: Apache-2.0
import CNode
import NodeKit
import Realtime

/// Cycles that several threads run together.
extension AudioEngine {
    /// Runs parts of the cycles of which helpers may take parts, until helper `index` is not wanted any more; the
    /// first one is 0. To be called on a thread of its own, scheduled as the audio thread is, after `want`. [audio]
    @_noLocks
    public func help(_ index: Int) {
        vg_denormals_off()
        state.pointee.helperPool.help(index)
    }

    /// How many helpers there should be from now on; those beyond return from `help`. The audio thread does not
    /// wait for a helper that is late: it does the tasks that no helper has taken. [control]
    public func want(helpers count: Int) { state.pointee.helperPool.want(helpers: count) }

    /// Runs the steps of a block together with the helpers.
    @_noLocks
    func share(_ header: UnsafeMutablePointer<ScheduleHeader>, detailed: Bool) -> Timed {
        state.pointee.helperPool.share(header, UnsafePointer(state.pointee.cycle), detailed: detailed)
        return Timed(
            stamps: detailed ? header.pointee.stepCount : header.pointee.segmentCount, detailed: detailed, shared: true,
            hasLengths: true)
    }

    /// Lets what this block took decide on how the next one is run.
    @_noLocks
    func judgeSharing(
        _ header: UnsafeMutablePointer<ScheduleHeader>, _ timed: Timed, _ length: UInt64, _ period: UInt64
    ) {
        let least = header.pointee.leastShared
        if !timed.shared {
            return header.pointee.sharing.tookAlone(length: length, period: period, least: least)
        }
        var work: UInt64 = 0
        for index in 0..<timed.stamps { work &+= header.pointee.stamps[index] }
        header.pointee.sharing.tookShared(work: work, length: length, period: period, least: least)
    }
}
