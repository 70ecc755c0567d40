// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Realtime
import Synchronization

/// Audio on its way from a client to a processor, at the graph's rate: what waits is held until there is enough of it, played
/// without a gap, and faded where it ends. Made anew whenever rate or block size change.
final class InputPipe: @unchecked Sendable {
    // Sendable: the two threads meet in a ring and atomics only.

    /// The processor's end.
    let player: InputPlayer
    let channels: Int
    /// Of the graph, in Hz.
    let rate: Double
    /// Seconds of the longest block.
    let block: Double

    private let exchange = Shared(InputPlayer.Exchange())
    private let taken: AudioArrayMemory<Float>
    private let curve: AudioArrayMemory<Float>
    private let ring: Ring<Float>
    private let clock: WebClock

    /// Seconds in which what ends falls, and what begins rises.
    static let fade = 0.005

    /// Makes an empty pipe that holds a second and more. [control]
    init(channels: Int, preparation: Preparation, clock: WebClock) {
        self.channels = channels
        self.clock = clock
        rate = preparation.rate
        block = Double(preparation.maxBlock) / rate
        ring = Ring(minimumCapacity: (Int(1.2 * rate) + 2 * preparation.maxBlock) * channels)
        taken = AudioArrayMemory(repeating: 0, count: max(1, preparation.maxBlock) * channels)
        curve = AudioArrayMemory(InputPlayer.fade(frames: max(1, Int(rate * Self.fade))))
        player = InputPlayer(
            reader: ring.reader, exchange.cell, taken: taken.array, curve: curve.array, channels: channels, rate: rate,
            clock: clock.reading)
    }

    // By the thread of the client, or with the lock of the endpoint.

    /// Frames that wait.
    var waiting: Int { (ring.writer.total - ring.reader.total) / channels }

    /// Adds as many whole frames as fit; how many.
    func write(_ samples: UnsafePointer<Float>, frames: Int) -> Int {
        let room = min(frames, ring.writer.space / channels)
        return ring.writer.write(samples, count: room * channels) / channels
    }

    /// Seconds that a frame which is written now waits until it is heard, to a fraction of a block; nil: nothing is heard
    /// now.
    var delay: Double? {
        let anchor = exchange.value.anchor.load(ordering: .acquiring)
        guard anchor != InputPlayer.stands else { return nil }
        // What was heard up to now, as if it were taken frame by frame.
        let heard = (clock.seconds - Double(anchor) * 1e-9) * rate
        let ahead = Double(ring.writer.total / channels) - heard
        let waiting = Double(waiting)
        return min(max(ahead, waiting), waiting + block * rate) / rate
    }

    /// Frames that must wait before anything is played.
    func setTarget(_ frames: Int) { exchange.value.target.store(frames, ordering: .releasing) }

    /// Whether somebody writes: otherwise it is no fault that nothing comes.
    func setOpen(_ isOpen: Bool) { exchange.value.isOpen.store(isOpen, ordering: .releasing) }

    /// Drops the oldest but the newest `count` frames, with a fade; how many.
    func drop(keeping count: Int) -> Int {
        let limit = ring.writer.total / channels - count
        let stale =
            limit - max(ring.reader.total / channels, exchange.value.staleBefore.load(ordering: .relaxed))
        guard stale > 0 else { return 0 }
        exchange.value.staleBefore.store(limit, ordering: .releasing)
        return stale
    }

    /// How often nothing was there when it was to be heard.
    var underruns: Int { exchange.value.underruns.load(ordering: .relaxed) }
    /// The first frame of the graph that was not processed yet.
    var position: UInt64 { exchange.value.position.load(ordering: .relaxed) }
    /// Whether it is heard.
    var isPlaying: Bool { exchange.value.anchor.load(ordering: .relaxed) != InputPlayer.stands }
}
