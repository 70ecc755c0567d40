// SPDX-License-Identifier: Apache-2.0
import Glibc
import Host
import NodeKit
import System

/// Captions that are written while a text is spoken, from what a tts node tells: SubRip, or WebVTT (W3C) with the time of
/// each word.
final class CaptionFile {
    enum Format {
        case srt, vtt

        /// By the file's suffix; nil: another.
        init?(path: String) {
            if path.lowercased().hasSuffix(".srt") {
                self = .srt
            } else if path.lowercased().hasSuffix(".vtt") {
                self = .vtt
            } else {
                return nil
            }
        }
    }

    private struct Word {
        var text: String
        var time: Double
        var offset: Int
    }

    /// Letters of a caption; two lines of what televisions show.
    private static let longest = 84

    private let format: Format
    private let file: WholeFile
    /// The text, to show what stands between words; nil: it is marked up.
    private let scalars: [Unicode.Scalar]?
    private var words: [Word] = []
    /// A sentence whose words were not told so far.
    private var sentence: Word?
    private var count = 0
    private var pending: [UInt8] = []

    /// Begins the file; one of that name is replaced when this is finished.
    init(_ path: String, of text: String) throws(HostError) {
        format = Format(path: path) ?? .srt
        scalars = text.hasPrefix("<") ? nil : Array(text.unicodeScalars)
        do throws(SystemError) { file = try WholeFile(path) } catch { throw HostError("\(error)") }
        if format == .vtt { try write("WEBVTT\n\n") }
    }

    /// Takes an event of the voice.
    func take(_ event: Event) throws(HostError) {
        guard let text = event.text("text"), case .integer(let offset)? = event.fields["offset"] else { return }
        let word = Word(text: text, time: event.time, offset: Int(offset))
        if event.name == "speech.sentence" {
            try writeCue(until: word.time, before: word.offset)
            sentence = word
        } else if event.name == "speech.word" {
            // Of a short form each word that it stands for is told, at its place.
            if let last = words.last, word.offset <= last.offset { return }
            if let first = words.first, length(first.offset, word.offset + text.unicodeScalars.count) > Self.longest {
                try writeCue(until: word.time, before: word.offset)
            }
            sentence = nil
            words.append(word)
        }
    }

    /// Completes the file; the speech has ended at `time`, in seconds.
    func finish(at time: Double) throws(HostError) {
        try writeCue(until: time, before: scalars?.count ?? .max)
        try flush()
        do throws(SystemError) { try file.finish() } catch { throw HostError("\(error)") }
    }

    private func length(_ start: Int, _ end: Int) -> Int { end - start }

    private func writeCue(until end: Double, before next: Int) throws(HostError) {
        defer {
            words = []
            sentence = nil
        }
        let parts = words.isEmpty ? [sentence].compactMap(\.self) : words
        guard let first = parts.first, end > first.time else { return }
        count += 1
        var text = ""
        for (place, word) in parts.enumerated() {
            // With what stands behind it in the text.
            let limit = place + 1 < parts.count ? parts[place + 1].offset : next
            let said = words.isEmpty ? word.text : whole(word, before: limit)
            if place > 0 {
                text += " "
                if format == .vtt { text += "<\(clock(word.time))>" }
            }
            text += escaped(said)
        }
        try write("\(format == .srt ? "\(count)\n" : "")\(clock(first.time)) --> \(clock(end))\n\(text)\n\n")
    }

    private func whole(_ word: Word, before limit: Int) -> String {
        guard let scalars, word.offset < min(limit, scalars.count) else { return word.text }
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars[word.offset..<min(limit, scalars.count)])
        // Lines and blanks of the text mean nothing here.
        return String(view).split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    private func escaped(_ text: String) -> String {
        let line = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        guard format == .vtt else { return line }
        return line.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }

    private func clock(_ seconds: Double) -> String {
        let all = max(0, Int(saturating: (seconds * 1000).rounded()))
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let milliseconds = String(1000 + all % 1000).dropFirst()
        return
            "\(two(all / 3_600_000)):\(two(all / 60000 % 60)):\(two(all / 1000 % 60))\(format == .srt ? "," : ".")\(milliseconds)"
    }

    private func write(_ text: String) throws(HostError) {
        pending += text.utf8
        if pending.count > 1 << 15 { try flush() }
    }

    private func flush() throws(HostError) {
        defer { pending = [] }
        do throws(SystemError) { try file.write(pending) } catch { throw HostError("\(error)") }
    }
}
