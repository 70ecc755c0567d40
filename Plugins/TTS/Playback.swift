// SPDX-License-Identifier: GPL-3.0-or-later
import NodeKit
import Realtime
import Synchronization

/// Where in the output a run of samples begins: sample `index` of the ring was heard at frame `position`.
struct Segment: BitwiseCopyable {
    var index: Int
    var position: UInt64
}

/// The audio half: plays what is in the ring, drops what became stale, with a short fade.
struct Player: BitwiseCopyable {
    struct State: BitwiseCopyable {
        /// Samples of the fade, and how many of them were played.
        var fadeCount = 0
        var fadePosition = 0
        /// Whether the newest frame came from the ring.
        var playing = false
        /// Position minus index of the newest segment.
        var offset = Int.min
    }

    let reader: RingReader<Float>
    let segments: RingWriter<Segment>
    /// Samples before this index are stale; Int.max: all that were written so far.
    let staleBefore: UnsafeMutablePointer<Atomic<Int>>
    let state: UnsafeMutablePointer<State>
    let fade: UnsafeMutablePointer<Float>
    let fadeFrames: Int

    /// Removes stale samples; the first of them become the fade if they would have been heard next. Only on the
    /// thread that processes, or offline between two blocks. [audio]
    @_noLocks
    func dropStale() {
        // In this order: what was counted before the limit was read cannot be newer than the limit allows.
        let ready = reader.available
        let limit = staleBefore.pointee.load(ordering: .acquiring)
        let stale = min(ready, limit - reader.total)
        if stale <= 0 { return }
        var left = stale
        if state.pointee.playing, state.pointee.fadePosition >= state.pointee.fadeCount {
            let count = reader.read(into: fade, count: min(fadeFrames, left))
            for index in 0..<count { fade[index] *= Float(fadeFrames - index) / Float(fadeFrames + 1) }
            state.pointee.fadeCount = count
            state.pointee.fadePosition = 0
            left -= count
        }
        _ = reader.skip(left)
        state.pointee.playing = false
    }

    /// Writes one block. [audio]
    @_noLocks
    func play(_ output: UnsafeMutablePointer<Float>, _ frames: Int, _ position: UInt64) -> Bool {
        dropStale()
        var done = 0
        while done < frames, state.pointee.fadePosition < state.pointee.fadeCount {
            output[done] = fade[state.pointee.fadePosition]
            state.pointee.fadePosition += 1
            done += 1
        }
        let start = reader.total
        let count = min(frames - done, reader.available)
        if count > 0 {
            // Told before it is taken: who sees that a sample was played knows where.
            let at = position + UInt64(done)
            if Int(at) - start != state.pointee.offset {
                state.pointee.offset = Int(at) - start
                _ = segments.push(Segment(index: start, position: at))
            }
            _ = reader.read(into: output + done, count: count)
        }
        if done < frames { state.pointee.playing = count == frames - done }
        done += count
        if done < frames { vg_zero(output + done, UInt32(frames - done)) }
        return done > 0
    }
}

/// The memory of a player, for one sample rate.
final class Playback: @unchecked Sendable {
    // Sendable: worker and audio thread meet in rings and atomics only.
    let rate: Double
    let ring: Ring<Float>
    let segments = Ring<Segment>(minimumCapacity: 1024)
    let player: Player

    init(rate: Double, maxBlock: Int) {
        self.rate = rate
        ring = Ring(minimumCapacity: max(65536, 4 * maxBlock))
        let fadeFrames = max(1, Int(rate * 0.005))
        let stale = UnsafeMutablePointer<Atomic<Int>>.allocate(capacity: 1)
        stale.initialize(to: Atomic(0))
        let state = UnsafeMutablePointer<Player.State>.allocate(capacity: 1)
        state.initialize(to: Player.State())
        let fade = UnsafeMutablePointer<Float>.allocate(capacity: fadeFrames)
        fade.initialize(repeating: 0, count: fadeFrames)
        player = Player(
            reader: ring.reader, segments: segments.writer, staleBefore: stale, state: state, fade: fade,
            fadeFrames: fadeFrames)
    }

    deinit {
        player.fade.deallocate()
        player.state.deallocate()
        player.staleBefore.deallocate()
    }

    /// Makes samples before `index` stale. [any]
    func setStale(before index: Int) { player.staleBefore.pointee.store(index, ordering: .releasing) }

    /// Samples played or dropped so far; where they were played is in `segments` already. [any]
    var consumed: Int {
        let total = ring.reader.total
        atomicMemoryFence(ordering: .acquiring)
        return total
    }
}

/// Where samples of the ring were heard, as far as it still matters. Under the speaker's lock.
struct HeardSegments {
    /// Silence in the midst of a speech, because the voice was not made in time.
    struct Gap: Equatable {
        var position: UInt64
        var frames: Int
    }

    private var segments: [Segment] = []

    /// Adds the next; `isStart` says whether a speech begins there, and no gap comes before it.
    mutating func add(_ segment: Segment, isStart: Bool) -> Gap? {
        defer { segments.append(segment) }
        guard let last = segments.last, !isStart else { return nil }
        let due = last.position + UInt64(segment.index - last.index)
        return Gap(position: due, frames: Int(segment.position - due))
    }

    /// The frame at which a sample was heard.
    func position(of index: Int) -> UInt64 {
        guard let segment = segments.last(where: { $0.index <= index }) ?? segments.first else { return 0 }
        return UInt64(max(0, Int(segment.position) + index - segment.index))
    }

    /// Nobody asks for samples before `index` any more; nil: for none that was heard.
    mutating func forget(before index: Int?) {
        if let last = segments.last, segments.count > 1, index.map({ $0 >= last.index }) ?? true { segments = [last] }
    }

    /// Begins with another ring.
    mutating func forget() { segments = [] }
}
