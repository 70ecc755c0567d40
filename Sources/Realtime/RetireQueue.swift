// SPDX-License-Identifier: Apache-2.0

/// The way back for what the audio thread has finished with, so that the control side frees it.
///
/// Nothing is ever freed on the audio thread and nothing is lost: with the queue full, the audio thread's end keeps the
/// pointer and offers it again. So that it never has to keep more than one, it takes something new only while it keeps
/// nothing:
///
///     // [audio], once per block
///     if retirer.flush(), let next = handover.take() {
///         retirer.retire(schedule)
///         schedule = next
///     }
///     // [control], now and then, and once more after the last block
///     queue.drain { pointer in if let pointer = UnsafeMutableRawPointer(bitPattern: pointer) { free(pointer) } }
public final class RetireQueue: @unchecked Sendable {
    // Sendable: the ring's ends meet in its atomics.

    private let ring: Ring<UInt>

    /// Makes a queue for at least `capacity` pointers. [control]
    public init(capacity: Int = 64) { ring = Ring(minimumCapacity: capacity) }

    /// The audio thread's end: plain data, one at a time. The queue must outlive it. [control]
    public var retirer: Retirer { Retirer(writer: ring.writer) }

    /// Hands each waiting pointer to `free`, oldest first; returns how many. A pointer that the audio thread still
    /// keeps (see `Retirer.kept`) is not among them. [control]
    @discardableResult
    public func drain(_ free: (UnsafeMutableRawPointer) -> Void) -> Int {
        var count = 0
        while let bits = ring.reader.pop(), let pointer = UnsafeMutableRawPointer(bitPattern: bits) {
            free(pointer)
            count += 1
        }
        return count
    }
}

/// The audio thread's end of a retire queue.
public struct Retirer: BitwiseCopyable {
    private let writer: RingWriter<UInt>
    /// What found the queue full; nil when nothing waits. After the last block the control side frees it itself.
    public private(set) var kept: UnsafeMutableRawPointer?

    init(writer: RingWriter<UInt>) { self.writer = writer }

    /// Offers what is kept again; true when nothing is kept any more. [audio]
    @_noLocks
    public mutating func flush() -> Bool {
        guard let pointer = kept else { return true }
        guard writer.append(UInt(bitPattern: pointer)) else { return false }
        kept = nil
        return true
    }

    /// Gives `pointer` away for good. Call it only after `flush` returned true: it keeps one pointer, and traps rather
    /// than lose a second. [audio]
    @_noLocks
    public mutating func retire(_ pointer: UnsafeMutableRawPointer) {
        precondition(kept == nil, "retire without flush")
        if !writer.append(UInt(bitPattern: pointer)) { kept = pointer }
    }
}
