// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A queue of plain values in fixed memory, from one thread to one other.
///
/// Guarantees:
/// - Wait-free: every operation ends after a bounded number of steps, whatever the other side does.
/// - Never allocates after `init`, never overwrites, never reorders.
/// - Full: `push` is refused, `write` takes what fits; both say so, and counting the loss is the caller's business.
/// - Empty: `pop` gives nil, `read` gives 0.
/// - A thread that has taken an element sees everything that the producer wrote before it added the element.
///
/// At any time at most one thread uses `writer` and at most one uses `reader`; they may be the same.
///
///     let ring = Ring<Float>(minimumCapacity: 4096)
///     let writer = ring.writer                  // into the processor
///     if !writer.push(0.5) { lost += 1 }        // [audio]
///     while let level = ring.reader.pop() {}    // [control]
public final class Ring<Element: BitwiseCopyable>: @unchecked Sendable {
    // Sendable: the two ends meet only in the atomics of the header.

    /// The producer's end; plain data, so that a processor can hold it. The ring must outlive it.
    public let writer: RingWriter<Element>
    /// The consumer's end; plain data. The ring must outlive it.
    public let reader: RingReader<Element>
    /// Elements it holds when full: a power of two.
    public let capacity: Int

    private let memory: UnsafeMutableRawPointer

    /// Makes an empty ring for at least `minimumCapacity` elements, and at least one. [control]
    public init(minimumCapacity: Int) {
        var capacity = 1
        while capacity < minimumCapacity { capacity *= 2 }
        self.capacity = capacity
        let bytes = RingHeader.size + capacity * MemoryLayout<Element>.stride
        memory = .allocate(byteCount: bytes, alignment: max(RingHeader.line, MemoryLayout<Element>.alignment))
        // Also touches every page, so that the audio thread meets none for the first time.
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: bytes)
        let header = RingHeader(memory)
        header.initialize()
        // The header ends on a line's end, which suits every alignment up to it.
        let elements = (memory + RingHeader.size).bindMemory(to: Element.self, capacity: capacity)
        writer = RingWriter(header: header, elements: elements, capacity: capacity)
        reader = RingReader(header: header, elements: elements, capacity: capacity)
    }

    deinit { memory.deallocate() }
}

/// Where the indices live: each side's on a line of its own, with its last view of the other side beside it, so that a
/// side fetches the other's line only when the ring looks full or empty. Indices only grow; 64 bits do not wrap.
@usableFromInline struct RingHeader: BitwiseCopyable {
    /// Two lines of 64 bytes, because processors prefetch in pairs.
    @usableFromInline static let line = 128
    @usableFromInline static let size = 2 * line
    @usableFromInline let base: UnsafeMutableRawPointer

    @usableFromInline init(_ base: UnsafeMutableRawPointer) { self.base = base }

    // The pointers below stay inside the `size` bytes that `initialize` has set up with these types.

    /// Elements written since the start.
    @inlinable var written: UnsafeMutablePointer<Atomic<Int>> { base.assumingMemoryBound(to: Atomic<Int>.self) }
    /// The producer's last view of `consumed`.
    @inlinable var knownConsumed: UnsafeMutablePointer<Int> { (base + 8).assumingMemoryBound(to: Int.self) }
    /// Elements read since the start.
    @inlinable var consumed: UnsafeMutablePointer<Atomic<Int>> {
        (base + 128).assumingMemoryBound(to: Atomic<Int>.self)
    }
    /// The consumer's last view of `written`.
    @inlinable var knownWritten: UnsafeMutablePointer<Int> { (base + 136).assumingMemoryBound(to: Int.self) }

