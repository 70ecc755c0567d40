// SPDX-License-Identifier: Apache-2.0
import Archive
import Glibc
import Host
import JSON

/// Takes as text.
enum TakesText {
    /// For people: a line each.
    static func table(_ takes: [ArchivedTake]) -> String {
        var table = TextTable(
            .init("ID", number: true), .init("begun"), .init("length"), .init("channels", number: true),
            .init("Hz", number: true),
            .init("speaker"), .init("state"), .init("file"))
        table.rows = takes.map { take in
            [
                String(take.id), localTime(take.utc), take.seconds.map(duration) ?? "",
                take.channels.map(String.init) ?? "", take.rate.map { String(Int(saturating: $0)) } ?? "", take.speaker,
                state(take), take.file,
            ]
        }
        return table.text()
    }

    /// For programs: an object a line.
    static func json(_ takes: [ArchivedTake]) -> String {
        takes.map { take in
            JSONText.object([
                ("id", String(take.id)), ("session", String(take.session)), ("graph", JSONText.string(take.graph)),
                ("node", JSONText.string(take.node)), ("speaker", JSONText.string(take.speaker)),
                ("path", JSONText.string(take.file)), ("exists", isThere(take) ? "true" : "false"),
                ("frames", take.frames.map { String($0) } ?? "null"),
                ("rate", take.rate.map { JSONText.number($0) } ?? "null"),
                ("channels", take.channels.map { String($0) } ?? "null"),
                ("seconds", take.seconds.map { JSONText.number(milliseconds($0)) } ?? "null"),
                ("start", JSONText.number(milliseconds(take.start))), ("end", JSONText.number(milliseconds(take.end))),
                ("utc", JSONText.string(EventJSON.timestamp(take.utc))),
                ("state", JSONText.string(take.state.rawValue)),
                ("reason", take.reason.map(JSONText.string) ?? "null"),
            ]) + "\n"
        }.joined()
    }

    /// Whether its file is where it was.
    static func isThere(_ take: ArchivedTake) -> Bool { take.location.map { access($0, F_OK) == 0 } ?? false }

    private static func state(_ take: ArchivedTake) -> String {
        if !isThere(take) { return "missing" }
        switch take.state {
        case .growing: return "recording"
        case .cut: return "cut off"
        case .whole: return take.reason == nil ? "complete" : "ended early"
        }
    }
}
