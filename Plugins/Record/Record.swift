// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Writes what it hears to a file, in a way that survives the death of the process.
final class Record: Node {
    static let calls: NodeCalls = [.poll, .wait, .perform, .finish]
    static let descriptor = NodeDescriptor(
        "record", "records to a file",
        doc: """
            The suffix of `path` chooses the format: .wav (32-bit float, RF64 beyond 4 GiB), .flac (24 bits), .ogg, .opus. \
            {date} and {time} in it stand for the start of the recording, and so does what `date` knows, as in \
            %Y-%m-%d_%H-%M-%S. While it is recorded a file is called NAME.part.wav; it plays at any time. What is beyond \
            full scale is clipped in integer formats, and that is counted and told. An existing file is kept: the new one \
            is called NAME-2, NAME-3, ... unless `overwrite` is set; one that is being recorded is kept even then. When \
            the audio stops and comes back, the recording goes on.
            """,
        ports: Port.audio(VG_INPUT, channels: 1),
        settings: [
            Setting(
                "path", VG_SET_STRING, "file to write; {date}, {time} and %Y... are filled in", required: true,
                names: .file),
            Setting(
                "descriptor", VG_SET_INTEGER,
                "an open file of this process, in a render: it gets a stream in WAV format, and `path` is what it is called",
                range: 0...1_048_576, names: .file),
            Setting("channels", VG_SET_INTEGER, "audio channels", default: "1", range: 1...64),
            Setting("overwrite", VG_SET_BOOL, "replaces an existing file", default: "false"),
            Setting("autostart", VG_SET_BOOL, "records from the first block on, not from `start`", default: "true"),
            Setting("limit", VG_SET_NUMBER, "ends the recording; 0: never", default: "0", range: 0...1e9, unit: "s"),
            Setting(
                "publish", VG_SET_BOOL, "gives out what is recorded as audio too, for programs that subscribe to it",
                default: "false"),
            Setting(
                "publish_frames", VG_SET_INTEGER, "of a block of that audio, which has rate and channels of the file",
                default: "1024", range: 16...65_536, unit: "frames"),
            Setting(
                "interruption_limit", VG_SET_NUMBER,
                "ends a recording to which nothing has come for so long; 0: it waits", default: "0", range: 0...1e9,
                unit: "s"),
            Setting(
                "fill", VG_SET_BOOL, "silence takes the place of what is missing, so that the file keeps the time",
                default: "false"),
            Setting(
                "preroll", VG_SET_NUMBER, "of what came before `start`, a recording has so much", default: "0",
                range: 0...600, unit: "s"),
            Setting(
                "split", VG_SET_NUMBER, "the next file begins after so long; 0: never", default: "0", range: 0...1e9,
                unit: "s"),
            Setting(
                "split_size", VG_SET_NUMBER, "the next file begins when this one is so large; 0: never", default: "0",
                range: 0...1e9, unit: "MB"),
            Setting(
                "stamp", VG_SET_BOOL, "a .wav says when it was recorded (broadcast wave), unless it is rendered",
                default: "true"),
        ] + Encoding.Wishes.settings,
        actions: [
            Action(
                "start", "begin a recording",
                arguments: [
                    Setting("path", VG_SET_STRING, "another file than that of the settings", names: .file),
                    Setting("skip", VG_SET_INTEGER, "left out at the start", range: 0...1e12, unit: "frames"),
                    Setting(
                        "hold", VG_SET_INTEGER, "kept back at the end, in memory, so that `finish` can cut it",
                        range: 0...33_554_432, unit: "frames"),
                    Setting(
                        "limit", VG_SET_NUMBER, "another limit than that of the settings", range: 0...1e9, unit: "s"),
                ],
                results: [Field("path", VG_STRING, "the file")]),
            Action("pause", "leave out what comes, until `resume`"),
            Action("resume", "go on after a pause"),
            .source,
            Action("discard", "end the recording and throw its file away"),
            Action(
                "limit", "let the recording end after so much of it, pauses left out; without `seconds`: never",
                arguments: [
                    Setting("seconds", VG_SET_NUMBER, "from its beginning", range: 0...1e9, unit: "s")
                ]),
            Action(
                "levels", "the newest levels, and how much is recorded",
                results: RecordEvent.levelFields),
            Action(
                "finish", "end the recording and complete its file",
                arguments: [
                    Setting(
                        "frames", VG_SET_INTEGER, "cut what is kept back so that the file has so many",
                        range: 0...1e15, unit: "frames")
                ], results: Take.declared),
        ],
        events: RecordEvent.types,
        series: [
            Series("level", "rms of all channels, of a tenth of a second", unit: "dBFS", rate: 10, width: 1),
            Series("seconds", "recorded so far, pauses left out", unit: "s", rate: 10, width: 1),
        ],
        process: recordProcess)

