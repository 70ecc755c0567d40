// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Synchronization

/// A graph played as fast as it goes, into a file.
///
/// What reads and writes the files are ordinary nodes: an `input` that is fed from a file becomes a `file` node, and what
/// the chosen `output` receives also goes to a `record` node.
public struct Render: Sendable {
    /// When it is over.
    public enum End: Sendable, Equatable {
        /// After exactly this many frames.
        case frames(Int)
        /// When every node has played what it has and the output has gone silent.
        case idle
    }

    /// How far a render is.
    public struct Progress: Sendable {
        /// Frames done.
        public var frames: Int
        /// Frames in all, if known.
        public var total: Int?
    }

    /// What was rendered.
    public struct Outcome: Sendable, Equatable {
        /// Of the file.
        public var frames = 0
        /// Frames by which the graph is late; they are not in the file.
        public var latency = 0
        /// The level at which sound that did not end was cut, in dBFS; nil: none was.
        public var cutAt: Double?
        /// Samples beyond full scale, in a format of integers.
        public var clipped = 0
        /// The largest sample, in dBFS; nil: silence.
        public var peak: Double?
        /// The largest value between samples, in dBTP; nil: silence.
        public var truePeak: Double?
        /// Of the whole, in LUFS; nil: it is too short or too quiet for that.
        public var loudness: Double?
    }

    /// The file to write; its suffix chooses the format.
    public var path: String
    /// An open file that gets the sound as a stream in WAV format, in place of `path`, which then is only what it is called.
    /// It may be a pipe; a program that writes to one ignores SIGPIPE, so that a reader that goes away is an error here.
    public var descriptor: Int32?
    /// Settings of the `record` node that writes, such as `bits` and `dither`.
    public var settings: [String: SettingValue] = [:]
    /// Whether `record` nodes of the graph begin to record, as they do live.
    public var records = true
    /// Hz.
    public var rate: Double
    /// Frames of a block; the last may be shorter.
    public var block: Int
    /// When it is over.
    public var end: End
    /// Files by the name of the `input` node they feed.
    public var inputs: [String: String]
    /// The `output` node whose signal is written; nil: the first in the file.
    public var output: String?
    /// Channels of the file; nil: those of the output node.
    public var channels: Int?
    /// Beats per minute of the transport; 0: none.
    public var tempo: Double
    /// Seconds for which it must be quiet after the last sound, where the render ends by itself.
    public var tail: Double

    /// The node that writes; a name that no file can use.
    public static let recorder = "render output"
    /// Types of which some nodes compute nothing of a block that is shorter than the others.
    var wholeBlockTypes: Set<String> = [StandardType.lv2]
    /// What counts as quiet, linear: -100 dBFS.
    static let quiet: Float = 1e-5
    /// Seconds after which sound that does not end is cut.
    public static let longestTail = 300.0
    /// Between two turns of the control side as many short blocks are played as have so many frames, and so many at most.
    static let together = (frames: 1024, blocks: 256)

    /// Describes a render.
    public init(
        path: String, rate: Double = 48_000, block: Int = 1024, end: End = .idle, inputs: [String: String] = [:],
        output: String? = nil, channels: Int? = nil, tempo: Double = 0,
        tail: Double = 2
    ) {
        self.path = path
        self.rate = rate
        self.block = block
        self.end = end
        self.inputs = inputs
        self.output = output
        self.channels = channels
        self.tempo = tempo
        self.tail = tail
    }

    /// Renders; `progress` is told now and then and stops the render by returning false; what was rendered until then
    /// stays in the file. The graph's latency is taken off: what goes in at frame 0 is at frame 0 of the file. [control]
    public func run(
        _ prepared: PreparedGraph, progress: (Progress) -> Bool = { _ in true }
    ) throws(Fault) -> Outcome {
        // Before anything is prepared: a file of that name stays as it is.
        try checkEnd(prepared)
        let pass = try RenderPass(self, prepared)
        defer { pass.pass.running.bus.finish() }
        do {
            try pass.begin()
            pass.play(progress)
            return try pass.finish()
        } catch {
            pass.pass.running.stop()
            pass.removeRest()
            throw named(error)
        }
    }

    /// The recorder names the file as well, by its whole path.
    private func named(_ error: NodeError) -> Fault {
        let reason = error.message
        if descriptor != nil { return Fault("\(path) cannot be written: \(reason)", hint: error.hint) }
        let whole = reason.firstRange(of: "\(absolute(path)): ")
        return Fault("cannot write \(path): \(whole.map { reason[$0.upperBound...] } ?? reason[...])", hint: error.hint)
    }
}
