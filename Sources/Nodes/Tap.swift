// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Realtime
import Synchronization
import System

/// Lets audio through unchanged and publishes it for consumers outside the graph: recorders, transcribers, pictures.
///
/// Blocks travel through a ring that `poll` empties into "audio" events. A block that does not fit is left out as a
/// whole and counted; "tap.dropped" then says how many frames, and the positions of the audio events show where.
/// Offline nothing is dropped: the ring is emptied before each block.
final class Tap: Node {
    static let calls: NodeCalls = [.poll, .wait]
    static let descriptor = NodeDescriptor(
        "tap", "lets audio through and publishes it for recorders, transcribers and the like",
        doc: "Publishes \"audio\" events, and \"tap.dropped\" with the frames lost when nobody took them in time.",
        ports: Layout.unchanged(channels: 1).ports,
        settings: [
            .channels(),
            Setting(
                "buffer", VG_SET_NUMBER, "audio held until it is taken", default: "2.0", range: 0.05...60, unit: "s"),
        ],
        flags: VG_IN_PLACE, process: tapProcess)

    /// Announces one block in the ring of samples: channel after channel, `frames` each.
    struct Block: BitwiseCopyable {
        var position: UInt64
        var frames: Int
    }

    struct Processor: BitwiseCopyable {
        var samples: RingWriter<Float>
        var blocks: RingWriter<Block>
        /// Frames that did not fit.
        var dropped: UnsafeMutablePointer<Atomic<Int>>
    }

    let layout: Layout
    private let host: NodeHost
    private let channels: Int
    private let buffer: Double
    private let dropped = SharedCount()
    /// Guarded because `wait` and `poll` may come from two threads.
    private let drain = Lock<TapDrain?>(nil)

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        self.host = host
        channels = try settings.channels()
        buffer = try settings.finite("buffer", default: 2, in: 0.05...60)
        layout = .unchanged(channels: channels)
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        let frames = max(Int(buffer * preparation.rate), 2 * preparation.maxBlock)
        let samples = Ring<Float>(minimumCapacity: frames * channels)
        let blocks = Ring<Block>(minimumCapacity: frames / 16 + 64)
        let (count, longest, rate) = (channels, preparation.maxBlock, preparation.rate)
        drain.withLock {
            $0 = TapDrain(samples: samples, blocks: blocks, channels: count, longestBlock: longest, rate: rate)
        }
        dropped.value = 0
        return Processor(samples: samples.writer, blocks: blocks.writer, dropped: dropped.cell)
    }

    func poll() { drain.withLock { $0?.publish(to: host, dropped: dropped.value) } }

    func wait(frames: Int) { poll() }

    /// What is still in the ring goes out before the node falls silent.
    func deactivate() { poll() }
}

/// The control half's end of the two rings.
struct TapDrain: ~Copyable {
    private let samples: Ring<Float>
    private let blocks: Ring<Tap.Block>
    private let channels: Int
    private let rate: Double
    private let capacity: Int
    /// One event's audio: channel c starts at `c * capacity`.
    private let audio: UnsafeMutablePointer<Float>
    private let pointers: UnsafeMutablePointer<UnsafePointer<Float>?>
    private var held = 0
    private var position: UInt64 = 0
    private var reported = 0

    init(samples: Ring<Float>, blocks: Ring<Tap.Block>, channels: Int, longestBlock: Int, rate: Double) {
        self.samples = samples
        self.blocks = blocks
        self.channels = channels
        self.rate = rate
        // Short blocks go out together: fewer events for the same audio.
        capacity = max(longestBlock, 4096)
        audio = .allocate(capacity: capacity * channels)
        pointers = .allocate(capacity: channels)
        for channel in 0..<channels { (pointers + channel).initialize(to: UnsafePointer(audio + channel * capacity)) }
    }

    deinit {
        audio.deallocate()
        pointers.deallocate()
    }

    /// Publishes everything in the rings, and how many frames were lost since the last time.
    mutating func publish(to host: NodeHost, dropped: Int) {
        while let block = blocks.reader.pop() {
            if held > 0, held + block.frames > capacity || block.position != position + UInt64(held) { flush(to: host) }
            if held == 0 { position = block.position }
            for channel in 0..<channels {
                _ = samples.reader.read(into: audio + channel * capacity + held, count: block.frames)
            }
            held += block.frames
        }
        flush(to: host)
        if dropped != reported {
            host.publish(
                "tap.dropped", [("frames", .integer(Int64(dropped - reported))), ("total", .integer(Int64(dropped)))])
            reported = dropped
        }
    }

    private mutating func flush(to host: NodeHost) {
        if held == 0 { return }
        host.publish(
            audio: vg_audio(
                channels: UInt32(channels), frames: UInt32(held), samples: UnsafePointer(pointers), rate: rate,
                position: position))
        held = 0
    }
}

@_noLocks
private func tapProcess(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let state = memory.assumingMemoryBound(to: Tap.Processor.self)
    let (frames, channels) = (cycle.frames, io.inputCount)
    if state.pointee.samples.space >= frames * channels, state.pointee.blocks.space > 0 {
        for channel in 0..<channels { _ = state.pointee.samples.write(io.input(channel), count: frames) }
        _ = state.pointee.blocks.push(Tap.Block(position: cycle.pointee.position, frames: frames))
    } else {
        state.pointee.dropped.pointee.wrappingAdd(frames, ordering: .releasing)
    }
    passThrough(io, frames)
}

/// Copies every input to its output, with its silence flag. [audio]
@_noLocks
func passThrough(_ io: BlockIO, _ frames: Int) {
    for channel in 0..<io.outputCount {
        vg_copy(io.output(channel), io.input(channel), UInt32(frames))
        if io.isSilent(input: channel) { io.markSilent(output: channel) }
    }
}
