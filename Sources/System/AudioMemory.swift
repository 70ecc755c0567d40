// SPDX-License-Identifier: Apache-2.0

/// Memory that the audio thread reaches in every cycle, side by side in the order in which nodes are made: a large graph
/// touches few pages. Each piece begins at a cache line of its own, so that threads that share a cycle do not disturb
/// each other.
public enum AudioMemory {
    private static let cacheLine = 64
    /// Larger pieces are no slots; they are allocated one by one.
    private static let largestSlot = 1024
    private static let slots = 64

    /// Addresses of slots that nobody uses, by their size. What is given back stays here for the next.
    private static let unused = Lock<[Int: [UInt]]>([:])

    /// Memory for so many values, not initialized; for none, an address that nothing may be read from. [control]
    public static func make<T: ~Copyable>(_ type: T.Type = T.self, count: Int = 1) -> UnsafeMutablePointer<T> {
        let size = slot(type, count)
        if size == 0 { return UnsafeMutablePointer(bitPattern: cacheLine).unsafelyUnwrapped }
        guard size <= largestSlot else { return allocate(size).bindMemory(to: T.self, capacity: count) }
        let address = unused.withLock { unused -> UInt in
            if let address = unused[size]?.popLast() { return address }
            let first = UInt(bitPattern: allocate(size * slots))
            // The last is taken first.
            unused[size, default: []] += (1..<slots).reversed().map { first + UInt($0 * size) }
            return first
        }
        return UnsafeMutableRawPointer(bitPattern: address).unsafelyUnwrapped.bindMemory(to: T.self, capacity: count)
    }

    /// Takes back what `make` gave for so many values, which are not initialized any more. [control]
    public static func free<T: ~Copyable>(_ pointer: UnsafeMutablePointer<T>, count: Int = 1) {
        let size = slot(T.self, count)
        if size == 0 { return }
        if size > largestSlot { return pointer.deallocate() }
        let address = UInt(bitPattern: pointer)
        unused.withLock { $0[size, default: []].append(address) }
    }

    private static func slot<T: ~Copyable>(_ type: T.Type, _ count: Int) -> Int {
        (MemoryLayout<T>.stride * count + cacheLine - 1) / cacheLine * cacheLine
    }

    private static func allocate(_ bytes: Int) -> UnsafeMutableRawPointer {
        .allocate(byteCount: bytes, alignment: cacheLine)
    }
}
