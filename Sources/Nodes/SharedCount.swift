// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A number that a processor writes and its control half reads; plain data for the processor, memory owned here.
final class SharedCount: @unchecked Sendable {
    // Sendable: the memory is one atomic.

    /// For the processor: valid as long as this object.
    let cell: UnsafeMutablePointer<Atomic<Int>>

    init(_ value: Int = 0) {
        cell = .allocate(capacity: 1)
        cell.initialize(to: Atomic(value))
    }

    deinit {
        cell.deinitialize(count: 1)
        cell.deallocate()
    }

    /// The newest value. [any]
    var value: Int {
        get { cell.pointee.load(ordering: .acquiring) }
        set { cell.pointee.store(newValue, ordering: .releasing) }
    }
}
