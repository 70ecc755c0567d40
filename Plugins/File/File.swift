// SPDX-License-Identifier: Apache-2.0
import CSndfile
import NodeKit
import Realtime
import Resampling

/// Plays an audio file of any format that libsndfile reads, at the graph's rate.
final class File: Node {
    static let descriptor = NodeDescriptor(
        "file", "plays an audio file",
        doc: """
            Has as many outputs as the file has channels. A file at the graph's own rate is passed bit for bit, others \
            are resampled. Publishes file.started and file.finished.
            """,
        ports: Port.audio(VG_OUTPUT, channels: 1),
        settings: [
            Setting("path", VG_SET_PATH, "what to play: WAV, FLAC, OGG, MP3, AIFF, ...", required: true),
            Setting("loop", VG_SET_BOOL, "starts again at the end", default: "false"),
        ],
        process: fileProcess)

    struct Processor: BitwiseCopyable {
        let reader: RingReader<Float>
        /// One block, interleaved.
        let block: UnsafeMutablePointer<Float>
        let channels: Int
    }

    let layout: Layout
    private let host: NodeHost
    private let reader: FileReader
    private var worker: Worker?
    private var block: UnsafeMutablePointer<Float>?
    private var told = (started: false, finished: false)

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        self.host = host
        let path = host.resolve(settings.string("path") ?? "")
        reader = try FileReader(path: path, loops: settings.bool("loop") ?? false)
        layout = Layout(ports: Port.audio(VG_OUTPUT, channels: reader.channels))
    }

    deinit {
        reader.end()
        worker?.join()
        block?.deallocate()
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        reader.end()
        worker?.join()
        let ring = try reader.prepare(rate: preparation.rate, maxBlock: preparation.maxBlock)
        block?.deallocate()
        let block = UnsafeMutablePointer<Float>.allocate(capacity: preparation.maxBlock * reader.channels)
        block.initialize(repeating: 0, count: preparation.maxBlock * reader.channels)
        self.block = block
        worker = try Worker { [reader] in reader.run() }
        return Processor(reader: ring.reader, block: block, channels: reader.channels)
    }

    func poll() {
        reader.poll()
        if !told.started, reader.framesPlayed > 0 {
            told.started = true
            host.publish("file.started", [("path", .string(reader.path))])
        }
        if let problem = reader.takeProblem() { host.log(VG_LOG_ERROR, problem) }
        if !told.finished, reader.isFinished {
            told.finished = true
            host.publish(
                "file.finished",
                [("path", .string(reader.path)), ("frames", .integer(Int64(reader.framesPlayed)))])
        }
    }

    func wait(frames: Int) { reader.wait(frames: frames) }
    /// A file in a loop has no end of its own, so it does not keep a graph alive.
    var isIdle: Bool { reader.loops || (reader.isFinished && told.finished) }
}

@_noLocks
private func fileProcess(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let state = memory.assumingMemoryBound(to: File.Processor.self)
    let channels = state.pointee.channels
    let block = state.pointee.block
    // Whole frames only: the worker never writes less.
    let frames = state.pointee.reader.read(into: block, count: cycle.frames * channels) / channels
    for channel in 0..<io.outputCount {
        let output = io.output(channel)
        for frame in 0..<frames { output[frame] = block[frame * channels + channel] }
        if frames < cycle.frames { vg_zero(output + frames, UInt32(cycle.frames - frames)) }
        if frames == 0 { io.markSilent(output: channel) }
    }
}

/// What the host looks for in the shared object. [control]
@c(vg_plugin_entry) public func pluginEntry(_ hostABI: UInt32) -> UnsafePointer<vg_plugin>? {
    exportPlugin(File.self, name: "file", version: "1.0", license: "Apache-2.0", hostABI: hostABI)
}
