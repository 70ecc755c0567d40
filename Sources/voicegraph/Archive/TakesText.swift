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

    private static func state(_ take: ArchivedTake) -> String {
        if !take.isThere { return "missing" }
        switch take.state {
        case .growing: return "recording"
        case .cut: return "cut off"
        case .whole: return take.reason == nil ? "complete" : "ended early"
        }
    }
}
