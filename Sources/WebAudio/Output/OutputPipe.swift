// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Realtime
import Synchronization

/// Audio on its way from a processor to listeners, at the graph's rate: a ring for each. Made anew whenever rate or block
/// size change.
final class OutputPipe: @unchecked Sendable {
    // Sendable: what is not an atomic is reached with the lock of the endpoint only.

    /// The processor's end.
    let feed: OutputFeed
    let channels: Int
    /// Of the graph, in Hz.
    let rate: Double
    /// Seconds of the longest block.
    let block: Double

    /// By slot; kept for the next listener, since the processor may be writing still when one leaves.
    private var places: [(ring: Ring<Float>, dropped: Shared<Atomic<Int>>)?]
    private let slots = AudioArrayMemory<OutputFeed.Slot?>(repeating: nil, count: OutputFeed.slots)
    private let exchange = Shared(OutputFeed.Exchange())
    private let given: AudioArrayMemory<Float>
    private let clock: WebClock
    private let capacity: Int

    /// Makes a pipe without listeners, each of which may leave half a second unread. [control]
    init(channels: Int, preparation: Preparation, clock: WebClock) {
        self.channels = channels
        self.clock = clock
        rate = preparation.rate
        block = Double(preparation.maxBlock) / rate
        capacity = (Int(rate / 2) + 2 * preparation.maxBlock) * channels
        places = Array(repeating: nil, count: OutputFeed.slots)
        given = AudioArrayMemory(repeating: 0, count: max(1, preparation.maxBlock) * channels)
        feed = OutputFeed(
            shared: exchange.cell, slots: slots.array, given: given.array, channels: channels, rate: rate,
            clock: clock.reading)
    }

    /// Where a slot's audio is read, from now on; with the lock of the endpoint.
    func open(_ slot: Int) -> OutputReader {
        let place = places[slot] ?? (Ring(minimumCapacity: capacity), Shared(Atomic(0)))
        if places[slot] == nil {
            places[slot] = place
            slots.array[slot] = OutputFeed.Slot(writer: place.ring.writer, dropped: place.dropped.cell)
        }
        // What the listener before left.
        _ = place.ring.reader.skip(place.ring.reader.available)
        _ = exchange.value.open.bitwiseOr(1 << UInt(slot), ordering: .acquiringAndReleasing)
        return OutputReader(ring: place.ring, dropped: place.dropped, channels: channels)
    }

    /// Nobody listens there any more; with the lock of the endpoint.
    func close(_ slot: Int) {
        _ = exchange.value.open.bitwiseAnd(~(1 << UInt(slot)), ordering: .acquiringAndReleasing)
    }

    /// Frames that the graph has given by now, as if it gave them one by one.
    var played: Double {
        (clock.seconds - Double(exchange.value.anchor.load(ordering: .relaxed)) * 1e-9) * rate
    }

    /// The first frame of the graph that was not processed yet.
    var position: UInt64 { exchange.value.position.load(ordering: .relaxed) }
}

/// One listener's end of an `OutputPipe`. The pipe must outlive it. By one thread at a time.
struct OutputReader {
    private let ring: Ring<Float>
    private let droppedCount: Shared<Atomic<Int>>
    private var droppedTold: Int
    private let channels: Int

    fileprivate init(ring: Ring<Float>, dropped: Shared<Atomic<Int>>, channels: Int) {
        self.ring = ring
        self.channels = channels
        droppedCount = dropped
        droppedTold = dropped.value.load(ordering: .relaxed)
    }

    /// Frames that can be read.
    var waiting: Int { ring.reader.available / channels }

    /// Frames that did not fit, since the last call.
    mutating func takeDropped() -> Int {
        let total = droppedCount.value.load(ordering: .relaxed)
        defer { droppedTold = total }
        return total - droppedTold
    }

    /// Takes up to `frames` interleaved frames; how many there were.
    func read(into target: UnsafeMutablePointer<Float>, frames: Int) -> Int {
        ring.reader.read(into: target, count: min(frames, waiting) * channels) / channels
    }

    /// Drops the oldest; how many.
    func skip(_ frames: Int) -> Int { ring.reader.skip(min(frames, waiting) * channels) / channels }
}
