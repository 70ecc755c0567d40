// SPDX-License-Identifier: Apache-2.0

/// How captions are written: SubRip, or WebVTT (W3C) with the time of each word.
package enum CaptionFormat {
    case srt, vtt

    /// By the file's suffix; nil: another.
    package init?(path: String) {
        if path.lowercased().hasSuffix(".srt") {
            self = .srt
        } else if path.lowercased().hasSuffix(".vtt") {
            self = .vtt
        } else {
            return nil
        }
    }

    /// What stands before the first one.
    package var head: String { self == .vtt ? "WEBVTT\n\n" : "" }

    /// A caption; the number counts from 1.
    package func text(_ cue: Cue, number: Int) -> String {
        var last = cue.start
        let lines = cue.lines.map { line in
            line.map { part in
                guard self == .vtt else { return part.text }
                // Times within a caption follow each other.
                guard let time = part.time, last < time, time < cue.end else { return escaped(part.text) }
                last = time
                return "<\(clock(time))>" + escaped(part.text)
            }.joined()
        }
        return "\(self == .srt ? "\(number)\n" : "")\(clock(cue.start)) --> \(clock(cue.end))\n"
            + lines.joined(separator: "\n") + "\n\n"
    }

    /// What would be read as markup.
    private func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }

    /// Hours, minutes, seconds and milliseconds.
    private func clock(_ all: Int) -> String {
        func digits(_ number: Int, _ count: Int) -> String {
            String(repeating: "0", count: max(0, count - String(number).count)) + String(number)
        }
        return "\(digits(all / 3_600_000, 2)):\(digits(all / 60_000 % 60, 2)):\(digits(all / 1000 % 60, 2))"
            + (self == .srt ? "," : ".") + digits(all % 1000, 3)
    }
}

/// Writes captions one after the other.
package struct CaptionWriter {
    private let format: CaptionFormat
    private var track = CueTrack()
    private var count = 0

    package init(_ format: CaptionFormat) { self.format = format }

    /// What is to be written now that these come next.
    package mutating func text(_ cues: [Cue]) -> String { cues.compactMap { track.add($0) }.map { next($0) }.joined() }

    /// The rest.
    package mutating func end() -> String { track.end().map { next($0) } ?? "" }

    private mutating func next(_ cue: Cue) -> String {
        count += 1
        return format.text(cue, number: count)
    }
}
