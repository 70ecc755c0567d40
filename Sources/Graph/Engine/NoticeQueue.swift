// SPDX-License-Identifier: Apache-2.0
import CNode
import Synchronization

/// Carries processors' notices to the control side, from any number of audio threads. It is bounded: a notice that finds it
/// full is refused. While a thread is held up in writing a notice, the reader gets no later ones, but does not wait
/// either; no other thread is held up.
final class NoticeQueue: Sendable {
    let writer: NoticeWriter
    private let next = Atomic<UInt64>(0)

    /// Room for `capacity` notices, a power of two.
    init(capacity: Int) {
        precondition(capacity > 0 && capacity & (capacity - 1) == 0, "the capacity must be a power of two")
        let slots = UnsafeMutablePointer<NoticeSlot>.allocate(capacity: capacity)
        for index in 0..<capacity { (slots + index).initialize(to: NoticeSlot(ticket: UInt64(index))) }
        let tail = UnsafeMutablePointer<Atomic<UInt64>>.allocate(capacity: 1)
        tail.initialize(to: Atomic(0))
        writer = NoticeWriter(slots: slots, tail: tail, mask: UInt64(capacity - 1))
    }

    deinit {
        writer.slots.deinitialize(count: Int(writer.mask) + 1)
        writer.slots.deallocate()
        writer.tail.deinitialize(count: 1)
        writer.tail.deallocate()
    }

    /// The oldest notice, if there is one; one caller at a time. [control]
    func pop() -> vg_notice? {
        let place = next.load(ordering: .relaxed)
        let slot = writer.slots + Int(place & writer.mask)
        guard slot.pointee.ticket.load(ordering: .acquiring) == place + 1 else { return nil }
        let notice = slot.pointee.notice
        slot.pointee.ticket.store(place + writer.mask + 1, ordering: .releasing)
        next.store(place + 1, ordering: .relaxed)
        return notice
    }
}

/// Room for one notice.
struct NoticeSlot: ~Copyable {
    /// The notice that may be written here, by number; one more: it was written, and may be read.
    let ticket: Atomic<UInt64>
    var notice = vg_notice()

    init(ticket first: UInt64) { ticket = Atomic(first) }
}

/// The end of the queue that audio threads write to.
struct NoticeWriter: BitwiseCopyable, @unchecked Sendable {
    // Sendable: any thread may write.
    let slots: UnsafeMutablePointer<NoticeSlot>
    let tail: UnsafeMutablePointer<Atomic<UInt64>>
    let mask: UInt64

    /// False: there is no room. [audio]
    @_noLocks
    func put(_ notice: vg_notice) -> Bool {
        var place = tail.pointee.load(ordering: .relaxed)
        while true {
            let slot = slots + Int(place & mask)
            let ticket = slot.pointee.ticket.load(ordering: .acquiring)
            if ticket == place {
                let (taken, seen) = tail.pointee.compareExchange(
                    expected: place, desired: place &+ 1, ordering: .relaxed)
                if taken {
                    slot.pointee.notice = notice
                    slot.pointee.ticket.store(place &+ 1, ordering: .releasing)
                    return true
                }
                place = seen
            } else if ticket < place {
                return false
            } else {
                place = tail.pointee.load(ordering: .relaxed)
            }
        }
    }
}
