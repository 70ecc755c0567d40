// SPDX-License-Identifier: Apache-2.0
import Film
import Glibc
import Host
import NodeKit
import System

/// Captions of a text that is spoken, from what a tts node tells of when it is heard.
final class CaptionFile {
    private let format: CaptionFormat
    private let file: WholeFile
    private let shown: ShownText
    private var words: [CaptionText.Word] = []
    /// Unicode scalars of the text that was told to be heard.
    private var heard = 0
    private var isWhole = false

    /// Begins the file; one of that name is replaced when this is finished. `markup`: whether the text is SSML, auto, true or false.
    init(_ path: String, of text: String, markup: String = "auto") throws(Fault) {
        format = CaptionFormat(path: path) ?? .srt
        shown = ShownText(text, markup: markup)
        do throws(SystemError) { file = try WholeFile(path) } catch { throw Fault(error) }
    }

    /// Takes an event of the voice.
    func take(_ event: Event) {
        if event.type?.end != nil { isWhole = true }
        guard event.type?.kind == .word || event.type?.kind == .sentence,
            case .integer(let offset)? = event.fields["offset"]
        else { return }
        if case .integer(let length)? = event.fields["length"] { heard = max(heard, Int(offset + length)) }
        words.append(.init(offset: shown.offset(of: Int(offset)), start: event.time))
    }

    /// Writes the file; the speech has ended at `time`, in seconds.
    func finish(at time: Double) throws(Fault) {
        var writer = CaptionWriter(format)
        var text = format.head
        if let first = words.first {
            let said =
                isWhole
                ? shown.text
                : String(String.UnicodeScalarView(shown.text.unicodeScalars.prefix(shown.offset(of: heard))))
            text += writer.text(CaptionText(said, start: first.start, end: time, words: words).cues) + writer.end()
        }
        do throws(SystemError) {
            try file.write(Array(text.utf8))
            try file.finish()
        } catch { throw Fault(error) }
    }
}
