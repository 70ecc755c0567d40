// SPDX-License-Identifier: Apache-2.0
import Glibc
import System

/// A file of captions, SubRip or WebVTT, as a film shows it: at most two lines of 42 letters, for 1 to 7 s, one after another.
struct CaptionFile {
    /// What is shown from when to when, in seconds.
    private struct Item {
        var start, end: Double
        var lines: [String]
    }

    private var items: [Item] = []

    /// Reads one; marks for how letters look, and where they stand, are left out. Throws where there is none, or it has none.
    init(path: String) throws(Fault) {
        guard let file = fopen(path, "re") else { throw Fault("\(path): \(String(cString: strerror(errno)))") }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
        self.init(text: String(decoding: bytes, as: UTF8.self))
        if items.isEmpty {
            throw Fault("\(path) has no captions", hint: "voicegraph transcribe --format srt makes them")
        }
    }

    init(text: String) {
        let lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }.map(String.init)
        for block in lines.split(whereSeparator: { $0.allSatisfy(\.isWhitespace) }) {
            guard let times = block.firstIndex(where: { $0.contains("-->") }) else { continue }
            let words = block[times].split(separator: " ")
            guard let arrow = words.firstIndex(of: "-->"), arrow > 0, arrow + 1 < words.count,
                let start = Self.seconds(words[arrow - 1]), let end = Self.seconds(words[arrow + 1])
            else { continue }
            let shown = block[(times + 1)...].map(Self.plain).filter { !$0.isEmpty }
            if !shown.isEmpty { items.append(Item(start: start, end: end, lines: shown)) }
        }
        items = items.enumerated().sorted { ($0.element.start, $0.offset) < ($1.element.start, $1.offset) }
            .map(\.element)
        join()
    }

    /// Hours, if there are any, minutes, and seconds with a comma or a full stop.
    private static func seconds(_ text: Substring) -> Double? {
        let parts = text.split(separator: ":").map { Double($0.replacing(",", with: ".")) }
        guard (2...3).contains(parts.count) else { return nil }
        return parts.reduce(0) { sum, part in sum.flatMap { all in part.map { all * 60 + $0 } } }
    }

    /// Without elements, and without the commands in braces that some programs write.
    private static func plain(_ line: String) -> String {
        var shown = line.replacing(/<\/?[A-Za-z][^>]*>|<[0-9:.]*:[0-9:.]*>|\{\\[^}]*\}/, with: "")
        for (name, sign) in [("&lt;", "<"), ("&gt;", ">"), ("&nbsp;", " "), ("&amp;", "&")] {
            shown = shown.replacing(name, with: sign)
        }
        return shown.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// What is too short to be read stays for a second, or is shown with the next.
    private mutating func join() {
        var joined: [Item] = []
        for item in items {
            if let last = joined.last, last.end - last.start < Self.shortest, item.start - last.start < Self.shortest {
                joined[joined.count - 1].lines = [(last.lines + item.lines).joined(separator: " ")]
                joined[joined.count - 1].end = max(last.end, item.end)
            } else {
                joined.append(item)
            }
        }
        items = joined
        for place in items.indices {
            items[place].end = max(items[place].end, items[place].start + Self.shortest)
        }
    }

    private static let shortest = Double(Cue.shortest) / 1000

    /// As SubRip.
    var subRip: String {
        var writer = CaptionWriter(.srt)
        return items.map { writer.text(cues($0)) }.joined() + writer.end()
    }

    /// Lines that fit stay as they were written.
    private func cues(_ item: Item) -> [Cue] {
        let letters = item.lines.map { CaptionLetters($0) }
        let fits = letters.count <= 2 && letters.allSatisfy { $0.columns($0.letters.indices) <= Cue.lineColumns }
        guard fits else {
            return CaptionText(item.lines.joined(separator: " "), start: item.start, end: item.end).cues
        }
        return [
            Cue(
                start: Cue.milliseconds(item.start),
                end: Cue.milliseconds(min(item.end, item.start + Cue.longest)),
                lines: item.lines.map { [Cue.Part(text: $0, time: nil)] })
        ]
    }
}
