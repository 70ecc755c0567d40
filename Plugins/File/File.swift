// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Plays an audio file of any format that libsndfile reads, at the graph's rate.
final class File: AudioNode {
    static let calls: NodeCalls = [.poll, .wait, .idle, .perform]
    static let descriptor = NodeDescriptor(
        "file", "plays an audio file",
        doc: """
            Has as many outputs as the file has channels, or as `channels` says: a mono file is then played on all, any \
            other on one as the mean of its channels. A file at the graph's own rate is passed bit for bit, others are \
            resampled. `start` and `end` choose a part of it, also for `loop`, to the frame.
            """,
        ports: Port.audio(VG_OUTPUT, channels: 1),
        settings: [path, loop, start, end, channels],
        actions: [
            Action(
                "seek", "go on at another place, from `start` to `end`; what is heard falls and rises within 20 ms",
                arguments: [position])
        ],
        events: [
            EventType(
                "file.started", "the first frame is heard", fields: [Field("path", VG_STRING, "the file")],
                says: "playing {path}"),
            EventType(
                "file.finished", "the last frame was heard",
                fields: [
                    Field("path", VG_STRING, "the file"),
                    Field("frames", VG_INTEGER, "played since the beginning, or the last `seek`", unit: "frames"),
                ], ends: .played, says: "played {path}"),
            EventType(
                "file.failed", "the rest of the file cannot be read",
                fields: [Field("path", VG_STRING, "the file"), Field("reason", VG_STRING, "why")],
                kind: .failure),
            EventType(
                "file.gap", "silence had to be played because the file was not read in time",
                fields: [Field("frames", VG_INTEGER, "of silence", unit: "frames")], kind: .loss,
                says: "{frames:frame} of silence: the file was not read in time"),
        ],
        otherNames: ["wav", "player", "sample", "audiofile", "playfile"], process: { File.process($0, $1, $2) })

    static let path = Key.path("path", "what to play: WAV, FLAC, OGG, MP3, AIFF, ...").required()
    private static let loop = Key.flag("loop", "starts again at the end", default: false)
    static let start = Key.number("start", "where in the file to begin", default: 0, in: 0...1e6, unit: "s")
    static let end = Key.number("end", "where in the file to end; unset: its end", in: 0...1e6, unit: "s")
    private static let channels = Key.integer("channels", "outputs, whatever the file has", in: 1...64)
    static let position = Key.number("position", "in the file", in: 0...1e6, unit: "s").required()

    struct Processor: BitwiseCopyable {
        let player: PlaybackPlayer
    }

    let layout: Layout
    private let host: NodeHost
    private let file: PlayedFile
    private let reader: FileReader
    private var worker: Worker?
    private var pipe: PlaybackPipe?
    private var times = PlaybackTimes()
    private var told = (started: false, finished: false)
    /// Whether it was told that the rest of the file cannot be read.
    private var hasFailed = false

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        self.host = host
        let path = try host.resolve(settings[Self.path])
        let part = try FilePart(start: settings[Self.start], end: settings[Self.end], loops: settings[Self.loop])
        file = try PlayedFile(path: path, part: part, channels: settings[Self.channels])
        reader = FileReader(file)
        layout = Layout(ports: Port.audio(VG_OUTPUT, channels: file.channels))
    }

    deinit {
        reader.end()
        worker?.join()
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        reader.end()
        worker?.join()
        let pipe = try reader.prepare(
            rate: preparation.rate, maxBlock: preparation.maxBlock, isOffline: preparation.offline)
        self.pipe = pipe
        times.forget()
        worker = try Worker { [reader] in reader.run() }
        return Processor(player: pipe.player)
    }

    func poll() {
        reader.poll()
        guard let pipe else { return }
        let isFinished = reader.isFinished
        let played = pipe.played
        while let run = pipe.nextRun() {
            // Silence before a jump is what comes behind the end.
            guard let gap = times.add(run, isStart: run.index == reader.newest) else { continue }
            host.count("missing", gap.frames)
            host.publish("file.gap", [("frames", .integer(Int64(gap.frames)))], at: gap.position)
        }
        if !told.started, played > 0 {
            told.started = true
            if let mapping = file.mapping { host.log(VG_LOG_INFO, "\(file.path): \(mapping)") }
            if let shortage = file.shortage { host.log(VG_LOG_WARNING, "\(file.path): \(shortage)") }
            host.publish("file.started", [("path", .string(file.path))], at: times.position(of: 0))
        }
        if let problem = reader.takeProblem() {
            hasFailed = true
            host.health(.failed("cannot read \(file.path): \(problem)"))
            host.publish("file.failed", [("path", .string(file.path)), ("reason", .string(problem))])
        }
        if !told.finished, isFinished {
            told.finished = true
            host.publish(
                "file.finished",
                [("path", .string(file.path)), ("frames", .integer(Int64(played - reader.newest)))],
                at: times.position(of: played))
        }
        times.forget(before: nil)
    }

    func perform(_ action: String, _ arguments: Settings, _ call: ActionCall) throws(NodeError) {
        try reader.seek(to: arguments[Self.position])
        told.finished = false
        if hasFailed { host.health(.ok) }
        hasFailed = false
    }

    func wait(frames: Int) { reader.wait(frames: frames) }
    /// A file in a loop has no end of its own, so it does not keep a graph alive.
    var isIdle: Bool { file.loops || (reader.isFinished && told.finished) }
}

extension File {
    @_noLocks
    static func process(_ state: inout Processor, _ block: borrowing Block) {
        state.player.play(block)
    }
}

/// What the host looks for in the shared object. [control]
@c(vg_plugin_entry) public func pluginEntry(_ hostABI: UInt32) -> UnsafePointer<vg_plugin>? {
    exportPlugin(File.self, name: "file", version: "1.0", license: "Apache-2.0", hostABI: hostABI)
}
