// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Realtime
import Synchronization

/// Writes what it hears to a file, in a way that survives the death of the process.
final class Record: Node {
    static let descriptor = NodeDescriptor(
        "record", "records to a file",
        doc: """
            The suffix of `path` chooses the format: .wav (32-bit float), .flac (24 bits), .ogg. {date} and {time} in it \
            stand for the start of the recording. An existing file is kept: the new one is called NAME-2, NAME-3, ... \
            unless `overwrite` is set; one that is being recorded is kept even then. Publishes record.started, record.finished, record.dropped and record.failed.
            """,
        ports: Port.audio(VG_INPUT, channels: 1),
        settings: [
            Setting("path", VG_SET_STRING, "file to write; {date} and {time} are filled in", required: true),
            Setting("channels", VG_SET_INTEGER, "audio channels", default: "1", range: 1...64),
            Setting("overwrite", VG_SET_BOOL, "replaces an existing file", default: "false"),
        ],
        process: recordProcess)

    struct Processor: BitwiseCopyable {
        let writer: RingWriter<Float>
        /// One block, interleaved.
        let block: UnsafeMutablePointer<Float>
        /// Frames that found no room.
        let dropped: UnsafeMutablePointer<Atomic<Int>>
        let channels: Int
    }

    let layout: Layout
    private let host: NodeHost
    private let writer: FileWriter
    private let channels: Int
    private let dropped = UnsafeMutablePointer<Atomic<Int>>.allocate(capacity: 1)
    private var droppedTold = 0
    private var block: UnsafeMutablePointer<Float>?

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        self.host = host
        channels = settings.integer("channels") ?? 1
        dropped.initialize(to: Atomic(0))
        writer = try FileWriter(
            path: host.resolve(settings.string("path") ?? ""), channels: channels,
            overwrites: settings.bool("overwrite") ?? false, host: host)
        layout = Layout(ports: Port.audio(VG_INPUT, channels: channels))
    }

    deinit {
        writer.finish(dropped: dropped.pointee.load(ordering: .relaxed))
        block?.deallocate()
        dropped.deallocate()
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        let ring = try writer.prepare(
            rate: preparation.rate, maxBlock: preparation.maxBlock, dropped: dropped.pointee.load(ordering: .relaxed))
        block?.deallocate()
        let block = UnsafeMutablePointer<Float>.allocate(capacity: preparation.maxBlock * channels)
        block.initialize(repeating: 0, count: preparation.maxBlock * channels)
        self.block = block
        return Processor(writer: ring.writer, block: block, dropped: dropped, channels: channels)
    }

    func activate() { writer.start() }
    /// The file stays open, in case the graph goes on, but is complete on disk.
    func deactivate() { writer.settle() }

    func poll() {
        writer.wake()
        let count = dropped.pointee.load(ordering: .relaxed)
        if count > droppedTold {
            host.publish("record.dropped", [("frames", .integer(Int64(count - droppedTold)))])
            host.log(VG_LOG_WARNING, "\(count - droppedTold) frames were lost: the disk is too slow")
            droppedTold = count
        }
    }

    func wait(frames: Int) { writer.wait(frames: frames) }
}

@_noLocks
private func recordProcess(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let state = memory.assumingMemoryBound(to: Record.Processor.self)
    let channels = state.pointee.channels
    let block = state.pointee.block
    let frames = cycle.frames
    // A block is taken whole or not at all, so that channels never change places.
    if state.pointee.writer.space < frames * channels {
        state.pointee.dropped.pointee.add(frames, ordering: .relaxed)
        return
    }
    for channel in 0..<io.inputCount {
        let input = io.input(channel)
        for frame in 0..<frames { block[frame * channels + channel] = input[frame] }
    }
    _ = state.pointee.writer.write(block, count: frames * channels)
}

/// What the host looks for in the shared object. [control]
@c(vg_plugin_entry) public func pluginEntry(_ hostABI: UInt32) -> UnsafePointer<vg_plugin>? {
    exportPlugin(Record.self, name: "record", version: "1.0", license: "Apache-2.0", hostABI: hostABI)
}
