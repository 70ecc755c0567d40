// SPDX-License-Identifier: Apache-2.0
import CJack
import CNode
import Glibc
import Graph
import GraphFile
import Realtime
import Synchronization

/// One of our JACK ports as the audio thread sees it, at an address that stays for the driver's life: what a schedule
/// holds as a port's handle. A slot without a JACK port (between servers, or while it is replaced) reads silence and
/// swallows what is written.
struct JackSlot: ~Copyable {
    /// The `jack_port_t`, as bits; 0: none.
    let port = Atomic<UInt>(0)
    /// Whether JACK fills it.
    let isCapture = Atomic(false)
    /// MIDI, else audio.
    let isMIDI = Atomic(false)
    /// A source of this MIDI port has gone: what sounds through the port is to end.
    let endsNotes = Atomic(false)
    /// Whether the rest of that is still to come. Audio thread only.
    var isEnding = false
    /// What sounds through it. Audio thread only.
    let notes: UnsafeMutablePointer<NoteTable>
    /// The cycle in which a schedule used it last. Audio thread only.
    var usedIn: UInt64 = 0
    /// `maxFrames` samples for cycles without a JACK port. Audio thread only.
    let spare: UnsafeMutablePointer<Float>

    init() {
        notes = NoteTable.make()
        // Zeroed by the system and touched only when used.
        spare = calloc(Int(maxFrames), MemoryLayout<Float>.stride)!.assumingMemoryBound(to: Float.self)
    }

    deinit {
        free(spare)
        NoteTable.free(notes)
    }
}

/// A view of the slots for the audio thread.
struct JackSlots: BitwiseCopyable, @unchecked Sendable {
    // Sendable: the audio thread touches atomics and what is marked as its own only.
    let first: UnsafeMutablePointer<JackSlot>
    let count: UnsafeMutablePointer<Atomic<Int>>
}

/// Our ports on the server, by name. Control thread only; the slots it hands out are what the audio thread reads.
/// Holds `capacity` ports; asked for more, it throws.
final class JackPortTable {
    /// Ports in one driver.
    static let capacity = 1024

    /// What is wanted of the server, with the slot that stands for it.
    struct Entry {
        var port: ExternalPort
        var slot: Int
    }

    /// The audio thread's view.
    let slots: JackSlots
    /// In the order of registration.
    private(set) var entries: [Entry] = []
    private var free: [Int] = []

    init() {
        let first = UnsafeMutablePointer<JackSlot>.allocate(capacity: Self.capacity)
        let count = UnsafeMutablePointer<Atomic<Int>>.allocate(capacity: 1)
        count.initialize(to: Atomic(0))
        slots = JackSlots(first: first, count: count)
    }

    deinit {
        slots.first.deinitialize(count: slots.count.pointee.load(ordering: .relaxed))
        slots.first.deallocate()
        slots.count.deinitialize(count: 1)
        slots.count.deallocate()
    }

    /// The entry of the port `name`.
    func index(of name: String) -> Int? { entries.firstIndex { $0.port.name == name } }

    /// The slot at `index`, as a schedule holds it.
    func handle(_ index: Int) -> UnsafeMutableRawPointer { UnsafeMutableRawPointer(slots.first + index) }

    /// The JACK port in the slot at `index`.
    func jackPort(_ index: Int) -> OpaquePointer? {
        OpaquePointer(bitPattern: slots.first[index].port.load(ordering: .relaxed))
    }

    /// Adds `port` with a slot of its own, without a JACK port yet.
    func add(_ port: ExternalPort) throws(DriverError) -> Int {
        let slot: Int
        if let reused = free.popLast() {
            slot = reused
        } else {
            slot = slots.count.pointee.load(ordering: .relaxed)
            guard slot < Self.capacity else {
                throw DriverError(
                    "more than \(Self.capacity) JACK ports", hint: "split the graph, or use fewer channels")
            }
            (slots.first + slot).initialize(to: JackSlot())
            slots.count.pointee.store(slot + 1, ordering: .releasing)
        }
        endNotes(slot)
        slots.first[slot].isCapture.store(port.isCapture, ordering: .relaxed)
        slots.first[slot].isMIDI.store(port.isMIDI, ordering: .relaxed)
        entries.append(Entry(port: port, slot: slot))
        return slot
    }

    /// Replaces what is known of a port that stays.
    func update(_ index: Int, _ port: ExternalPort) { entries[index].port = port }

    /// Forgets the entry at `index`; its JACK port must be gone.
    func remove(_ index: Int) { free.append(entries.remove(at: index).slot) }

    /// Has what sounds through the port in a slot end, with the next cycle.
    func endNotes(_ slot: Int) { slots.first[slot].endsNotes.store(true, ordering: .releasing) }

    /// Puts a JACK port into a slot, or takes it out; gives back what was there.
    @discardableResult
    func exchange(_ slot: Int, _ port: OpaquePointer?) -> OpaquePointer? {
        OpaquePointer(
            bitPattern: slots.first[slot].port.exchange(UInt(bitPattern: port), ordering: .acquiringAndReleasing))
    }
}
