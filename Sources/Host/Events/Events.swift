// SPDX-License-Identifier: Apache-2.0
import Drivers
import NodeKit

/// Levels of one meter or visualizer node: one 60th of a second.
public struct LevelFrame: Sendable, Equatable {
    /// The node that measured.
    public var node: String
    /// Seconds since the graph started.
    public var time: Double
    /// Largest absolute sample per channel, linear.
    public var peak: [Float]
    /// Root mean square per channel, linear.
    public var rms: [Float]
    /// 0...1: RMS of the newest 1024 frames on a scale of 50 dB.
    public var orb: Float

    /// Describes a level frame.
    public init(node: String, time: Double, peak: [Float], rms: [Float], orb: Float) {
        self.node = node
        self.time = time
        self.peak = peak
        self.rms = rms
        self.orb = orb
    }
}

/// A block of audio from a tap, planar.
public struct AudioFrame: Sendable, Equatable {
    /// The node that published it.
    public var node: String
    /// Position of the first frame since the graph started, in frames.
    public var position: UInt64
    /// Hz.
    public var rate: Double
    /// Samples per channel; all the same length.
    public var channels: [[Float]]

    /// Describes a block.
    public init(node: String, position: UInt64, rate: Double, channels: [[Float]]) {
        self.node = node
        self.position = position
        self.rate = rate
        self.channels = channels
    }
}

/// What the host measures of itself, about ten times a second.
public struct Status: Sendable, Equatable {
    /// "jack", "pipewire", "alsa", "dummy", "timer" or "offline".
    public var driver = ""
    /// What the user should know of the driver, such as that nothing will be heard, and what to do; mostly empty.
    public var notice = ""
    /// The name of the JACK server, or of PipeWire's socket; empty without one.
    public var server = ""
    /// Whether the server is a child of this process.
    public var ownServer = false
    /// The JACK client's name.
    public var client = ""
    /// Hz.
    public var rate = 0.0
    /// Frames.
    public var block = 0
    /// Threads that the graph is run by, with the audio thread.
    public var threads = 1
    /// Share of a block's time spent in the schedule, 0...1, smoothed.
    public var load = 0.0
    /// Since the start.
    public var xruns = 0
    /// Blocks since the start.
    public var blocks: UInt64 = 0
    /// Seconds of audio since the start.
    public var time = 0.0
    /// Names of nodes that failed, with the reason.
    public var degraded: [String: String] = [:]
    /// "running", "stalled": the server calls no more, "lost": it is gone, "stopped".
    public var state = ""
    /// How the kernel runs the audio thread.
    public var scheduling = Scheduling()
    /// Late cycles and dropouts since the start, by their cause.
    public var dropouts: [Dropout.Cause: Int] = [:]
    /// Cycles of which nothing is known, because this program was held up.
    public var unrecorded: UInt64 = 0
    /// How long the last change of the graph took; nil: there was none.
    public var lastChange: ChangeTimes?

    /// An empty status.
    public init() {}
}

/// How long a change of a running graph took.
public struct ChangeTimes: Sendable, Equatable {
    /// Seconds from the request to the first block that has something of it; nil: no audio ran.
    public var firstBlock: Double?
    /// Seconds from the request until the last fade had ended.
    public var done: Double

    /// Describes a change.
    public init(firstBlock: Double?, done: Double) {
        self.firstBlock = firstBlock
        self.done = done
    }

    /// As fields of JSON, in milliseconds.
    public var fields: [String: SettingValue] {
        var fields = ["done_ms": SettingValue.number(Self.milliseconds(done))]
        if let firstBlock { fields["first_block_ms"] = .number(Self.milliseconds(firstBlock)) }
        return fields
    }

    private static func milliseconds(_ seconds: Double) -> Double { (seconds * 1e6).rounded() / 1e3 }
}

/// Something that happened, other than levels and audio.
public struct Event: Sendable, Equatable {
    /// "running", "speech.started", "node.failed", "xrun", "finished", ...
    public var name: String
    /// The node it is about; nil for the host.
    public var node: String?
    /// Seconds since the graph started.
    public var time: Double
    /// What belongs to it.
    public var fields: [String: SettingValue]

    /// Describes an event.
    public init(_ name: String, node: String? = nil, time: Double = 0, fields: [String: SettingValue] = [:]) {
        self.name = name
        self.node = node
        self.time = time
        self.fields = fields
    }
}
