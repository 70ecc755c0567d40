// SPDX-License-Identifier: Apache-2.0
import CLilv
import Synchronization

/// A single-producer, single-consumer queue of byte packets in fixed memory.
///
/// Guarantees: wait-free on both sides; a packet is seen whole or not at all; never allocates after `init`. Full: the
/// packet is refused. A packet of up to `largest` bytes always fits into an empty ring.
final class PacketRing: @unchecked Sendable {
    // Sendable: the two ends meet only in the atomics of the memory.

    /// The ends as plain data, for the audio thread; the ring must outlive it.
    let ends: PacketRingEnds
    private let memory: UnsafeMutableRawPointer

    /// Makes a ring of `capacity` bytes, rounded up to a power of two. [any]
    init(capacity wanted: Int) {
        var capacity = 64
        while capacity < wanted { capacity *= 2 }
        memory = .allocate(byteCount: PacketRingEnds.headerSize + capacity, alignment: 128)
        (memory).bindMemory(to: Atomic<Int>.self, capacity: 1).initialize(to: Atomic(0))
        (memory + 128).bindMemory(to: Atomic<Int>.self, capacity: 1).initialize(to: Atomic(0))
        ends = PacketRingEnds(base: memory, capacity: capacity)
    }

    deinit { memory.deallocate() }
}

/// Both ends of a packet ring. One thread may push, one may pop.
struct PacketRingEnds: BitwiseCopyable, @unchecked Sendable {
    // Sendable: may move between threads, as long as one at a time uses each end.
    fileprivate static let headerSize = 256
    private static let prefix = 8

    fileprivate let base: UnsafeMutableRawPointer
    let capacity: Int

    /// Bytes in the largest packet.
    var largest: Int { capacity - Self.prefix }

    private var written: UnsafeMutablePointer<Atomic<Int>> { base.assumingMemoryBound(to: Atomic<Int>.self) }
    private var consumed: UnsafeMutablePointer<Atomic<Int>> { (base + 128).assumingMemoryBound(to: Atomic<Int>.self) }
    private var bytes: UnsafeMutableRawPointer { base + Self.headerSize }

    /// Appends a packet with a number of the caller's beside it; false: it does not fit now. [audio]
    @_noLocks
    func push(_ packet: UnsafeRawPointer?, size: Int, tag: UInt32 = 0) -> Bool {
        let start = written.pointee.load(ordering: .relaxed)
        let needed = Self.prefix + padded(size)
        guard size >= 0, size <= largest else { return false }
        guard needed <= capacity - (start - consumed.pointee.load(ordering: .acquiring)) else { return false }
        let head = bytes + (start & (capacity - 1))  // prefixes are aligned and never wrap
        head.storeBytes(of: UInt32(truncatingIfNeeded: size), as: UInt32.self)
        head.storeBytes(of: tag, toByteOffset: 4, as: UInt32.self)
        if let packet, size > 0 {
            let place = (start + Self.prefix) & (capacity - 1)
            let first = min(size, capacity - place)
            vg_lv2_copy(bytes + place, packet, first)
            if size > first { vg_lv2_copy(bytes, packet + first, size - first) }
        }
        written.pointee.store(start + needed, ordering: .releasing)
        return true
    }

    /// Takes the oldest packet into `target`, which has room for `largest` bytes; nil: empty. [audio]
    @_noLocks
    func pop(into target: UnsafeMutableRawPointer) -> (size: Int, tag: UInt32)? {
        let start = consumed.pointee.load(ordering: .relaxed)
        guard written.pointee.load(ordering: .acquiring) != start else { return nil }
        let head = bytes + (start & (capacity - 1))
        let size = Int(head.load(as: UInt32.self))
        let tag = head.load(fromByteOffset: 4, as: UInt32.self)
        let place = (start + Self.prefix) & (capacity - 1)
        let first = min(size, capacity - place)
        if first > 0 { vg_lv2_copy(target, bytes + place, first) }
        if size > first { vg_lv2_copy(target + first, bytes, size - first) }
        consumed.pointee.store(start + Self.prefix + padded(size), ordering: .releasing)
        return (size, tag)
    }

    /// Whether nothing waits to be popped.
    var isEmpty: Bool {
        consumed.pointee.load(ordering: .acquiring) == written.pointee.load(ordering: .acquiring)
    }

    @_noLocks
    private func padded(_ size: Int) -> Int { (size + 7) & ~7 }
}
