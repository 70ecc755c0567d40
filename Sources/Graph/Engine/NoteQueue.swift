// SPDX-License-Identifier: Apache-2.0
import CNode
import Synchronization

/// Carries processors' notes to the control side, from any number of audio threads. It is bounded: a note that finds it
/// full is refused. While a thread is held up in writing a note, the reader gets no later ones, but does not wait
/// either; no other thread is held up.
final class NoteQueue: Sendable {
    let writer: NoteWriter
    private let next = Atomic<UInt64>(0)

    /// Room for `capacity` notes, a power of two.
    init(capacity: Int) {
        precondition(capacity > 0 && capacity & (capacity - 1) == 0, "the capacity must be a power of two")
        let slots = UnsafeMutablePointer<NoteSlot>.allocate(capacity: capacity)
        for index in 0..<capacity { (slots + index).initialize(to: NoteSlot(turn: UInt64(index))) }
        let tail = UnsafeMutablePointer<Atomic<UInt64>>.allocate(capacity: 1)
        tail.initialize(to: Atomic(0))
        writer = NoteWriter(slots: slots, tail: tail, mask: UInt64(capacity - 1))
    }

    deinit {
        writer.slots.deinitialize(count: Int(writer.mask) + 1)
        writer.slots.deallocate()
        writer.tail.deinitialize(count: 1)
        writer.tail.deallocate()
    }

    /// The oldest note, if there is one; one caller at a time. [control]
    func pop() -> vg_note? {
        let place = next.load(ordering: .relaxed)
        let slot = writer.slots + Int(place & writer.mask)
        guard slot.pointee.turn.load(ordering: .acquiring) == place + 1 else { return nil }
        let note = slot.pointee.note
        slot.pointee.turn.store(place + writer.mask + 1, ordering: .releasing)
        next.store(place + 1, ordering: .relaxed)
        return note
    }
}

/// Room for one note.
struct NoteSlot: ~Copyable {
    /// The note that may be written here, by number; one more: it was written, and may be read.
    let turn: Atomic<UInt64>
    var note = vg_note()

    init(turn first: UInt64) { turn = Atomic(first) }
}

/// The end of the queue that audio threads write to.
struct NoteWriter: BitwiseCopyable, @unchecked Sendable {
    // Sendable: any thread may write.
    let slots: UnsafeMutablePointer<NoteSlot>
    let tail: UnsafeMutablePointer<Atomic<UInt64>>
    let mask: UInt64

    /// False: there is no room. [audio]
    @_noLocks
    func put(_ note: vg_note) -> Bool {
        var place = tail.pointee.load(ordering: .relaxed)
        while true {
            let slot = slots + Int(place & mask)
            let turn = slot.pointee.turn.load(ordering: .acquiring)
            if turn == place {
                let (taken, seen) = tail.pointee.compareExchange(
                    expected: place, desired: place &+ 1, ordering: .relaxed)
                if taken {
                    slot.pointee.note = note
                    slot.pointee.turn.store(place &+ 1, ordering: .releasing)
                    return true
                }
                place = seen
            } else if turn < place {
                return false
            } else {
                place = tail.pointee.load(ordering: .relaxed)
            }
        }
    }
}
