// SPDX-License-Identifier: Apache-2.0
import CNode
import Realtime
import Synchronization

/// What the audio thread and its helpers share of a cycle: which tasks of the schedule may be taken now, and how many
/// are still to be done. It belongs to the engine and outlives every schedule: a helper that was held up since a cycle
/// long ago still finds it, and sees that its cycle is over.
///
/// A task is taken by moving `head` on, which carries the cycle's number beside the place in the queue, as does every
/// place. So whoever is late takes nothing, and nothing needs to be cleared. Only who has taken a task looks at the
/// schedule: until it is done, the cycle cannot end.
struct Crew: BitwiseCopyable, @unchecked Sendable {
    // Sendable: everything in it is atomic, or of the thread that opened the cycle until the next one.

    /// Tasks that a schedule may have.
    static let capacity = 4096

    /// Cycle << 32 | how many tasks of it were taken.
    private let head: UnsafeMutablePointer<Atomic<UInt64>>
    /// How many places of the queue are filled, or about to be.
    private let tail: UnsafeMutablePointer<Atomic<Int>>
    /// Tasks of the cycle that are not done.
    private let left: UnsafeMutablePointer<Atomic<Int>>
    /// Cycle << 32 | task.
    private let queue: UnsafeMutablePointer<Atomic<UInt64>>
    /// Helpers that sleep, or are about to; and what they sleep on.
    private let sleepers: UnsafeMutablePointer<Atomic<Int>>
    private let bell: UnsafeMutablePointer<Atomic<UInt32>>
    /// Whether the audio thread sleeps, or is about to; and what it sleeps on.
    private let audioSleeps: UnsafeMutablePointer<Atomic<Bool>>
    private let audioBell: UnsafeMutablePointer<Atomic<UInt32>>
    /// Helpers that there should be, and those that there are.
    private let wanted: UnsafeMutablePointer<Atomic<Int>>
    private let present: UnsafeMutablePointer<Atomic<Int>>
    /// Ticks to look around before sleeping.
    private let patience: UnsafeMutablePointer<Atomic<UInt64>>
    private let shift: UnsafeMutablePointer<Shift>

    /// The cycle in hand, written by the audio thread before it opens it.
    struct Shift: BitwiseCopyable {
        var number: UInt32 = 0
        var header: UnsafeMutablePointer<ScheduleHeader>?
        var cycle: UnsafePointer<vg_cycle>?
        var detailed = false
    }

    init() {
        // Each on a line of its own: what one thread writes all the time must not slow down who reads another.
        func make<T: ~Copyable>(_ type: T.Type, _ count: Int = 1) -> UnsafeMutablePointer<T> {
            UnsafeMutableRawPointer.allocate(
                byteCount: max(128, count * MemoryLayout<T>.stride), alignment: 128
            ).bindMemory(to: T.self, capacity: count)
        }
        head = make(Atomic<UInt64>.self)
        head.initialize(to: Atomic(0))
        tail = make(Atomic<Int>.self)
        tail.initialize(to: Atomic(0))
        left = make(Atomic<Int>.self)
        left.initialize(to: Atomic(0))
        queue = make(Atomic<UInt64>.self, Self.capacity + 1)
        for place in 0...Self.capacity { (queue + place).initialize(to: Atomic(.max)) }
        sleepers = make(Atomic<Int>.self)
        sleepers.initialize(to: Atomic(0))
        bell = make(Atomic<UInt32>.self)
        bell.initialize(to: Atomic(0))
        audioSleeps = make(Atomic<Bool>.self)
        audioSleeps.initialize(to: Atomic(false))
        audioBell = make(Atomic<UInt32>.self)
        audioBell.initialize(to: Atomic(0))
        wanted = make(Atomic<Int>.self)
        wanted.initialize(to: Atomic(0))
        present = make(Atomic<Int>.self)
        present.initialize(to: Atomic(0))
        patience = make(Atomic<UInt64>.self)
        patience.initialize(to: Atomic(50_000))
        shift = make(Shift.self)
        shift.initialize(to: Shift())
    }

