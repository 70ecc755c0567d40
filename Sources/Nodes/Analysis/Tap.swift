// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Lets audio through unchanged and publishes it for consumers outside the graph: recorders, transcribers, pictures.
///
/// A block that does not fit into the pipe is left out as a whole and counted; "tap.dropped" then says how many frames,
/// and the positions of the audio show where. Offline nothing is dropped: the pipe is emptied before each block.
final class Tap: AudioNode {
    static let calls: NodeCalls = [.poll, .wait]
    static let descriptor = NodeDescriptor(
        "tap", "lets audio through and publishes it for recorders, transcribers and the like",
        doc: "Short blocks go out together: nobody gets more than about 120 pieces of audio a second.",
        ports: Layout.unchanged(channels: 1).ports,
        settings: [channels, buffer],
        events: [
            EventType(
                "tap.dropped", "audio was lost, because nobody took it in time",
                fields: [
                    Field("frames", VG_INTEGER, "since the last time", unit: "frames"),
                    Field("total", VG_INTEGER, "since the start", unit: "frames"),
                ], kind: .loss, says: "{frames:frame} lost: nobody took them in time")
        ],
        flags: VG_IN_PLACE, process: { Tap.process($0, $1, $2) })

    private static let channels = Key.channels()
    private static let buffer = Key.number(
        "buffer", "audio held until it is taken", default: 2, in: 0.05...60, unit: "s")

    struct Processor: BitwiseCopyable {
        var pipe: CapturePipe.Writer
    }

    let layout: Layout
    private let host: NodeHost
    private let channels: Int
    private let buffer: Double
    private var rate = 0.0
    private var pipe: CapturePipe?

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        self.host = host
        channels = try settings[Self.channels]
        buffer = try settings[Self.buffer]
        layout = .unchanged(channels: channels)
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        rate = preparation.rate
        let pipe = CapturePipe(channels: channels, frames: Int(buffer * rate), maxBlock: preparation.maxBlock)
        self.pipe = pipe
        return Processor(pipe: pipe.writer)
    }

    func poll() {
        guard let pipe else { return }
        while let audio = pipe.take() {
            host.publish(
                audio: vg_audio(
                    size: UInt32(MemoryLayout<vg_audio>.size), channels: UInt32(channels), frames: UInt32(audio.frames),
                    samples: audio.channels, rate: rate, position: audio.position, frame: audio.position,
                    time: audio.time))
        }
        let dropped = pipe.takeDropped()
        if dropped > 0 {
            host.count("dropped", dropped)
            host.publish(
                "tap.dropped", [("frames", .integer(Int64(dropped))), ("total", .integer(Int64(pipe.dropped)))])
        }
    }

    func wait(frames: Int) { poll() }

    /// What is still in the pipe goes out before the node falls silent.
    func deactivate() { poll() }
}

extension Tap {
    @_noLocks
    static func process(_ state: inout Processor, _ block: borrowing Block) {
        state.pipe.write(block)
        block.pass()
    }
}
