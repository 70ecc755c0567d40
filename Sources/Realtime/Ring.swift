// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A single-producer, single-consumer queue of plain values in fixed memory.
///
/// Guarantees: wait-free on both sides, never allocates after `init`, never overwrites. Full: the push is refused and
/// counted by the caller's choice. Empty: the pop gives nil. One thread may use `writer`, one thread may use `reader`.
public final class Ring<Element: BitwiseCopyable>: @unchecked Sendable {
    // Sendable: the two ends meet only in the atomics of the header.

    /// The producer's end; plain data, so a processor can hold it. The ring must outlive it.
    public let writer: RingWriter<Element>
    /// The consumer's end; plain data. The ring must outlive it.
    public let reader: RingReader<Element>
    /// Elements it holds when full: a power of two.
    public let capacity: Int

    private let memory: UnsafeMutableRawPointer

    /// Makes a ring for at least `minimumCapacity` elements. [any]
    public init(minimumCapacity: Int) {
        var capacity = 1
        while capacity < minimumCapacity { capacity *= 2 }
        self.capacity = capacity
        let bytes = RingHeader.size + capacity * MemoryLayout<Element>.stride
        memory = .allocate(byteCount: bytes, alignment: 128)
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: bytes)
        let header = RingHeader(memory)
        header.initialize()
        let elements = (memory + RingHeader.size).bindMemory(to: Element.self, capacity: capacity)
        writer = RingWriter(header: header, elements: elements, capacity: capacity)
        reader = RingReader(header: header, elements: elements, capacity: capacity)
    }

    deinit { memory.deallocate() }
}

/// Where the indices live: each side's on a line of its own, with its last view of the other side beside it.
@usableFromInline struct RingHeader: BitwiseCopyable {
    @usableFromInline static let size = 256
    @usableFromInline let base: UnsafeMutableRawPointer

    @usableFromInline init(_ base: UnsafeMutableRawPointer) { self.base = base }

    /// Elements written since the start.
    @inlinable var written: UnsafeMutablePointer<Atomic<Int>> { base.assumingMemoryBound(to: Atomic<Int>.self) }
    /// The producer's last view of `consumed`.
    @inlinable var knownConsumed: UnsafeMutablePointer<Int> { (base + 8).assumingMemoryBound(to: Int.self) }
    /// Elements read since the start.
    @inlinable var consumed: UnsafeMutablePointer<Atomic<Int>> { (base + 128).assumingMemoryBound(to: Atomic<Int>.self) }
    /// The consumer's last view of `written`.
    @inlinable var knownWritten: UnsafeMutablePointer<Int> { (base + 136).assumingMemoryBound(to: Int.self) }

    func initialize() {
        written.initialize(to: Atomic(0))
        consumed.initialize(to: Atomic(0))
    }
}

/// The producer's end of a ring.
public struct RingWriter<Element: BitwiseCopyable>: BitwiseCopyable, @unchecked Sendable {
    // Sendable: may move between threads, as long as one uses it at a time.
    @usableFromInline let header: RingHeader
    @usableFromInline let elements: UnsafeMutablePointer<Element>
    @usableFromInline let capacity: Int

    @usableFromInline init(header: RingHeader, elements: UnsafeMutablePointer<Element>, capacity: Int) {
        self.header = header
        self.elements = elements
        self.capacity = capacity
    }

    /// Elements that can be written now, at least. [audio]
    @inlinable public var space: Int {
        let written = header.written.pointee.load(ordering: .relaxed)
        header.knownConsumed.pointee = header.consumed.pointee.load(ordering: .acquiring)
        return capacity - (written - header.knownConsumed.pointee)
    }

    /// Elements written since the start. [audio]
    @inlinable public var total: Int { header.written.pointee.load(ordering: .relaxed) }

    /// Appends one; false when full. [audio]
    @inlinable public func push(_ element: Element) -> Bool {
        let written = header.written.pointee.load(ordering: .relaxed)
        if written - header.knownConsumed.pointee >= capacity, space == 0 { return false }
        elements[written & (capacity - 1)] = element
        header.written.pointee.store(written + 1, ordering: .releasing)
        return true
    }

    /// Appends up to `count`; returns how many fitted. [audio]
    @inlinable public func write(_ source: UnsafePointer<Element>, count: Int) -> Int {
        let written = header.written.pointee.load(ordering: .relaxed)
        var free = capacity - (written - header.knownConsumed.pointee)
        if free < count { free = space }
        let taken = min(count, free)
        let start = written & (capacity - 1)
        let first = min(taken, capacity - start)
        let stride = MemoryLayout<Element>.stride
        UnsafeMutableRawPointer(elements + start).copyMemory(from: source, byteCount: first * stride)
        UnsafeMutableRawPointer(elements).copyMemory(from: source + first, byteCount: (taken - first) * stride)
        header.written.pointee.store(written + taken, ordering: .releasing)
        return taken
    }
}

/// The consumer's end of a ring.
public struct RingReader<Element: BitwiseCopyable>: BitwiseCopyable, @unchecked Sendable {
    // Sendable: may move between threads, as long as one uses it at a time.
    @usableFromInline let header: RingHeader
    @usableFromInline let elements: UnsafeMutablePointer<Element>
    @usableFromInline let capacity: Int

    @usableFromInline init(header: RingHeader, elements: UnsafeMutablePointer<Element>, capacity: Int) {
        self.header = header
        self.elements = elements
        self.capacity = capacity
    }

    /// Elements that can be read now, at least. [audio]
    @inlinable public var available: Int {
        let consumed = header.consumed.pointee.load(ordering: .relaxed)
        header.knownWritten.pointee = header.written.pointee.load(ordering: .acquiring)
        return header.knownWritten.pointee - consumed
    }

    /// Elements read since the start. [audio]
    @inlinable public var total: Int { header.consumed.pointee.load(ordering: .relaxed) }

    /// Takes one; nil when empty. [audio]
    @inlinable public func pop() -> Element? {
        let consumed = header.consumed.pointee.load(ordering: .relaxed)
        if header.knownWritten.pointee == consumed, available == 0 { return nil }
        let element = elements[consumed & (capacity - 1)]
        header.consumed.pointee.store(consumed + 1, ordering: .releasing)
        return element
    }

    /// Takes up to `count`; returns how many there were. [audio]
    @inlinable public func read(into target: UnsafeMutablePointer<Element>, count: Int) -> Int {
        let consumed = header.consumed.pointee.load(ordering: .relaxed)
        var ready = header.knownWritten.pointee - consumed
        if ready < count { ready = available }
        let taken = min(count, ready)
        let start = consumed & (capacity - 1)
        let first = min(taken, capacity - start)
        let stride = MemoryLayout<Element>.stride
        UnsafeMutableRawPointer(target).copyMemory(from: elements + start, byteCount: first * stride)
        UnsafeMutableRawPointer(target + first).copyMemory(from: elements, byteCount: (taken - first) * stride)
        header.consumed.pointee.store(consumed + taken, ordering: .releasing)
        return taken
    }

    /// Forgets up to `count`; returns how many there were. [audio]
    @inlinable public func skip(_ count: Int) -> Int {
        let taken = min(count, available)
        header.consumed.pointee.store(header.consumed.pointee.load(ordering: .relaxed) + taken, ordering: .releasing)
        return taken
    }
}
