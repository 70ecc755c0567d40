// SPDX-License-Identifier: Apache-2.0
import Glibc
import Host
import NodeKit

/// What is kept, as commands and calls tell it.
public protocol ArchivedRecord {
    /// In the order in which they are told; nil: not known.
    var fields: [(name: String, value: SettingValue?)] { get }
}

extension ArchivedSession: ArchivedRecord {
    /// "running", "ended" or "crashed".
    public var state: String { ended?.rawValue ?? "running" }

    /// See `ArchivedRecord`.
    public var fields: [(name: String, value: SettingValue?)] {
        [
            ("id", .integer(id)), ("graph", .string(graph)), ("file", file.map { .string($0) }),
            ("start", moment(start)), ("end", end.map(moment)), ("state", .string(state)),
            ("items", .integer(Int64(items))), ("takes", .integer(Int64(takes))),
            ("speakers", .list(speakers.map { .string($0) })),
        ]
    }
}

extension ArchivedItem: ArchivedRecord {
    /// See `ArchivedRecord`.
    public var fields: [(name: String, value: SettingValue?)] {
        [
            ("id", .integer(id)), ("session", .integer(session)), ("graph", .string(graph)), ("node", .string(node)),
            ("speaker", .string(speaker)), ("start", rounded(start)), ("end", rounded(end)), ("utc", moment(utc)),
            ("state", .string(state.rawValue)), ("text", .string(text)), ("original", original.map { .string($0) }),
        ]
    }
}

extension ArchivedTake: ArchivedRecord {
    /// Whether its file is where it was. [worker]
    public var isThere: Bool { location.map { access($0, F_OK) == 0 } ?? false }

    /// See `ArchivedRecord`.
    public var fields: [(name: String, value: SettingValue?)] {
        [
            ("id", .integer(id)), ("session", .integer(session)), ("graph", .string(graph)), ("node", .string(node)),
            ("speaker", .string(speaker)), ("path", .string(file)), ("exists", .bool(isThere)),
            ("frames", frames.map { .integer($0) }), ("rate", rate.map { .number($0) }),
            ("channels", channels.map { .integer(Int64($0)) }), ("seconds", seconds.map(rounded)),
            ("start", rounded(start)), ("end", rounded(end)), ("utc", moment(utc)),
            ("state", .string(state.rawValue)), ("reason", reason.map { .string($0) }),
        ]
    }
}

/// A time of the calendar, given in seconds since 1970.
private func moment(_ time: Double) -> SettingValue { .string(EventJSON.timestamp(time)) }

/// Milliseconds are as exact as anybody knows.
private func rounded(_ time: Double) -> SettingValue { .number((time * 1000).rounded() / 1000) }
