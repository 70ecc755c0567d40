// SPDX-License-Identifier: Apache-2.0
import Drivers
import NodeKit

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
    /// The host's process.
    public var pid: Int32 = 0
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
    /// Names of nodes that are not well or silenced, with the reason.
    public var degraded: [String: String] = [:]
    /// "running", "stalled": the server calls no more, "lost": it is gone, "waiting": there was none yet, "stopped".
    public var state = ""
    /// How the kernel runs the audio thread.
    public var scheduling = Scheduling()
    /// Late cycles and dropouts since the start, by their cause.
    public var dropouts: [Dropout.Cause: Int] = [:]
    /// Cycles of which nothing is known, because this program was held up.
    public var unrecorded: UInt64 = 0
    /// What nodes count, by node and counter; see `NodeHost.count`.
    public var counters: [String: [String: UInt64]] = [:]
    /// Notes of processors that found their ring full.
    public var lostNotes: UInt64 = 0
    /// MIDI events that found their buffer full.
    public var lostMIDI: UInt64 = 0
    /// Outputs and MIDI ports that are connected to nothing, in words, by the names of nodes.
    public var unconnected: [String: String] = [:]
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

    /// In words.
    public var text: String {
        let first = firstBlock.map { "heard after \(fixed($0 * 1000, 1)) ms, " } ?? ""
        return first + "done after \(fixed(done * 1000, 1)) ms"
    }

    /// As fields of JSON, in milliseconds.
    public var fields: [String: SettingValue] {
        var fields = ["done_ms": SettingValue.number(Self.milliseconds(done))]
        if let firstBlock { fields["first_block_ms"] = .number(Self.milliseconds(firstBlock)) }
        return fields
    }

    private static func milliseconds(_ seconds: Double) -> Double { (seconds * 1e6).rounded() / 1e3 }
}
