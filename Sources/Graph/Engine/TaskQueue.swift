// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The tasks of a cycle that may be taken now, and how many are still to be done.
///
/// A thread takes a task by moving `head` on. `head` and every place of the queue carry the cycle's number. So a thread
/// that comes late, in a later cycle, takes nothing, and the queue never needs to be cleared.
struct TaskQueue: BitwiseCopyable, @unchecked Sendable {
    // Sendable: everything in it is atomic.

    /// Tasks that a schedule may have.
    static let capacity = 4096

    /// Cycle << 32 | how many tasks of it were taken.
    private let head: UnsafeMutablePointer<Atomic<UInt64>>
    /// How many places are filled, or about to be.
    private let tail: UnsafeMutablePointer<Atomic<Int>>
    /// Tasks of the cycle that are not done.
    private let left: UnsafeMutablePointer<Atomic<Int>>
    /// Cycle << 32 | task.
    private let places: UnsafeMutablePointer<Atomic<UInt64>>

    init() {
        head = onItsOwnLine(Atomic<UInt64>.self)
        head.initialize(to: Atomic(0))
        tail = onItsOwnLine(Atomic<Int>.self)
        tail.initialize(to: Atomic(0))
        left = onItsOwnLine(Atomic<Int>.self)
        left.initialize(to: Atomic(0))
        places = onItsOwnLine(Atomic<UInt64>.self, Self.capacity + 1)
        for place in 0...Self.capacity { (places + place).initialize(to: Atomic(.max)) }
    }

    /// Frees the memory; no thread may use the queue any more. [control]
    func free() {
        places.deinitialize(count: Self.capacity + 1)
        head.deallocate()
        tail.deallocate()
        left.deallocate()
        places.deallocate()
    }

    /// Opens cycle `number`. All tasks of the one before were done, and the first root is taken already. [audio]
    @_noLocks
    func open(_ number: UInt32, _ tasks: ScheduleTasks) {
        for place in 0..<tasks.rootCount {
            places[place].store(UInt64(number) << 32 | UInt64(tasks.roots[place]), ordering: .relaxed)
        }
        tail.pointee.store(tasks.rootCount, ordering: .relaxed)
        left.pointee.store(tasks.count, ordering: .relaxed)
        head.pointee.store(UInt64(number) << 32 | 1, ordering: .sequentiallyConsistent)
    }

    /// Whether there is a task to take. [audio]
    var hasTask: Bool {
        @_noLocks get {
            let seen = head.pointee.load(ordering: .sequentiallyConsistent)
            let place = Int(truncatingIfNeeded: seen & 0xffff_ffff)
            return places[place].load(ordering: .sequentiallyConsistent) >> 32 == seen >> 32
        }
    }

    /// Whether tasks are still to be done, by this thread or another. [audio]
    var isOpen: Bool { @_noLocks get { left.pointee.load(ordering: .sequentiallyConsistent) > 0 } }

    /// Takes a task; -1: there is none. [audio]
    @_noLocks
    func take() -> Int {
        while true {
            let seen = head.pointee.load(ordering: .acquiring)
            let entry = places[Int(truncatingIfNeeded: seen & 0xffff_ffff)].load(ordering: .acquiring)
            if entry >> 32 != seen >> 32 { return -1 }
            if head.pointee.compareExchange(
                expected: seen, desired: seen &+ 1, ordering: .acquiringAndReleasing
            ).exchanged {
                return Int(truncatingIfNeeded: entry & 0xffff_ffff)
            }
        }
    }

    /// Adds a task of cycle `number`. The calling thread must have another task of that cycle in hand, so that the
    /// cycle cannot end meanwhile. [audio]
    @_noLocks
    func put(_ number: UInt32, _ task: Int) {
        let place = tail.pointee.add(1, ordering: .relaxed).oldValue
        places[place].store(UInt64(number) << 32 | UInt64(task), ordering: .sequentiallyConsistent)
    }

    /// Notes that tasks are done; whether the cycle's last is among them. [audio]
    @_noLocks
    func finish(_ count: Int) -> Bool { left.pointee.subtract(count, ordering: .sequentiallyConsistent).newValue == 0 }
}

/// Memory that shares its cache lines with nothing else: a word that one thread writes all the time must not slow down
/// a thread that reads another word. The caller deallocates it. [control]
func onItsOwnLine<T: ~Copyable>(_ type: T.Type, _ count: Int = 1) -> UnsafeMutablePointer<T> {
    UnsafeMutableRawPointer.allocate(byteCount: max(128, count * MemoryLayout<T>.stride), alignment: 128)
        .bindMemory(to: T.self, capacity: count)
}
