// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The tasks of a schedule that helpers may take part in.
struct ScheduleTasks: BitwiseCopyable {
    var first: UnsafeMutablePointer<ScheduleTask>
    /// 0: it is run by the audio thread alone.
    var count: Int
    /// The tasks that wait for each task, one range for each.
    var targets: UnsafeMutablePointer<UInt32>
    /// The tasks that wait for no other, the most urgent first.
    var roots: UnsafeMutablePointer<UInt32>
    var rootCount: Int
}

/// Steps that one thread takes in a row.
struct ScheduleTask: ~Copyable {
    /// How many tasks it still waits for in this cycle.
    let waiting: Atomic<Int>
    /// How many it waits for in every cycle.
    let sources: Int
    let segments: SegmentRange
    /// The range of the tasks that wait for it.
    let firstTarget: Int
    let endTarget: Int
}

/// A range that the audio thread can read without a check.
struct SegmentRange: BitwiseCopyable {
    var first: Int
    var end: Int
}

/// Decides from what was measured whether the blocks of a schedule are shared: there must be enough to do, and it must
/// help. The samples are the same either way, so this may change from block to block.
struct Sharing: BitwiseCopyable {
    /// Whether the next block is shared if anybody helps.
    private(set) var isShared = true
    /// Always shared; for tests.
    var isForced = false
    /// Mean ticks of all threads together, from the start of a shared block to its end, and of one that the audio
    /// thread ran alone; 0: none yet.
    private var work = 0.0
    private var length = 0.0
    private var alone = 0.0
    /// Shared blocks since it was last tried, and blocks until it is tried again.
    private var tried = 0
    private var rest = 0
    /// Blocks that are still to be run alone to compare.
    private var probe = 0

    /// Shared blocks before it is judged whether that helps, and blocks before that is tried again.
    private static var trial: Int { @_noLocks get { 64 } }
    private static var pause: Int { @_noLocks get { 4096 } }

    init() {}

    /// Takes note of a shared block: the ticks of all threads, from start to end, of its frames, and of the least work
    /// that is worth sharing. [audio]
    @_noLocks
    mutating func tookShared(work ticks: UInt64, length busy: UInt64, period: UInt64, least: Double) {
        if isForced { return }
        work = work == 0 ? Double(ticks) : work + (Double(ticks) - work) / 8
        // A block in which the system held up a thread must not outweigh many others.
        let taken = alone == 0 ? Double(busy) : min(Double(busy), 2 * alone)
        length = length == 0 ? taken : length + (taken - length) / 32
        tried &+= 1
        if work < least {
            isShared = false
        } else if work >= 0.5 * Double(period) {
            return
        } else if tried >= Self.trial, length > 0.98 * (alone == 0 ? work : alone) {
            // Sharing did not help: no helper came in time, one was held up, or too little can be shared.
            isShared = false
            rest = Self.pause
        } else if tried & 1023 == Self.trial / 2 {
            // The time of a helper that was held up does not measure the work, so blocks run alone are compared now and
            // then.
            isShared = false
            probe = 8
        }
    }

    /// Takes note of a block that the audio thread ran alone though it could have been shared. [audio]
    @_noLocks
    mutating func tookAlone(length busy: UInt64, period: UInt64, least: Double) {
        alone = alone == 0 ? Double(busy) : alone + (min(Double(busy), 2 * alone) - alone) / 8
        work = work == 0 ? Double(busy) : work + (Double(busy) - work) / 8
        if probe > 0 {
            probe &-= 1
            isShared = probe == 0
            return
        }
        if rest > 0 { rest &-= 1 }
        // Where there is much to do, one thread alone is a risk whatever was measured.
        guard work > 0.5 * Double(period) || rest == 0 && work > 1.5 * least else { return }
        isShared = true
        tried = 0
        length = 0
    }
}
