// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Film
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

    /// Nil: it has no captions.
    var captions: CaptionFormat? {
        switch self {
        case .srt: .srt
        case .vtt: .vtt
        case .txt, .json: nil
        }
    }
}

/// Writes what is recognized in files, one after the other.
struct TranscriptWriter {
    private let format: TranscriptFormat
    private var captions: CaptionWriter?
    /// Seconds of the files before, which captions go on after.
    private var before = 0.0

    init(_ format: TranscriptFormat) {
        self.format = format
        captions = format.captions.map { CaptionWriter($0) }
    }

    /// What stands before the first item.
    var head: String { format.captions?.head ?? "" }

    /// What is to be written now that a file has this item.
    mutating func text(_ item: Transcription.Item, of path: String) -> String {
        if format == .json { return json(item, path) + "\n" }
        return captions?.text(CaptionText(item, later: before).cues) ?? item.named + "\n"
    }

    /// Ends a file, so many seconds long.
    mutating func endFile(_ seconds: Double) { before += seconds }

    /// What is to be written behind the last item.
    mutating func end() -> String { captions?.end() ?? "" }

    private func json(_ item: Transcription.Item, _ path: String) -> String {
        var fields = [
            ("file", JSONText.string(path)), ("start", JSONText.number(milliseconds(item.start))),
            ("end", JSONText.number(milliseconds(item.end))), ("text", JSONText.string(item.text)),
        ]
        if let speaker = item.speaker { fields.append(("speaker", JSONText.string(speaker))) }
        if let confidence = item.confidence { fields.append(("confidence", JSONText.number(milliseconds(confidence)))) }
        if !item.words.isEmpty {
            let words = item.words.map { word in
                var parts = [
                    ("text", JSONText.string(word.text)), ("start", JSONText.number(milliseconds(word.start))),
                    ("end", JSONText.number(milliseconds(word.end))),
                ]
                if let confidence = word.confidence {
                    parts.append(("confidence", JSONText.number(milliseconds(confidence))))
                }
                return JSONText.object(parts)
            }
            fields.append(("words", "[\(words.joined(separator: ","))]"))
        }
        return JSONText.object(fields)
    }
}

/// Milliseconds are as exact as anybody knows.
private func milliseconds(_ seconds: Double) -> Double { (seconds * 1000).rounded() / 1000 }
