// SPDX-License-Identifier: Apache-2.0
import Archive
import ArgumentParser
import Film
import Host
import JSON
import System
import Terminal

/// Transcripts as text.
enum TranscriptsText {
    /// Sessions for people: a line each.
    static func table(_ sessions: [ArchivedSession], now: Double = calendarTime()) -> String {
        var table = TextTable(
            .init("ID", number: true), .init("begun"), .init("length"), .init("state"), .init("items", number: true),
            .init("graph"), .init("speakers"))
        table.rows = sessions.map { session in
            [
                String(session.id), localTime(session.start), duration((session.end ?? now) - session.start),
                session.state, String(session.items), session.graph, session.speakers.joined(separator: ", "),
            ]
        }
        return table.text()
    }

    /// Items of one session for people: all of their text.
    static func lines(_ items: [ArchivedItem], width: Int? = terminalWidth()) -> String {
        let numbers = items.map { String($0.id).count }.max() ?? 0
        let names = min(20, items.map { columns(printable($0.speaker)) }.max() ?? 0)
        return items.map { item in
            let id = String(repeating: " ", count: numbers - String(item.id).count) + String(item.id)
            let name = cut(printable(item.speaker), names)
            let head =
                "\(id)  \(duration(item.start))  \(name)"
                + String(repeating: " ", count: names - columns(name)) + "  "
            let text = printable(item.text) + marks(item)
            guard let width, width > columns(head) + 10 else { return head + text + "\n" }
            let indent = String(repeating: " ", count: columns(head))
            return head + wrap(text, width - columns(head)).joined(separator: "\n" + indent) + "\n"
        }.joined()
    }

    /// Items of many sessions for people: a line each.
    static func found(_ items: [ArchivedItem]) -> String {
        var table = TextTable(
            .init("ID", number: true), .init("session", number: true), .init("begun"), .init("speaker"), .init("text"))
        table.rows = items.map { item in
            [
                String(item.id), String(item.session), localTime(item.utc, seconds: true), item.speaker,
                item.text + marks(item),
            ]
        }
        return table.text()
    }

    /// What a person should know of a text.
    private static func marks(_ item: ArchivedItem) -> String {
        switch item.state {
        case .growing: " (still spoken)"
        case .cut: " (cut off)"
        case .whole: item.original == nil ? "" : " (edited)"
        }
    }
}

/// How transcripts are exported.
enum ExportFormat: String, ExpressibleByArgument, CaseIterable {
    /// Lines of text.
    case txt
    /// Captions, SubRip.
    case srt
    /// Captions, WebVTT.
    case vtt
    /// One object a line.
    case json
    /// Markdown.
    case md

    /// Whether its times make sense for one session only.
    var isCaptions: Bool { self == .srt || self == .vtt }

    /// All of it. Who speaks is said where several do.
    func text(_ sessions: [(session: ArchivedSession, items: [ArchivedItem])]) -> String {
        switch self {
        case .json: jsonLines(sessions.flatMap(\.items))
        case .md: sessions.map { markdown($0.session, $0.items) }.joined(separator: "\n")
        case .txt:
            sessions.flatMap { session, items in items.map { line(said($0, in: session)) + "\n" } }.joined()
        case .srt: captions(.srt, sessions)
        case .vtt: captions(.vtt, sessions)
        }
    }

    private func captions(
        _ format: CaptionFormat, _ sessions: [(session: ArchivedSession, items: [ArchivedItem])]
    ) -> String {
        var cues: [Cue] = []
        for (session, items) in sessions {
            for (index, item) in items.enumerated() {
                let next = index + 1 < items.count ? items[index + 1].start : .infinity
                // What was typed is shown until it is read, or until the next one begins.
                let end =
                    item.end > item.start
                    ? item.end : item.start + min(CaptionText.reading(columns(item.text)), max(1, next - item.start))
                cues += CaptionText(said(item, in: session), start: item.start, end: end).cues
            }
        }
        // Those who speak at the same time are shown in turn. Sorting keeps the order of equal ones.
        cues.sort { $0.start < $1.start }
        var writer = CaptionWriter(format)
        return format.head + writer.text(cues) + writer.end()
    }

    /// A text, with who says it where several speak.
    private func said(_ item: ArchivedItem, in session: ArchivedSession) -> String {
        (session.speakers.count > 1 ? "\(item.speaker): " : "") + item.text
    }

    private func markdown(_ session: ArchivedSession, _ items: [ArchivedItem]) -> String {
        var text = "# \(escaped(session.graph)), \(localTime(session.start))\n"
        for item in items {
            text += "\n**\(escaped(item.speaker))** (\(duration(item.start))): \(escaped(line(item.text)))"
            text += item.state == .whole ? "\n" : " *(cut off)*\n"
        }
        return text
    }

    private func line(_ text: String) -> String { text.split(whereSeparator: \.isNewline).joined(separator: " ") }

    /// What Markdown would take for its own (spec.commonmark.org, 2.4).
    private func escaped(_ text: String) -> String {
        text.map { "\\`*_[]<>#&|~".contains($0) ? "\\\($0)" : String($0) }.joined()
    }
}