    /// Ends all helpers that are still there, and frees. [control]
    func free() {
        want(helpers: 0)
        while present.pointee.load(ordering: .acquiring) > 0 { vg_relax() }
        queue.deinitialize(count: Self.capacity + 1)
        let pieces: [UnsafeMutableRawPointer] = [
            UnsafeMutableRawPointer(head), UnsafeMutableRawPointer(tail), UnsafeMutableRawPointer(left),
            UnsafeMutableRawPointer(queue), UnsafeMutableRawPointer(sleepers), UnsafeMutableRawPointer(bell),
            UnsafeMutableRawPointer(audioSleeps), UnsafeMutableRawPointer(audioBell), UnsafeMutableRawPointer(wanted),
            UnsafeMutableRawPointer(present), UnsafeMutableRawPointer(patience), UnsafeMutableRawPointer(shift),
        ]
        for piece in pieces { piece.deallocate() }
    }

    /// Lets helpers of a number from `count` on end. [control]
    func want(helpers count: Int) {
        wanted.pointee.store(count, ordering: .sequentiallyConsistent)
        bell.pointee.add(1, ordering: .sequentiallyConsistent)
        vg_rouse(bell, Int32.max)
    }

    /// How long who finds nothing to do looks around before it sleeps. [control]
    func setPatience(ticks: UInt64) { patience.pointee.store(ticks, ordering: .relaxed) }

    /// Whether anybody helps. [audio]
    var isManned: Bool { @_noLocks get { present.pointee.load(ordering: .relaxed) > 0 } }

    // MARK: The audio thread

    /// Runs all tasks of a schedule, with whoever helps. On return they are done. [audio]
    @_noLocks
    func share(_ header: UnsafeMutablePointer<ScheduleHeader>, _ cycle: UnsafePointer<vg_cycle>, detailed: Bool) {
        // Nobody is in the cycle before any more: all of its tasks were done.
        // The highest number stands for a place that was never filled.
        let number = shift.pointee.number >= .max - 1 ? 1 : shift.pointee.number &+ 1
        shift.pointee = Shift(number: number, header: header, cycle: cycle, detailed: detailed)
        let roots = header.pointee.tasks.rootCount
        for place in 0..<roots {
            queue[place].store(
                UInt64(number) << 32 | UInt64(header.pointee.tasks.roots[place]), ordering: .relaxed)
        }
        tail.pointee.store(roots, ordering: .relaxed)
        left.pointee.store(header.pointee.tasks.count, ordering: .relaxed)
        // The first one is taken already.
        head.pointee.store(UInt64(number) << 32 | 1, ordering: .sequentiallyConsistent)
        if sleepers.pointee.load(ordering: .sequentiallyConsistent) > 0 { ring() }
        work(from: Int(header.pointee.tasks.roots[0]))
        var idleSince: UInt64 = 0
        while left.pointee.load(ordering: .acquiring) > 0 {
            let task = take()
            if task >= 0 {
                work(from: task)
                idleSince = 0
                continue
            }
            // What is left is in others' hands.
            let now = vg_ticks()
            if idleSince == 0 { idleSince = now }
            if now &- idleSince < patience.pointee.load(ordering: .relaxed) {
                vg_relax()
            } else {
                sleepAsAudio()
                idleSince = 0
            }
        }
    }

    /// Sleeps until something can be taken, or all is done.
    @_noLocks
    private func sleepAsAudio() {
        let seen = audioBell.pointee.load(ordering: .sequentiallyConsistent)
        audioSleeps.pointee.store(true, ordering: .sequentiallyConsistent)
        if left.pointee.load(ordering: .sequentiallyConsistent) > 0, !hasTask { vg_nap(audioBell, seen, 10_000_000) }
        audioSleeps.pointee.store(false, ordering: .relaxed)
    }

    // MARK: Helpers

    /// Takes tasks, and sleeps where there are none, until helper `index` is not wanted any more. [audio]
    @_noLocks
    func help(_ index: Int) {
        present.pointee.add(1, ordering: .acquiringAndReleasing)
        var idleSince: UInt64 = 0
        while wanted.pointee.load(ordering: .acquiring) > index {
            let task = take()
            if task >= 0 {
                vg_realtime_enter()
                // One wakes the next, as long as there is something for it: the audio thread need not wake all.
                if sleepers.pointee.load(ordering: .relaxed) > 0, hasTask { ring() }
                work(from: task)
                vg_realtime_exit()
                idleSince = 0
                continue
            }
            let now = vg_ticks()
            if idleSince == 0 { idleSince = now }
            if now &- idleSince < patience.pointee.load(ordering: .relaxed) {
                vg_relax()
                continue
            }
            sleep(index)
            idleSince = 0
        }
        present.pointee.subtract(1, ordering: .acquiringAndReleasing)
    }

