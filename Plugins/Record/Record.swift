// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Writes what it hears to a file, in a way that survives the death of the process.
final class Record: AudioNode {
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
            path, literal, stream, channels, RecordOptions.overwrite, autostart, limit, RecordOptions.publish,
            RecordOptions.publishFrames, RecordOptions.interruptionLimit, RecordOptions.fill, RecordOptions.preroll,
            RecordOptions.split, RecordOptions.splitSize, stamp, Encoding.Wishes.bits, Encoding.Wishes.isFloat,
            Encoding.Wishes.dither, Encoding.Wishes.quality, Encoding.Wishes.rate, Encoding.Wishes.channels,
        ],
        actions: [
            Action(
                "start", "begin a recording", arguments: [otherPath, skip, hold, otherLimit],
                results: [Field("path", VG_STRING, "the file")]),
            Action("pause", "leave out what comes, until `resume`"),
            Action("resume", "go on after a pause"),
            .source,
            Action("discard", "end the recording and throw its file away"),
            Action(
                "limit", "let the recording end after so much of it, pauses left out; without `seconds`: never",
                arguments: [seconds]),
            Action(
                "levels", "the newest levels, and how much is recorded",
                results: RecordEvent.levelFields),
            Action(
                "finish", "end the recording and complete its file", arguments: [frames], results: Take.declared),
        ],
        events: RecordEvent.types,
        series: [
            Series("level", "rms of all channels, of a tenth of a second", unit: "dBFS", rate: 10, width: 1),
            Series("seconds", "recorded so far, pauses left out", unit: "s", rate: 10, width: 1),
        ],
        otherNames: ["recorder", "recording", "writer", "capture-file"], process: { Record.process($0, $1, $2) })

    static let path = Key.text("path", "file to write; {date}, {time} and %Y... are filled in", names: .file)
        .required()
    static let literal = Key.flag(
        "literal", "the name of the file is as `path` says: nothing is filled in", default: false)
    static let stream = Key.integer(
        "descriptor",
        "an open file of this process, in a render: it gets a stream in WAV format, and `path` is what it is called",
        in: 0...1_048_576, names: .file)
    static let channels = Key.integer("channels", "audio channels", default: 1, in: 1...64)
    private static let autostart = Key.flag(
        "autostart", "records from the first block on, not from `start`", default: true)
    private static let limit = Key.number("limit", "ends the recording; 0: never", default: 0, in: 0...1e9, unit: "s")
    private static let stamp = Key.flag(
        "stamp", "a .wav says when it was recorded (broadcast wave), unless it is rendered", default: true)

    private static let otherPath = Key.text("path", "another file than that of the settings", names: .file)
    private static let otherLimit = Key.number(
        "limit", "another limit than that of the settings", in: 0...1e9, unit: "s")
    private static let skip = Key.integer("skip", "left out at the start", in: 0...1_000_000_000_000, unit: "frames")
    private static let hold = Key.integer(
        "hold", "kept back at the end, in memory, so that `finish` can cut it", in: 0...33_554_432, unit: "frames")
    private static let seconds = Key.number("seconds", "from its beginning", in: 0...1e9, unit: "s")
    private static let frames = Key.integer(
        "frames", "cut what is kept back so that the file has so many", in: 0...1_000_000_000_000_000, unit: "frames")

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
        channels = try settings[Self.channels]
        startsItself = try settings[Self.autostart]
        wishes = try Encoding.Wishes(settings)
        let path = try settings[Self.path]
        let stream = try settings[Self.stream].map { Int32(clamping: $0) }
        let options = try RecordOptions(settings)
        if stream != nil, options.longest != nil || options.largest != nil {
            throw NodeError("a stream has no next file", hint: "take out split and split_size", key: Self.stream.name)
        }
        target = try RecordTarget(
            stream == nil ? host.resolve(path) : path, wishes, channels: channels, stream: stream,
            isLiteral: settings[Self.literal])
        isStamped = try settings[Self.stamp]
        limit = try settings[Self.limit].unlessZero
        writer = FileWriter(channels: channels, options: options, host: host)
        layout = Layout(ports: Port.audio(VG_INPUT, channels: channels))
    }

    /// A host that goes away without `finish` leaves a complete file too.
    deinit { finish() }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        if target.stream != nil, !preparation.offline {
            throw NodeError(
                "writes to an open file in a render only", hint: "take out descriptor", key: Self.stream.name)
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
            let path = try arguments[Self.otherPath].map(host.resolve)
            var target = target
            if let path {
                target = try RecordTarget(path, wishes, channels: channels, isLiteral: target.isLiteral)
                target.isStamped = self.target.isStamped
            }
            target.skip = try arguments[Self.skip] ?? 0
            target.hold = try arguments[Self.hold] ?? 0
            try writer.start(target, limit: arguments[Self.otherLimit].map(\.unlessZero) ?? limit)
            call.put("path", .string(writer.path ?? ""))
        case "pause": try writer.pause()
        case "resume": try writer.proceed()
        case "discard": try writer.discard()
        case "limit": try writer.set(limit: arguments[Self.seconds])
        case VG_ACTION_SOURCE:
            writer.follow(
                source: arguments.bool("there") ?? true, comes: arguments.bool("comes") ?? true,
                arguments.string("reason") ?? "")
        case "levels": for (name, value) in writer.levels { call.put(name, value) }
        default:
            for (name, value) in try writer.finish(after: arguments[Self.frames]).fields { call.put(name, value) }
        }
    }

    func poll() { writer.poll() }
    func wait(frames: Int) { writer.wait(frames: frames) }
}

extension Record {
    @_noLocks
    static func process(_ state: inout Processor, _ block: borrowing Block) {
        state.pipe.write(block)
    }
}

/// What the host looks for in the shared object. [control]
@c(vg_plugin_entry) public func pluginEntry(_ hostABI: UInt32) -> UnsafePointer<vg_plugin>? {
    exportPlugin(Record.self, name: "record", version: "1.0", license: "Apache-2.0", hostABI: hostABI)
}
