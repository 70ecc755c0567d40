// SPDX-License-Identifier: Apache-2.0
import CNode

/// What a result or an event carries under a name; see `vg_field`.
public struct Field: Sendable, Equatable {
    /// The name.
    public var name: String
    /// One line for `voicegraph describe`.
    public var doc: String
    /// What it holds.
    public var kind: vg_value_kind
    /// The unit of a number; nil: none.
    public var unit: String?

    /// Describes a field.
    public init(_ name: String, _ kind: vg_value_kind, _ doc: String, unit: String? = nil) {
        self.name = name
        self.doc = doc
        self.kind = kind
        self.unit = unit
    }
}

/// Something that can be done to a node besides turning its parameters; see `vg_action`.
public struct Action: Sendable, Equatable {
    /// What it is called by.
    public var name: String
    /// One line for `voicegraph describe`.
    public var doc: String
    /// What it takes; the host checks it as it checks a file.
    public var arguments: [Setting]
    /// What it returns.
    public var results: [Field]
    /// Whether it overtakes what waits for the node.
    public var isUrgent: Bool
    /// Whether it is done again when the node had to be made anew after a crash.
    public var isLasting: Bool
    /// Whether it belongs to talking with the graph, so that visitors of its page may do it.
    public var isPublic: Bool

    /// Describes an action.
    public init(
        _ name: String, _ doc: String, arguments: [any SettingDeclaration] = [], results: [Field] = [],
        urgent isUrgent: Bool = false,
        lasting isLasting: Bool = false, public isPublic: Bool = false
    ) {
        self.name = name
        self.doc = doc
        self.arguments = arguments.map(\.setting)
        self.results = results
        self.isUrgent = isUrgent
        self.isLasting = isLasting
        self.isPublic = isPublic
    }

    /// `VG_ACTION_SAVE`: writes what another node would need to go on like this one into a folder.
    public static let save = Action(
        VG_ACTION_SAVE, "write what another node needs to go on like this one",
        arguments: [Setting("folder", VG_SET_STRING, "where; it is made if need be", required: true, names: .file)])

    /// `VG_ACTION_PRESET`: goes over to a preset without a click.
    public static let preset = Action(
        VG_ACTION_PRESET, "go over to a preset without a click",
        arguments: [Setting("preset", VG_SET_STRING, "its label or URI", required: true)], lasting: true)

    /// `VG_ACTION_SOURCE`: what to do when whatever is heard is unplugged, and when it is back.
    public static let source = Action(
        VG_ACTION_SOURCE, "know whether anything is connected that it could hear; the host does this",
        arguments: [
            Setting("there", VG_SET_BOOL, "whether there is", required: true),
            Setting(
                "comes", VG_SET_BOOL, "whether blocks come at all; not while a server is gone or hangs", default: "true"
            ),
            Setting("reason", VG_SET_STRING, "why there is not, or none come"),
        ])

    /// `VG_ACTION_PROPERTY`: sets or asks for what is turned while running and is no number that could ramp.
    public static let property = Action(
        VG_ACTION_PROPERTY, "set a property, or tell it",
        arguments: [
            Setting("key", VG_SET_STRING, "its name, label or URI", required: true),
            Setting("value", VG_SET_VALUE, "what it becomes; without it, it is told", names: .file),
        ],
        results: [Field("value", VG_ANY, "what it is, when that was asked")], lasting: true)
}

/// What an event is for whoever keeps what was said and recorded; see `VG_EVENT_TEXT` and `VG_EVENT_TAKE` for its fields.
public enum EventRole: Sendable, Equatable {
    /// How far what it tells of is.
    public enum Stage: Sendable, Equatable {
        /// More of it follows.
        case partial
        /// It is complete.
        case whole
        /// It is void.
        case withdrawn
    }

    /// It tells the text of an item.
    case text(Stage)
    /// It tells of a recording.
    case take(Stage)

    /// How far what it tells of is.
    public var stage: Stage {
        switch self {
        case .text(let stage), .take(let stage): stage
        }
    }

    /// What `VG_EVENT_*` say; nil: they say nothing of this, or both at once.
    public init?(flags: UInt32) {
        func has(_ flag: Int) -> Bool { flags & UInt32(flag) != 0 }
        let stage: Stage = has(VG_EVENT_WITHDRAWN) ? .withdrawn : has(VG_EVENT_PARTIAL) ? .partial : .whole
        switch (has(VG_EVENT_TEXT), has(VG_EVENT_TAKE)) {
        case (true, false): self = .text(stage)
        case (false, true): self = .take(stage)
        default: return nil
        }
    }

    /// As `VG_EVENT_*`.
    public var flags: UInt32 {
        let subject = if case .text = self { VG_EVENT_TEXT } else { VG_EVENT_TAKE }
        return switch stage {
        case .partial: UInt32(subject | VG_EVENT_PARTIAL)
        case .whole: UInt32(subject)
        case .withdrawn: UInt32(subject | VG_EVENT_WITHDRAWN)
        }
    }
}