    struct Processor: BitwiseCopyable {
        let pipe: CapturePipe.Writer
    }

    let layout: Layout
    private let host: NodeHost
    private var target: RecordTarget
    private let isStamped: Bool
    private let limit: Double?
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
        let path = settings.string("path") ?? ""
        let stream = settings.integer("descriptor").map { Int32(clamping: $0) }
        let options = try RecordOptions(settings)
        if stream != nil, options.longest != nil || options.largest != nil {
            throw NodeError("a stream has no next file", hint: "take out split and split_size", key: "descriptor")
        }
        target = try RecordTarget(
            stream == nil ? host.resolve(path) : path, wishes, channels: channels, stream: stream)
        isStamped = settings.bool("stamp") ?? true
        limit = Self.limit(settings.number("limit"))
        writer = FileWriter(channels: channels, options: options, host: host)
        layout = Layout(ports: Port.audio(VG_INPUT, channels: channels))
    }

    /// A host that goes away without `finish` leaves a complete file too.
    deinit { finish() }

    /// 0 stands for none.
    private static func limit(_ seconds: Double?) -> Double? { seconds.flatMap { $0 > 0 ? $0 : nil } }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        if target.stream != nil, !preparation.offline {
            throw NodeError("writes to an open file in a render only", hint: "take out descriptor", key: "descriptor")
        }
        // What is rendered is the same in every run.
        target.isStamped = isStamped && !preparation.offline
        return Processor(pipe: writer.prepare(preparation).writer)
    }

    func activate() {
        if hasBegun { return writer.resume() }
        hasBegun = true
        if startsItself {
            writer.resume(with: target, limit: limit)
        } else {
            writer.tellIdle()
            writer.resume()
        }
    }

    /// The file stays open, in case the graph goes on, but is complete on disk.
    func deactivate() { writer.interrupt() }

    func finish() { writer.finishIfOpen() }

    func perform(_ action: String, _ arguments: Settings, _ call: ActionCall) throws(NodeError) {
        switch action {
        case "start":
            let path = arguments.string("path").map(host.resolve)
            var target = target
            if let path {
                target = try RecordTarget(path, wishes, channels: channels)
                target.isStamped = self.target.isStamped
            }
            target.skip = max(0, arguments.integer("skip") ?? 0)
            target.hold = max(0, arguments.integer("hold") ?? 0)
            try writer.start(target, limit: arguments.number("limit").map(Self.limit) ?? limit)
            call.put("path", .string(writer.path ?? ""))
        case "pause": try writer.pause()
        case "resume": try writer.proceed()
        case "discard": try writer.discard()
        case "limit": try writer.set(limit: arguments.number("seconds"))
        case VG_ACTION_SOURCE:
            writer.follow(
                source: arguments.bool("there") ?? true, comes: arguments.bool("comes") ?? true,
                arguments.string("reason") ?? "")
        case "levels": for (name, value) in writer.levels { call.put(name, value) }
        default:
            for (name, value) in try writer.finish(after: arguments.integer("frames")).fields { call.put(name, value) }
        }
    }

    func poll() { writer.poll() }
    func wait(frames: Int) { writer.wait(frames: frames) }
}

@_noLocks
private func recordProcess(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    memory.assumingMemoryBound(to: Record.Processor.self).pointee.pipe.write(io, cycle)
}

/// What the host looks for in the shared object. [control]
@c(vg_plugin_entry) public func pluginEntry(_ hostABI: UInt32) -> UnsafePointer<vg_plugin>? {
    exportPlugin(Record.self, name: "record", version: "1.0", license: "Apache-2.0", hostABI: hostABI)
}
