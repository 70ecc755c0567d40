// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import Host
import JSON

/// How a transcript is written.
enum TranscriptFormat: String, ExpressibleByArgument, CaseIterable {
    /// Lines of text.
    case txt
    /// Captions, SubRip.
    case srt
    /// Captions, WebVTT (w3.org/TR/webvtt1).
    case vtt
    /// One object a line, with words where they are known.
    case json

    /// What stands before the first item.
    var head: String { self == .vtt ? "WEBVTT\n\n" : "" }

    /// An item, the number of which counts from 1; `path` is its file's.
    func text(_ item: Transcription.Item, number: Int, path: String) -> String {
        switch self {
        case .txt: return item.text + "\n"
        case .srt:
            return "\(number)\n\(captionTime(item.start, ",")) --> \(captionTime(item.end, ","))\n\(item.text)\n\n"
        case .vtt:
            // What would be read as markup.
            let text = item.text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            return "\(captionTime(item.start, ".")) --> \(captionTime(item.end, "."))\n\(text)\n\n"
        case .json: return json(item, path) + "\n"
        }
    }

    private func json(_ item: Transcription.Item, _ path: String) -> String {
        var fields = [
            ("file", JSONText.string(path)), ("start", JSONText.number(rounded(item.start))),
            ("end", JSONText.number(rounded(item.end))), ("text", JSONText.string(item.text)),
        ]
        if let confidence = item.confidence { fields.append(("confidence", JSONText.number(rounded(confidence)))) }
        if !item.words.isEmpty {
            let words = item.words.map { word in
                var parts = [
                    ("text", JSONText.string(word.text)), ("start", JSONText.number(rounded(word.start))),
                    ("end", JSONText.number(rounded(word.end))),
                ]
                if let confidence = word.confidence {
                    parts.append(("confidence", JSONText.number(rounded(confidence))))
                }
                return JSONText.object(parts)
            }
            fields.append(("words", "[\(words.joined(separator: ","))]"))
        }
        return JSONText.object(fields)
    }
}

/// Milliseconds are as exact as anybody knows.
private func rounded(_ number: Double) -> Double { (number * 1000).rounded() / 1000 }

/// Hours, minutes, seconds and milliseconds, as captions have them.
private func captionTime(_ seconds: Double, _ mark: String) -> String {
    let all = max(0, Int(saturating: (seconds * 1000).rounded()))
    func digits(_ number: Int, _ count: Int) -> String {
        String(repeating: "0", count: max(0, count - String(number).count)) + String(number)
    }
    return "\(digits(all / 3_600_000, 2)):\(digits(all / 60_000 % 60, 2)):\(digits(all / 1000 % 60, 2))\(mark)"
        + digits(all % 1000, 3)
}
