// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Synchronization

/// The time by which streams are measured: the system's, or one that its owner moves.
final class WebClock: @unchecked Sendable {
    // Sendable: the memory is one atomic.

    /// The system's clock that only goes forward.
    static let system = WebClock(cell: nil)

    private let cell: UnsafeMutablePointer<Atomic<UInt64>>?

    private init(cell: UnsafeMutablePointer<Atomic<UInt64>>?) { self.cell = cell }

    /// A clock that stands until `advance` is called. [control]
    convenience init(at nanoseconds: UInt64) {
        let cell = UnsafeMutablePointer<Atomic<UInt64>>.allocate(capacity: 1)
        cell.initialize(to: Atomic(nanoseconds))
        self.init(cell: cell)
    }

    deinit {
        cell?.deinitialize(count: 1)
        cell?.deallocate()
    }

    /// Moves a clock that stands. [any]
    func advance(to nanoseconds: UInt64) { cell?.pointee.store(nanoseconds, ordering: .releasing) }

    /// The same for a processor, as long as this object lives.
    var reading: WebClockReading { WebClockReading(cell: cell) }

    /// Since an arbitrary start. [any]
    var seconds: Double { Double(reading.nanoseconds) * 1e-9 }
}

/// A clock as a processor reads it.
struct WebClockReading: BitwiseCopyable {
    fileprivate let cell: UnsafeMutablePointer<Atomic<UInt64>>?

    /// Since an arbitrary start. [audio]
    var nanoseconds: UInt64 {
        @_noLocks get {
            if let cell { return cell.pointee.load(ordering: .acquiring) }
            return vg_nanoseconds()
        }
    }
}
