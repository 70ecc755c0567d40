// SPDX-License-Identifier: Apache-2.0
import CNode
import Realtime

/// What fits, else the most that does.
@_noLocks @inline(__always)
func saturated(_ value: UInt64) -> UInt32 {
    value > 0xffff_ffff ? 0xffff_ffff : UInt32(truncatingIfNeeded: value)
}

/// What a cycle leaves behind.
extension AudioEngine {
    /// Leaves what this cycle did to the control side.
    @_noLocks
    func record(
        _ header: UnsafeMutablePointer<ScheduleHeader>, _ made: CycleRecord, clock: UInt64, ended: UInt64
    ) {
        var record = made
        let due = state.pointee.due
        if due != 0, record.started > due { record.lateness = record.started &- due }
        state.pointee.nextClock = clock &+ UInt64(record.frames)
        let planned = record.started &+ record.blockPeriod
        state.pointee.due = ended > planned ? ended : planned
        UnsafeMutableRawPointer(header.pointee.record).storeBytes(of: record, as: CycleRecord.self)
        let lines = 1 &+ (Int(record.stamps) &+ 7) / 8
        if !state.pointee.records.put(header.pointee.record, count: lines, late: record.isLate) {
            state.pointee.shared.pointee.lostRecords.store(
                state.pointee.shared.pointee.lostRecords.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
        }
    }

    @_noLocks
    func countLostMIDI(_ header: UnsafeMutablePointer<ScheduleHeader>) {
        for index in 0..<header.pointee.midiCount {
            let midi = header.pointee.midi[index]
            if midi.pointee.dropped == 0 { continue }
            let lost = state.pointee.shared.pointee.lostMIDI.load(ordering: .relaxed) &+ UInt64(midi.pointee.dropped)
            state.pointee.shared.pointee.lostMIDI.store(lost, ordering: .relaxed)
            midi.pointee.dropped = 0
        }
    }
}