/// That what a node had to play by itself has ended; see `VG_EVENT_END`.
public enum SourceEnd: Sendable, Equatable {
    /// At the event's frame the last of it left the node.
    case played
    /// At the event's frame the last of it was heard, behind all that is late in the graph.
    case heard

    init?(flags: UInt32) {
        if flags & UInt32(VG_EVENT_END) == 0 { return nil }
        self = flags & UInt32(VG_EVENT_HEARD) != 0 ? .heard : .played
    }

    var flags: UInt32 { UInt32(self == .heard ? VG_EVENT_END | VG_EVENT_HEARD : VG_EVENT_END) }
}

/// What else programs need to know of an event; see `VG_EVENT_FAILURE` and its neighbours.
public enum EventKind: Sendable, Equatable, CaseIterable {
    /// Something that the node was to do failed.
    case failure
    /// Audio, a message or an event was lost, or came too late.
    case loss
    /// A word of the text that the node speaks is heard.
    case word
    /// A sentence of it.
    case sentence

    var flag: UInt32 {
        switch self {
        case .failure: UInt32(VG_EVENT_FAILURE)
        case .loss: UInt32(VG_EVENT_LOSS)
        case .word: UInt32(VG_EVENT_WORD)
        case .sentence: UInt32(VG_EVENT_SENTENCE)
        }
    }

    /// What `VG_EVENT_*` say; nil: none of these, or several.
    public init?(flags: UInt32) {
        let given = Self.allCases.filter { flags & $0.flag != 0 }
        guard given.count == 1 else { return nil }
        self = given[0]
    }

    /// `VG_EVENT_*` of all kinds.
    public static let flags = allCases.reduce(0) { $0 | $1.flag }
}

/// Something that a node publishes now and then; see `vg_event_type`.
public struct EventType: Sendable, Equatable {
    /// "speech.started".
    public var name: String
    /// One line for `voicegraph describe`.
    public var doc: String
    /// What it carries.
    public var fields: [Field]
    /// Whether the newest one is given to whoever begins to listen later: it tells a state.
    public var isRetained: Bool
    /// What it is for whoever keeps things; nil: nothing.
    public var role: EventRole?
    /// Whether it tells that what the node had to play by itself has ended.
    public var end: SourceEnd?
    /// What else programs need to know of it; nil: nothing.
    public var kind: EventKind?
    /// Whether it belongs to talking with the graph, so that visitors of its page are told it: every text does.
    public var isPublic: Bool
    /// What it says to people, in the form of `vg_event_type.sentence`; nil: its name and fields, or the text that it tells;
    /// empty: nothing.
    public var sentence: String?

    /// Describes an event.
    public init(
        _ name: String, _ doc: String, fields: [Field] = [], retained isRetained: Bool = false, role: EventRole? = nil,
        ends end: SourceEnd? = nil, kind: EventKind? = nil, public isPublic: Bool = false, says sentence: String? = nil
    ) {
        self.name = name
        self.doc = doc
        self.fields = fields
        self.isRetained = isRetained
        self.role = role
        self.end = end
        self.kind = kind
        self.sentence = sentence
        if case .text = role { self.isPublic = true } else { self.isPublic = isPublic }
    }
}

/// A row of numbers that a node publishes regularly; see `vg_series`.
public struct Series: Sendable, Equatable {
    /// "peak".
    public var name: String
    /// One line for `voicegraph describe`.
    public var doc: String
    /// "dBFS", "LUFS", or "" for a linear value.
    public var unit: String
    /// Frames a second; 0: irregular.
    public var rate: Double
    /// Numbers a frame; 0: one a channel, or as many as there are.
    public var width: Int
    /// Whether it is measured only while somebody asks for it by its name; see `NodeHost.wants`.
    public var isOnRequest: Bool

    /// Describes a series.
    public init(
        _ name: String, _ doc: String, unit: String = "", rate: Double = 0, width: Int = 0,
        onRequest isOnRequest: Bool = false
    ) {
        self.name = name
        self.doc = doc
        self.unit = unit
        self.rate = rate
        self.width = width
        self.isOnRequest = isOnRequest
    }
}

/// How a node is; see `vg_health`.
public enum Health: Sendable, Equatable {
    /// It does what it should.
    case ok
    /// It does less, for this reason.
    case degraded(String)
    /// It does nothing, for this reason.
    case failed(String)

    /// Why it is not well; nil: it is.
    public var reason: String? {
        switch self {
        case .ok: nil
        case .degraded(let reason), .failed(let reason): reason
        }
    }

    /// "ok", "degraded" or "failed".
    public var name: String {
        switch self {
        case .ok: "ok"
        case .degraded: "degraded"
        case .failed: "failed"
        }
    }
}