    func initialize() {
        written.initialize(to: Atomic(0))
        knownConsumed.initialize(to: 0)
        consumed.initialize(to: Atomic(0))
        knownWritten.initialize(to: 0)
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

    /// Elements that can be written now; more as the consumer goes on. [audio]
    @inlinable public var space: Int {
        let written = header.written.pointee.load(ordering: .relaxed)
        // Acquiring: the consumer has finished with the places it gave back.
        let consumed = header.consumed.pointee.load(ordering: .acquiring)
        header.knownConsumed.pointee = consumed
        return capacity &- (written &- consumed)
    }

    /// Elements written since the start. [any]
    @inlinable public var total: Int { header.written.pointee.load(ordering: .relaxed) }

    /// Appends one; false when full. [audio]
    @inlinable public func push(_ element: Element) -> Bool {
        let written = header.written.pointee.load(ordering: .relaxed)
        if written &- header.knownConsumed.pointee >= capacity, space == 0 { return false }
        elements[written & (capacity &- 1)] = element
        // Releasing: a consumer that sees the index sees the element.
        header.written.pointee.store(written &+ 1, ordering: .releasing)
        return true
    }

    /// Appends up to `count` elements, made visible together; returns how many fitted. Zero, negative counts and nil
    /// write nothing. [audio]
    @inlinable public func write(_ source: UnsafePointer<Element>?, count: Int) -> Int {
        guard let source, count > 0 else { return 0 }
        let written = header.written.pointee.load(ordering: .relaxed)
        var free = capacity &- (written &- header.knownConsumed.pointee)
        if free < count { free = space }
        let taken = min(count, free)
        let start = written & (capacity &- 1)
        let first = min(taken, capacity &- start)
        let stride = MemoryLayout<Element>.stride
        UnsafeMutableRawPointer(elements + start).copyMemory(from: source, byteCount: first &* stride)
        if first < taken {
            UnsafeMutableRawPointer(elements).copyMemory(from: source + first, byteCount: (taken &- first) &* stride)
        }
        header.written.pointee.store(written &+ taken, ordering: .releasing)
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

    /// Elements that can be read now; more as the producer goes on. [audio]
    @inlinable public var available: Int {
        let consumed = header.consumed.pointee.load(ordering: .relaxed)
        // Acquiring: the elements up to this index are written.
        let written = header.written.pointee.load(ordering: .acquiring)
        header.knownWritten.pointee = written
        return written &- consumed
    }

    /// Elements read since the start. [any]
    @inlinable public var total: Int { header.consumed.pointee.load(ordering: .relaxed) }

    /// Takes one; nil when empty. [audio]
    @inlinable public func pop() -> Element? {
        let consumed = header.consumed.pointee.load(ordering: .relaxed)
        if header.knownWritten.pointee == consumed, available == 0 { return nil }
        let element = elements[consumed & (capacity &- 1)]
        // Releasing: the place is read before the producer may have it back.
        header.consumed.pointee.store(consumed &+ 1, ordering: .releasing)
        return element
    }

    /// Takes up to `count` elements; returns how many there were. Zero, negative counts and nil take nothing. [audio]
    @inlinable public func read(into target: UnsafeMutablePointer<Element>?, count: Int) -> Int {
        guard let target, count > 0 else { return 0 }
        let consumed = header.consumed.pointee.load(ordering: .relaxed)
        var ready = header.knownWritten.pointee &- consumed
        if ready < count { ready = available }
        let taken = min(count, ready)
        let start = consumed & (capacity &- 1)
        let first = min(taken, capacity &- start)
        let stride = MemoryLayout<Element>.stride
        UnsafeMutableRawPointer(target).copyMemory(from: elements + start, byteCount: first &* stride)
        if first < taken {
            UnsafeMutableRawPointer(target + first).copyMemory(from: elements, byteCount: (taken &- first) &* stride)
        }
        header.consumed.pointee.store(consumed &+ taken, ordering: .releasing)
        return taken
    }

    /// Takes up to `count` elements unseen; returns how many there were. Zero and negative counts take nothing. [audio]
    @inlinable public func skip(_ count: Int) -> Int {
        guard count > 0 else { return 0 }
        let taken = min(count, available)
        header.consumed.pointee.store(header.consumed.pointee.load(ordering: .relaxed) &+ taken, ordering: .releasing)
        return taken
    }
}

// For use inside this module: in a debug build the compiler checks a generic function only where it sees its body,
// which is in this file and, as it is inlinable, in other modules.

extension RingWriter<UInt> {
    @_noLocks
    func append(_ element: UInt) -> Bool { push(element) }
}

extension RingWriter<UInt32> {
    /// All or nothing.
    @_noLocks
    func append(_ source: UnsafePointer<UInt32>, count: Int) -> Bool {
        space >= count && write(source, count: count) == count
    }
}
