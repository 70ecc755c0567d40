// SPDX-License-Identifier: Apache-2.0
import Realtime

/// One line of memory of a record: a `CycleRecord` first, then looks at the clock, eight a line.
struct CycleLine: BitwiseCopyable {
    var words: SIMD8<UInt64> = .zero

    /// Lines of a record with so many looks at the clock.
    static func count(stamps: Int) -> Int { 1 + (stamps + 7) / 8 }
}

/// What one cycle did and when: written by the audio thread in every cycle, followed by when each segment of the
/// schedule ended, or, in a detailed record, each step. As large as a line.
struct CycleRecord: BitwiseCopyable {
    /// Looks at the clock that follow.
    var stamps: UInt32 = 0
    /// The schedule, by its number.
    var schedule: UInt32 = 0
    /// When the engine was called, by the counter.
    var started: UInt64 = 0
    /// Ticks until the engine was done.
    var busy: UInt64 = 0
    /// Ticks by which the call came after it should have.
    var lateness: UInt64 = 0
    /// Of the cycle's first frame, since the start.
    var position: UInt64 = 0
    /// Ticks of the time that the cycle's frames last.
    var period: UInt64 = 0
    var frames: UInt32 = 0
    /// Microseconds from the moment when the driver's cycle began to the call; 0: the driver does not say.
    var delay: UInt32 = 0
    /// Frames by which the driver's time went on without us.
    var skipped: UInt32 = 0
    var flags: UInt32 = 0

    @_noLocks
    init(
        stamps: UInt32, schedule: UInt32, started: UInt64, busy: UInt64, position: UInt64, period: UInt64,
        frames: UInt32, delay: UInt32, skipped: UInt32, flags: UInt32
    ) {
        self.stamps = stamps
        self.schedule = schedule
        self.started = started
        self.busy = busy
        self.position = position
        self.period = period
        self.frames = frames
        self.delay = delay
        self.skipped = skipped
        self.flags = flags
    }

    /// They are those of steps.
    static var detailed: UInt32 { @_noLocks get { 1 } }
    /// What follows is not when each part ended, but how long it took.
    static var lengths: UInt32 { @_noLocks get { 4 } }
    /// Nobody waits for the result.
    static var offline: UInt32 { @_noLocks get { 2 } }

    /// The cycle is a piece of a driver's block that is so many times as long.
    @_noLocks
    static func pieces(_ count: UInt32) -> UInt32 { (count < 0xffff ? count : 0xffff) << 8 }

    /// Ticks of the time that the driver's block lasts.
    var blockPeriod: UInt64 { @_noLocks get { period &* UInt64(max(1, flags >> 8)) } }

    /// Whether the cycle came late or took longer than the driver's block lasts.
    var isLate: Bool {
        @_noLocks get { flags & Self.offline == 0 && period > 0 && (busy > blockPeriod || lateness > blockPeriod) }
    }
}

/// The way of the records to the control side. It never waits: what finds it full is counted. Its last quarter is kept
/// for late cycles, so that they get through although the control side is held up, as it may be just then.
final class CycleRing: Sendable {
    let ring: Ring<CycleLine>

    /// `kilobytes` of records.
    init(kilobytes: Int = 512) { ring = Ring(minimumCapacity: kilobytes * 1024 / MemoryLayout<CycleLine>.size) }

    /// Lines that can be taken. [control]
    var waiting: Int { ring.reader.available }

    /// Takes the oldest record into `lines`, which grows as needed; false: there is none. [control]
    func next(_ lines: inout [CycleLine]) -> Bool {
        let reader = ring.reader
        guard let first = reader.pop() else { return false }
        lines.removeAll(keepingCapacity: true)
        lines.append(first)
        let stamps = lines.withUnsafeBytes { Int($0.load(as: CycleRecord.self).stamps) }
        let rest = CycleLine.count(stamps: stamps) - 1
        lines.append(contentsOf: repeatElement(CycleLine(), count: rest))
        // All of a record becomes visible at once.
        _ = lines.withUnsafeMutableBufferPointer { reader.read(into: $0.baseAddress! + 1, count: rest) }
        return true
    }
}

/// The audio thread's end.
struct CycleWriter: BitwiseCopyable {
    let writer: RingWriter<CycleLine>
    /// Lines that stay free for late cycles.
    let reserve: Int

    init(_ ring: CycleRing) {
        writer = ring.ring.writer
        reserve = writer.space / 4
    }

    /// Whether the record found room. [audio]
    @_noLocks
    func put(_ lines: UnsafePointer<CycleLine>, count: Int, late: Bool) -> Bool {
        writer.append(lines, count: count, leaving: late ? 0 : reserve)
    }
}

extension RingWriter<CycleLine> {
    /// All or nothing.
    @_noLocks
    func append(_ source: UnsafePointer<CycleLine>, count: Int, leaving reserve: Int) -> Bool {
        space >= count + reserve && write(source, count: count) == count
    }
}
