// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Gives out what is recorded, without the pauses, as the file gets it, in blocks of one length, to whoever subscribes to the
/// audio of the node; what is left before a break is a shorter one. By whoever has the file.
final class TakeAudio {
    private let block: Int
    private let host: NodeHost
    /// Interleaved frames that wait for a whole block.
    private var waiting: [Float] = []
    private var planar: [Float] = []
    private var (channels, rate) = (1, 48_000.0)
    /// The frame of the recording that comes next.
    private var frame: UInt64 = 0
    /// Of the first frame of the audio that comes next: where it is in the graph, when it came, and Hz there.
    private var next = Moment()

    private struct Moment {
        var position: UInt64 = 0
        /// Nanoseconds; 0: unknown.
        var time: UInt64 = 0
        var rate = 48_000.0

        /// So many seconds later, or before that.
        func moved(_ seconds: Double) -> Moment {
            Moment(
                position: UInt64(max(0, Double(position) + (seconds * rate).rounded())),
                time: time == 0 ? 0 : UInt64(max(0, Double(time) + seconds * 1e9)), rate: rate)
        }
    }

    init(block: Int, host: NodeHost) {
        self.block = block
        self.host = host
    }

    /// A recording begins.
    func begin() {
        waiting = []
        frame = 0
    }

    /// What comes next is from there; 0: not known.
    func at(_ position: UInt64, _ time: UInt64, rate: Double) {
        next = Moment(position: position, time: time, rate: rate)
    }

    /// Takes interleaved frames of the file.
    func add(_ samples: UnsafePointer<Float>, _ frames: Int, channels: Int, rate: Double) {
        if channels != self.channels || rate != self.rate { flush() }
        (self.channels, self.rate) = (channels, rate)
        var first = next.moved(-Double(waiting.count / channels) / rate)
        waiting += UnsafeBufferPointer(start: samples, count: frames * channels)
        var done = 0
        while waiting.count / channels - done >= block {
            publish(from: done, block, first)
            first = first.moved(Double(block) / rate)
            done += block
        }
        waiting.removeFirst(done * channels)
        next = next.moved(Double(frames) / rate)
    }

    /// Gives out what waits.
    func flush() {
        let rest = waiting.count / channels
        if rest > 0 { publish(from: 0, rest, next.moved(-Double(rest) / rate)) }
        waiting = []
    }

    private func publish(from start: Int, _ frames: Int, _ moment: Moment) {
        planar.removeAll(keepingCapacity: true)
        for channel in 0..<channels {
            for frame in start..<(start + frames) { planar.append(waiting[frame * channels + channel]) }
        }
        planar.withUnsafeBufferPointer { planar in
            let starts = (0..<channels).map { channel in planar.baseAddress.map { $0 + channel * frames } }
            starts.withUnsafeBufferPointer { starts in
                host.publish(
                    audio: vg_audio(
                        size: UInt32(MemoryLayout<vg_audio>.size), channels: UInt32(channels), frames: UInt32(frames),
                        samples: starts.baseAddress, rate: rate, position: moment.position, frame: frame,
                        time: moment.time))
            }
        }
        frame += UInt64(frames)
    }
}
