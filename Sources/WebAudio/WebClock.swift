// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Synchronization

/// The time by which streams are measured: the system's, or one that its owner moves.
final class WebClock: Sendable {
    /// The system's clock that only goes forward.
    static let system = WebClock(nil)

    private let time: Shared<Atomic<UInt64>>?

    private init(_ time: Shared<Atomic<UInt64>>?) { self.time = time }

    /// A clock that stands until `advance` is called. [control]
    convenience init(at nanoseconds: UInt64) { self.init(Shared(Atomic(nanoseconds))) }

    /// Moves a clock that stands. [any]
    func advance(to nanoseconds: UInt64) { time?.value.store(nanoseconds, ordering: .releasing) }

    /// The same for a processor, as long as this object lives.
    var reading: WebClockReading { WebClockReading(cell: time?.cell) }

    /// Since an arbitrary start. [any]
    var seconds: Double { Double(reading.nanoseconds) * 1e-9 }
}

/// A clock as a processor reads it.
struct WebClockReading: BitwiseCopyable {
    fileprivate let cell: SharedCell<Atomic<UInt64>>?

    /// Since an arbitrary start. [audio]
    var nanoseconds: UInt64 {
        @_noLocks get {
            if let cell { return cell.value.load(ordering: .acquiring) }
            return vg_nanoseconds()
        }
    }
}
