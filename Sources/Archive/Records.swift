// SPDX-License-Identifier: Apache-2.0

/// A run of which something is kept.
public struct ArchivedSession: Sendable, Equatable {
    /// How it ended.
    public enum End: String, Sendable, Equatable {
        /// As it should.
        case ended
        /// Its process was gone.
        case crashed
    }

    /// Its number, by which commands name it.
    public var id: Int64
    /// The name of its graph.
    public var graph: String
    /// The file of the graph; nil: there was none.
    public var file: String?
    /// When it began, in seconds since 1970.
    public var start: Double
    /// When it ended; nil: it goes on.
    public var end: Double?
    /// How it ended; nil: it goes on.
    public var ended: End?
    /// How many items are kept of it.
    public var items: Int
    /// How many takes are.
    public var takes: Int
    /// Who is heard in its items, in the order in which they spoke first.
    public var speakers: [String]
}

/// What was said, or answered: one item of a transcript.
public struct ArchivedItem: Sendable, Equatable {
    /// Its number, by which commands name it.
    public var id: Int64
    /// The session's.
    public var session: Int64
    /// The name of the session's graph.
    public var graph: String
    /// Who is heard.
    public var speaker: String
    /// The node that told it.
    public var node: String
    /// When it begins, in seconds of the graph.
    public var start: Double
    /// When it ends.
    public var end: Double
    /// When it begins, in seconds since 1970.
    public var utc: Double
    /// Whether it is complete.
    public var state: ArchivedState
    /// The text: as it was edited, or else as it was told.
    public var text: String
    /// What was told, where the text was edited; nil: it was not.
    public var original: String?
}

/// A recording.
public struct ArchivedTake: Sendable, Equatable {
    /// Its number, by which commands name it.
    public var id: Int64
    /// The session's.
    public var session: Int64
    /// The name of the session's graph.
    public var graph: String
    /// Who is recorded.
    public var speaker: String
    /// The node that recorded it.
    public var node: String
    /// Its file.
    public var path: String
    /// What the file is called as long as the take is not complete; nil: it is.
    public var place: String?
    /// Per channel; nil: not known.
    public var frames: Int64?
    /// Hz; nil: not known.
    public var rate: Double?
    /// Nil: not known.
    public var channels: Int?
    /// How long it is; nil: not known.
    public var seconds: Double?
    /// When it begins, in seconds of the graph.
    public var start: Double
    /// When it ended, or when it was told of last.
    public var end: Double
    /// When it begins, in seconds since 1970.
    public var utc: Double
    /// Whether it is complete.
    public var state: ArchivedState
    /// Why it ended, where that was not asked for.
    public var reason: String?

    /// The file that holds it now.
    public var file: String { state == .whole ? path : place ?? path }
    /// Where that is; nil: what kept it did not say from which folder, and in this one there may be another of that name.
    public var location: String? { file.hasPrefix("/") ? file : nil }
}

/// Which items or takes are meant. All that is said must be true of them.
public struct ArchiveFilter: Sendable, Equatable {
    /// Numbers of items or takes; nil: any.
    public var ids: [Int64]?
    /// Of these sessions; nil: of any.
    public var sessions: [Int64]?
    /// Who is heard; nil: anybody.
    public var speaker: String?
    /// Begun before this, in seconds since 1970; nil: whenever.
    public var before: Double?

    /// Which; by default all.
    public init(ids: [Int64]? = nil, sessions: [Int64]? = nil, speaker: String? = nil, before: Double? = nil) {
        self.ids = ids
        self.sessions = sessions
        self.speaker = speaker
        self.before = before
    }
}