    @_noLocks
    private func sleep(_ index: Int) {
        // Who has something to share looks at `sleepers` after it was queued; we look at the queue after this.
        sleepers.pointee.add(1, ordering: .sequentiallyConsistent)
        let seen = bell.pointee.load(ordering: .sequentiallyConsistent)
        if !hasTask, wanted.pointee.load(ordering: .sequentiallyConsistent) > index { vg_nap(bell, seen, 0) }
        sleepers.pointee.subtract(1, ordering: .sequentiallyConsistent)
    }

    @_noLocks
    private func ring() {
        bell.pointee.add(1, ordering: .sequentiallyConsistent)
        vg_rouse(bell, 1)
    }

    // MARK: Tasks

    /// Whether there is a task to take.
    private var hasTask: Bool {
        @_noLocks get {
            let seen = head.pointee.load(ordering: .sequentiallyConsistent)
            let place = Int(truncatingIfNeeded: seen & 0xffff_ffff)
            return queue[place].load(ordering: .sequentiallyConsistent) >> 32 == seen >> 32
        }
    }

    /// Takes a task; -1: there is none.
    @_noLocks
    private func take() -> Int {
        while true {
            let seen = head.pointee.load(ordering: .acquiring)
            let entry = queue[Int(truncatingIfNeeded: seen & 0xffff_ffff)].load(ordering: .acquiring)
            if entry >> 32 != seen >> 32 { return -1 }
            if head.pointee.compareExchange(
                expected: seen, desired: seen &+ 1, ordering: .acquiringAndReleasing
            ).exchanged {
                return Int(truncatingIfNeeded: entry & 0xffff_ffff)
            }
        }
    }

    /// Does a task that was taken, and what can be done right after it by the same thread.
    @_noLocks
    private func work(from first: Int) {
        let header = shift.pointee.header.unsafelyUnwrapped
        let cycle = shift.pointee.cycle.unsafelyUnwrapped
        let detailed = shift.pointee.detailed
        let number = UInt64(shift.pointee.number) << 32
        let tasks = header.pointee.tasks
        var done = 0
        var task = first
        while task >= 0 {
            let one = tasks.first + task
            // For the next cycle: whatever counted it down has done so.
            one.pointee.waiting.store(one.pointee.sources, ordering: .relaxed)
            run(header, one.pointee.segments, cycle, detailed)
            done += 1
            var next = -1
            var isShared = false
            for place in one.pointee.firstTarget..<one.pointee.endTarget {
                let target = Int(tasks.targets[place])
                let waiting = (tasks.first + target).pointee.waiting
                    .subtract(1, ordering: .acquiringAndReleasing).newValue
                if waiting > 0 { continue }
                if next < 0 {
                    next = target
                } else {
                    let place = tail.pointee.add(1, ordering: .relaxed).oldValue
                    queue[place].store(number | UInt64(target), ordering: .sequentiallyConsistent)
                    isShared = true
                }
            }
            if isShared { call() }
            task = next
        }
        if left.pointee.subtract(done, ordering: .sequentiallyConsistent).newValue == 0,
            audioSleeps.pointee.load(ordering: .sequentiallyConsistent)
        {
            ringAudio()
        }
    }

    /// Somebody may take what was queued.
    @_noLocks
    private func call() {
        if audioSleeps.pointee.load(ordering: .sequentiallyConsistent) { return ringAudio() }
        if sleepers.pointee.load(ordering: .sequentiallyConsistent) > 0 { ring() }
    }

    @_noLocks
    private func ringAudio() {
        audioBell.pointee.add(1, ordering: .sequentiallyConsistent)
        vg_rouse(audioBell, 1)
    }

    /// Runs and times the segments of a task, or its single steps.
    @_noLocks
    private func run(
        _ header: UnsafeMutablePointer<ScheduleHeader>, _ segments: SegmentRange, _ cycle: UnsafePointer<vg_cycle>,
        _ detailed: Bool
    ) {
        let steps = header.pointee.steps
        let ends = header.pointee.segmentEnds
        let took = header.pointee.stamps
        var index = segments.first == 0 ? 0 : ends[segments.first &- 1]
        var before = vg_ticks()
        for segment in segments.first..<segments.end {
            let end = ends[segment]
            while index < end {
                vg_call_process(steps[index].process, steps[index].state, steps[index].io, cycle)
                if detailed {
                    let now = vg_ticks()
                    took[index] = now &- before
                    before = now
                }
                index &+= 1
            }
            if !detailed {
                let now = vg_ticks()
                took[segment] = now &- before
                before = now
            }
        }
    }
}
