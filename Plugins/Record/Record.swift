// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Writes what it hears to a file, in a way that survives the death of the process.
final class Record: Node {
    static let calls: NodeCalls = [.poll, .wait, .perform, .finish]
    static let descriptor = NodeDescriptor(
        "record", "records to a file",
        doc: """
            The suffix of `path` chooses the format: .wav (32-bit float, RF64 beyond 4 GiB), .flac (24 bits), .ogg. \
            {date} and {time} in it stand for the start of the recording. What is beyond full scale is clipped in integer \
            formats, and that is counted and told. An existing file is kept: the new one is called NAME-2, NAME-3, ... \
            unless `overwrite` is set; one that is being recorded is kept even then.
            """,
        ports: Port.audio(VG_INPUT, channels: 1),
        settings: [
            Setting("path", VG_SET_STRING, "file to write; {date} and {time} are filled in", required: true),
            Setting("channels", VG_SET_INTEGER, "audio channels", default: "1", range: 1...64),
            Setting("overwrite", VG_SET_BOOL, "replaces an existing file", default: "false"),
            Setting("autostart", VG_SET_BOOL, "records from the first block on, not from `start`", default: "true"),
        ] + Encoding.Wishes.settings,
        actions: [
            Action(
                "start", "begin a recording",
                arguments: [
                    Setting("path", VG_SET_STRING, "another file than that of the settings"),
                    Setting("skip", VG_SET_INTEGER, "left out at the start", unit: "frames"),
                    Setting(
                        "hold", VG_SET_INTEGER, "kept back at the end, so that `finish` can cut it", unit: "frames"),
                ],
                results: [Field("path", VG_STRING, "the file")]),
            Action(
                "finish", "end the recording and complete its file",
                arguments: [
                    Setting(
                        "frames", VG_SET_INTEGER, "cut what is kept back so that the file has so many", unit: "frames")
                ], results: Take.declared),
        ],
        events: RecordEvent.types, process: recordProcess)

    struct Processor: BitwiseCopyable {
        let pipe: CapturePipe.Writer
    }

    let layout: Layout
    private let host: NodeHost
    private let target: RecordTarget
    private let wishes: Encoding.Wishes
    private let writer: FileWriter
    private let channels: Int
    private let startsItself: Bool
    private var hasBegun = false

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        self.host = host
        channels = settings.integer("channels") ?? 1
        startsItself = settings.bool("autostart") ?? true
        wishes = Encoding.Wishes(settings)
        target = try RecordTarget(host.resolve(settings.string("path") ?? ""), wishes, channels: channels)
        writer = FileWriter(channels: channels, overwrites: settings.bool("overwrite") ?? false, host: host)
        layout = Layout(ports: Port.audio(VG_INPUT, channels: channels))
    }

    /// A host that goes away without `finish` leaves a complete file too.
    deinit { finish() }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        Processor(pipe: writer.prepare(rate: preparation.rate, maxBlock: preparation.maxBlock).writer)
    }

    func activate() {
        if hasBegun { return writer.resume() }
        hasBegun = true
        if startsItself { writer.resume(with: target) } else { writer.tellIdle() }
    }

    /// The file stays open, in case the graph goes on, but is complete on disk.
    func deactivate() { writer.settle() }

    func finish() { writer.finishIfOpen() }

    func perform(_ action: String, _ arguments: Settings, _ call: ActionCall) throws(NodeError) {
        switch action {
        case "start":
            let path = arguments.string("path").map(host.resolve)
            var target = target
            if let path { target = try RecordTarget(path, wishes, channels: channels) }
            target.skip = max(0, arguments.integer("skip") ?? 0)
            target.hold = max(0, arguments.integer("hold") ?? 0)
            try writer.start(target)
            call.put("path", .string(writer.path ?? ""))
        default:
            for (name, value) in try writer.finish(after: arguments.integer("frames")).fields { call.put(name, value) }
        }
    }

    func poll() { writer.poll() }
    func wait(frames: Int) { writer.wait(frames: frames) }
}

/// A recording that is complete.
struct Take {
    var path: String
    var frames: Int
    var seconds: Double
    var dropped: Int
    var clipped: Int
    /// Nil: silence.
    var peak, truePeak, loudness: Double?

    var fields: [(String, SettingValue)] {
        let levels = [("peak", peak), ("true_peak", truePeak), ("loudness", loudness)]
        return [
            ("path", .string(path)), ("frames", .integer(Int64(frames))), ("seconds", .number(seconds)),
            ("dropped", .integer(Int64(dropped))), ("clipped", .integer(Int64(clipped))),
        ] + levels.compactMap { name, level in level.map { (name, .number($0)) } }
    }

    static let declared = [
        Field("path", VG_STRING, "the file"), Field("frames", VG_INTEGER, "written", unit: "frames"),
        Field("seconds", VG_NUMBER, "how long it is", unit: "s"),
        Field("dropped", VG_INTEGER, "lost on the way", unit: "frames"),
        Field("clipped", VG_INTEGER, "samples beyond full scale, in formats of integers"),
        Field("peak", VG_NUMBER, "the largest sample; of silence there is none", unit: "dBFS"),
        Field("true_peak", VG_NUMBER, "the largest value between samples (ITU-R BS.1770)", unit: "dBTP"),
        Field("loudness", VG_NUMBER, "of the whole (EBU R 128)", unit: "LUFS"),
    ]
}

/// What the node tells, and how it is declared.
enum RecordEvent {
    static let started = "record.started"
    static let finished = "record.finished"
    static let dropped = "record.dropped"
    static let clipped = "record.clipped"
    static let failed = "record.failed"
    static let state = "record.state"

    private static let path = Field("path", VG_STRING, "the file")
    private static let frames = Field("frames", VG_INTEGER, "written so far", unit: "frames")
    private static let reason = Field("reason", VG_STRING, "why")

    static let types = [
        EventType(
            started, "a recording has begun",
            fields: [
                path, Field("rate", VG_NUMBER, "of the file", unit: "Hz"),
                Field("channels", VG_INTEGER, "of the file"),
            ]),
        EventType(finished, "a recording is complete", fields: Take.declared),
        EventType(
            dropped, "audio was lost, because the disk is too slow",
            fields: [
                Field("frames", VG_INTEGER, "since the last time", unit: "frames"),
                Field("total", VG_INTEGER, "of this recording", unit: "frames"),
            ]),
        EventType(
            clipped, "what came was beyond full scale where it became integers",
            fields: [
                Field("samples", VG_INTEGER, "since the last time"), Field("total", VG_INTEGER, "of this recording"),
            ]),
        EventType(failed, "a recording ended, because the disk refused it", fields: [path, reason, frames]),
        EventType(
            state, "whether it records",
            fields: [
                Field("state", VG_STRING, "idle, recording, finished or failed"), path, frames,
                Field("dropped", VG_INTEGER, "lost in this recording", unit: "frames"), reason,
            ], retained: true),
    ]
}

@_noLocks
private func recordProcess(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    memory.assumingMemoryBound(to: Record.Processor.self).pointee.pipe.write(io, cycle)
}

/// What the host looks for in the shared object. [control]
@c(vg_plugin_entry) public func pluginEntry(_ hostABI: UInt32) -> UnsafePointer<vg_plugin>? {
    exportPlugin(Record.self, name: "record", version: "1.0", license: "Apache-2.0", hostABI: hostABI)
}
