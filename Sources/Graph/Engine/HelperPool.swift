// SPDX-License-Identifier: Apache-2.0
import CNode
import Realtime
import Synchronization

/// The threads that work on a cycle, and how they sleep and wake each other. The pool belongs to the engine and
/// outlives every schedule: a helper that was held up for many cycles still finds it, and sees that its cycle is over.
///
/// A thread looks at the schedule only while it has a task: until that is done, the cycle cannot end.
struct HelperPool: BitwiseCopyable, @unchecked Sendable {
    // Sendable: everything in it is atomic, or of the thread that opened the cycle until the next one.

    private let queue = TaskQueue()
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
        sleepers = onItsOwnLine(Atomic<Int>.self)
        sleepers.initialize(to: Atomic(0))
        bell = onItsOwnLine(Atomic<UInt32>.self)
        bell.initialize(to: Atomic(0))
        audioSleeps = onItsOwnLine(Atomic<Bool>.self)
        audioSleeps.initialize(to: Atomic(false))
        audioBell = onItsOwnLine(Atomic<UInt32>.self)
        audioBell.initialize(to: Atomic(0))
        wanted = onItsOwnLine(Atomic<Int>.self)
        wanted.initialize(to: Atomic(0))
        present = onItsOwnLine(Atomic<Int>.self)
        present.initialize(to: Atomic(0))
        patience = onItsOwnLine(Atomic<UInt64>.self)
        patience.initialize(to: Atomic(50_000))
        shift = onItsOwnLine(Shift.self)
        shift.initialize(to: Shift())
    }

    /// Ends all helpers that are still there, and frees. [control]
    func free() {
        want(helpers: 0)
        while present.pointee.load(ordering: .acquiring) > 0 { vg_relax() }
        queue.free()
        let pieces: [UnsafeMutableRawPointer] = [
            UnsafeMutableRawPointer(sleepers), UnsafeMutableRawPointer(bell), UnsafeMutableRawPointer(audioSleeps),
            UnsafeMutableRawPointer(audioBell), UnsafeMutableRawPointer(wanted), UnsafeMutableRawPointer(present),
            UnsafeMutableRawPointer(patience), UnsafeMutableRawPointer(shift),
        ]
        for piece in pieces { piece.deallocate() }
    }

    /// Lets helpers of a number from `count` on end. [control]
    func want(helpers count: Int) {
        wanted.pointee.store(count, ordering: .sequentiallyConsistent)
        bell.pointee.add(1, ordering: .sequentiallyConsistent)
        vg_rouse(bell, Int32.max)
    }

    /// Sets how long a thread that finds nothing to do goes on looking before it sleeps. [control]
    func setPatience(ticks: UInt64) { patience.pointee.store(ticks, ordering: .relaxed) }

    /// Whether anybody helps. [audio]
    var isManned: Bool { @_noLocks get { present.pointee.load(ordering: .relaxed) > 0 } }

    // MARK: The audio thread

    /// Runs all tasks of a schedule together with the helpers. On return they are done. [audio]
    @_noLocks
    func share(_ header: UnsafeMutablePointer<ScheduleHeader>, _ cycle: UnsafePointer<vg_cycle>, detailed: Bool) {
        // No thread is in the previous cycle any more: all of its tasks were done.
        // The highest number stands for a place that was never filled.
        let number = shift.pointee.number >= .max - 1 ? 1 : shift.pointee.number &+ 1
        shift.pointee = Shift(number: number, header: header, cycle: cycle, detailed: detailed)
        queue.open(number, header.pointee.tasks)
        if sleepers.pointee.load(ordering: .sequentiallyConsistent) > 0 { ring() }
        work(from: Int(header.pointee.tasks.roots[0]))
        var idleSince: UInt64 = 0
        while queue.isOpen {
            let task = queue.take()
            if task >= 0 {
                work(from: task)
                idleSince = 0
                continue
            }
            // The tasks that are left are being done by other threads.
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
        if queue.isOpen, !queue.hasTask { vg_nap(audioBell, seen, 10_000_000) }
        audioSleeps.pointee.store(false, ordering: .relaxed)
    }

    // MARK: Helpers

    /// Takes tasks, and sleeps where there are none, until helper `index` is not wanted any more. [audio]
    @_noLocks
    func help(_ index: Int) {
        present.pointee.add(1, ordering: .acquiringAndReleasing)
        var idleSince: UInt64 = 0
        while wanted.pointee.load(ordering: .acquiring) > index {
            let task = queue.take()
            if task >= 0 {
                vg_realtime_enter()
                // One wakes the next, as long as there is something for it: the audio thread need not wake all.
                if sleepers.pointee.load(ordering: .relaxed) > 0, queue.hasTask { ring() }
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
        // A thread that queues a task looks at `sleepers` afterwards, and this one looks at the queue after it has
        // counted itself among them: so one of the two sees the other.
        sleepers.pointee.add(1, ordering: .sequentiallyConsistent)
        let seen = bell.pointee.load(ordering: .sequentiallyConsistent)
        if !queue.hasTask, wanted.pointee.load(ordering: .sequentiallyConsistent) > index { vg_nap(bell, seen, 0) }
        sleepers.pointee.subtract(1, ordering: .sequentiallyConsistent)
    }

    @_noLocks
    private func ring() {
        bell.pointee.add(1, ordering: .sequentiallyConsistent)
        vg_rouse(bell, 1)
    }

    // MARK: Tasks

    /// Does a task that was taken, and what can be done right after it by the same thread.
    @_noLocks
    private func work(from first: Int) {
        let header = shift.pointee.header.unsafelyUnwrapped
        let cycle = shift.pointee.cycle.unsafelyUnwrapped
        let detailed = shift.pointee.detailed
        let number = shift.pointee.number
        let tasks = header.pointee.tasks
        var done = 0
        var task = first
        while task >= 0 {
            let one = tasks.first + task
            // For the next cycle; all that count it down in this one have done so.
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
                    queue.put(number, target)
                    isShared = true
                }
            }
            if isShared { call() }
            task = next
        }
        if queue.finish(done), audioSleeps.pointee.load(ordering: .sequentiallyConsistent) { ringAudio() }
    }

    /// Wakes a thread that may take a task that was queued.
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
