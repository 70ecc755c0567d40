// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Something that the graph publishes.
public enum Published: Sendable, Equatable {
    /// A frame of series: levels and other numbers that come regularly.
    case frame(SeriesFrame)
    /// A block of audio.
    case audio(AudioFrame)
    /// Something that happened.
    case event(Event)

    /// Whether the newest one is given to whoever subscribes later.
    var isRetained: Bool {
        switch self {
        case .frame(let frame): !frame.isOnRequest
        case .audio: false
        case .event(let event): event.isRetained
        }
    }

    /// Whether only who subscribes later is given it.
    var isSilent: Bool { if case .event(let event) = self { event.isSilent } else { false } }

    /// Whose it is, and what: of two with the same key the newer one takes the place of the older where only the newest
    /// matters.
    var key: PublicationKey {
        switch self {
        case .frame(let frame): PublicationKey(node: frame.node, kind: .frame, name: frame.rows.first?.name ?? "")
        case .audio(let audio): PublicationKey(node: audio.node, kind: .audio, name: "")
        case .event(let event):
            PublicationKey(node: event.node, kind: .event, name: event.name, part: event.part)
        }
    }
}

/// See `Published.key`.
struct PublicationKey: Hashable, Sendable {
    enum Kind: Hashable, Sendable { case frame, audio, event }
    var node: String?
    var kind: Kind
    var name: String
    /// See `Event.part`.
    var part = ""
}

/// One frame of the series that a node measures; all of it belongs to the same time.
public struct SeriesFrame: Sendable, Equatable {
    /// One series.
    public struct Row: Sendable, Equatable {
        /// The name that the node's type declares.
        public var name: String
        /// Its numbers: as many as the series is wide, or one a channel.
        public var values: [Float]

        /// Describes a row.
        public init(_ name: String, _ values: [Float]) {
            self.name = name
            self.values = values
        }
    }

    /// The node that measured.
    public var node: String
    /// Seconds since the graph started, at the end of what was measured.
    public var time: Double
    /// In the order of the node's declaration.
    public var rows: [Row]
    /// Whether it goes only to those who have asked for its series by name; it has one row then.
    public internal(set) var isOnRequest = false

    /// The same for those only who have asked for its series.
    var onRequest: SeriesFrame {
        var frame = self
        frame.isOnRequest = true
        return frame
    }

    /// Describes a frame.
    public init(node: String, time: Double, rows: [Row]) {
        self.node = node
        self.time = time
        self.rows = rows
    }

    /// Levels as meters and visualizers publish them: peak and RMS per channel, linear, and the orb level 0...1.
    public init(node: String, time: Double, peak: [Float], rms: [Float], orb: Float) {
        self.init(node: node, time: time, rows: [Row("peak", peak), Row("rms", rms), Row("orb", [orb])])
    }

    /// The numbers of a series; empty if it is not there.
    public subscript(_ name: String) -> [Float] { rows.first { $0.name == name }?.values ?? [] }
    /// The series of the largest absolute sample per channel, linear.
    static let peak = "peak"
    /// Largest absolute sample per channel, linear; empty unless the node measures it.
    public var peak: [Float] { self[Self.peak] }
    /// Root mean square per channel, linear; empty unless the node measures it.
    public var rms: [Float] { self["rms"] }
    /// 0...1: RMS of the newest 1024 frames on a scale of 50 dB; 0 unless the node measures it.
    public var orb: Float { self["orb"].first ?? 0 }
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
    /// The first frame in the node's own stream, as in the recording, at `rate`.
    public var frame: UInt64
    /// When the first frame came, in seconds of `CLOCK_MONOTONIC`; nil: unknown.
    public var hostTime: Double?

    /// Describes a block.
    public init(
        node: String, position: UInt64, rate: Double, channels: [[Float]], frame: UInt64 = 0, hostTime: Double? = nil
    ) {
        self.node = node
        self.position = position
        self.rate = rate
        self.channels = channels
        self.frame = frame
        self.hostTime = hostTime
    }
}

/// Something that happened.
public struct Event: Sendable, Equatable {
    /// "running", "speech.started", "health", "xrun", ...: declared by the node's type or in `HostEvent`.
    public var name: String
    /// The node it is about; nil for the host.
    public var node: String?
    /// Seconds since the graph started.
    public var time: Double
    /// The same in seconds since 1970, UTC; 0: unknown.
    public var wallTime: Double
    /// What belongs to it.
    public var fields: [String: SettingValue]
    /// Whether it tells a state, which is given to whoever subscribes later.
    public var isRetained: Bool
    /// Whether it only replaces what whoever subscribes later is told.
    var isSilent = false
    /// Whether visitors of the graph's page are told it.
    public var isPublic: Bool
    /// How it is declared; nil: not at all.
    public var type: EventType?
    /// What is to be kept of it; nil: nobody asked for that.
    public var keeping: Keeping?

    /// Describes an event.
    public init(
        _ name: String, node: String? = nil, time: Double = 0, wallTime: Double = 0,
        fields: [String: SettingValue] = [:], retained isRetained: Bool = false, public isPublic: Bool = false
    ) {
        self.name = name
        self.node = node
        self.time = time
        self.wallTime = wallTime
        self.fields = fields
        self.isRetained = isRetained
        self.isPublic = isPublic
    }

    /// An event as its type declares it.
    public init(
        _ type: EventType, node: String? = nil, time: Double = 0, wallTime: Double = 0,
        fields: [String: SettingValue] = [:]
    ) {
        self.init(
            type.name, node: node, time: time, wallTime: wallTime, fields: fields, retained: type.isRetained,
            public: type.isPublic)
        self.type = type
    }

    /// An event of a node that says `keep`.
    public struct Keeping: Sendable, Equatable {
        /// What it tells of.
        public var role: EventRole
        /// Who is heard: what the file says, else the node's name.
        public var speaker: String

        /// Describes it.
        public init(_ role: EventRole, speaker: String) {
            self.role = role
            self.speaker = speaker
        }
    }

    /// Which of the states of this name it tells, where a node has several: a parameter or setting by its key; else "".
    public var part: String { HostEvent.parts[name].flatMap { text($0) } ?? "" }

    /// A field that is text.
    public func text(_ key: String) -> String? { if case .string(let text)? = fields[key] { text } else { nil } }
}
