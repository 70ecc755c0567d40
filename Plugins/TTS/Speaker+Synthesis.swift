// SPDX-License-Identifier: GPL-3.0-or-later
import Glibc
import NodeKit
import SpokenText

/// The thread that makes the voice.
extension Speaker {
    /// Speaks one speech after the other until `end`. [worker]
    func run() {
        var isWell = true
        while let (speech, pipe) = next() { speak(speech, pipe, isWell: &isWell) }
    }

    private func next() -> (Speech, PlaybackPipe)? {
        monitor.locked {
            working = nil
            synthesizing = false
            monitor.signal()
            while !ending {
                if settling, let pipe {
                    settling = false
                    pipe.setStale(before: pipe.written)
                    monitor.signal()
                }
                if !speeches.isEmpty, let pipe {
                    let speech = speeches.removeFirst()
                    working = speech
                    synthesizing = true
                    return (speech, pipe)
                }
                monitor.wait(milliseconds: 1000)
            }
            return nil
        }
    }

    private func speak(_ speech: Speech, _ pipe: PlaybackPipe, isWell: inout Bool) {
        let output = VoiceOutput(pipe)
        mark(speech, .started, output.total)
        var reason: String?
        let text = speech.isMarkup ? SpokenText(asWritten: speech.text) : SpokenText(reading: speech.text)
        // Marked up text makes no sense in pieces, so it is not taken up where it was left either.
        let whole = TextPiece(text: speech.text, start: 0, sentences: [TextSpan(start: 0, length: text.count)])
        let from = speech.heard == 0 ? 0 : text.place(ofWritten: speech.heard)
        var pieces =
            speech.isMarkup ? nil : TextPieces(text, cut: engine.abilities(speech.voice, markup: false).cut, from: from)
        var next: TextPiece? = speech.isMarkup ? whole : pieces?.next()
        while let piece = next {
            do throws(NodeError) {
                try synthesize(piece, of: text, speech, output, pipe)
            } catch {
                // Of what is missing it is said how to get it.
                reason = error.key.isEmpty ? error.description : error.message
            }
            output.end { write(speech, pipe, $0) }
            if !drain(output, speech, pipe) { return }
            if reason != nil { break }
            next = pieces?.next()
        }
        if !isValid(speech) { return }
        tell(limited: output, of: speech)
        if let reason {
            host.log(VG_LOG_ERROR, "cannot speak: \(reason)")
            host.health(.degraded("the last text could not be spoken: \(reason)"))
            mark(speech, .failed(reason), output.total)
        } else {
            if !isWell { host.health(.ok) }
            let frames = output.total - output.start
            // Before what makes it heard: whoever hears of its end has heard of this.
            if !offline { publish(synthesized: speech, frames) }
            mark(speech, .finished(frames: frames), output.total)
        }
        isWell = reason == nil
        monitor.locked {
            synthesizing = false
            monitor.signal()
        }
        _ = drain(output, speech, pipe)
        monitor.locked {
            if !isVoid(speech), speeches.isEmpty { clock.setSpeaking(false) }
        }
    }

    /// Tells that a voice was beyond full scale; the log only once for a volume. [worker]
    private func tell(limited output: VoiceOutput, of speech: Speech) {
        if output.limited == 0 { return }
        host.count("limited", output.limited)
        if toldVolume == speech.voice.volume { return }
        toldVolume = speech.voice.volume
        let tenths = Int((200 * log10(output.loudest)).rounded())
        host.log(
            VG_LOG_WARNING,
            "the voice at volume \(speech.voice.volume) was beyond full scale"
                + (tenths > 0 ? ", by up to \(tenths / 10).\(tenths % 10) dB; it was limited" : "; it was cut off"))
    }

    /// Makes one piece of what is spoken of a speech. [worker]
    private func synthesize(
        _ piece: TextPiece, of text: SpokenText, _ speech: Speech, _ output: VoiceOutput, _ pipe: PlaybackPipe
    ) throws(NodeError) {
        let end = piece.start + piece.text.unicodeScalars.count
        let start = output.total
        let abilities = engine.abilities(speech.voice, markup: speech.isMarkup)
        var sentences = piece.sentences[...]
        /// What stands in the speech's text, and where.
        func written(_ span: TextSpan) -> (text: String, span: TextSpan)? {
            let range = span.start..<min(span.end, text.count)
            return text.written(range).map { (text.known(range), TextSpan(start: $0.lowerBound, length: $0.count)) }
        }
        /// A sentence begins with its first word.
        func markSentences(until end: Int, at index: Int) {
            while let sentence = sentences.first, sentence.start <= end {
                sentences.removeFirst()
                guard let (said, span) = written(sentence) else { continue }
                mark(speech, .sentence(text: said, span), index)
            }
        }
        if !abilities.tellsWords {
            let range = piece.start..<end
            if let place = text.written(range)?.lowerBound { mark(speech, .place(place), start) }
            markSentences(until: .max, at: start)
        }
        try engine.synthesize(
            speech.isMarkup ? withoutSounds(piece.text) : piece.text, markup: speech.isMarkup, speech.voice,
            begin: { output.begin(rate: $0, volume: speech.voice.volume, own: abilities.volume) },
            deliver: { samples, words in
                for word in words where piece.start + word.start + word.length <= end {
                    let place = TextSpan(start: piece.start + word.start, length: word.length)
                    guard let (said, span) = written(place) else { continue }
                    // Of markup espeak-ng also tells what is left of entities and ends.
                    if speech.isMarkup, !said.contains(where: { $0.isLetter || $0.isNumber }) { continue }
                    let index = start + Int(word.time * pipe.rate)
                    markSentences(until: place.start, at: index)
                    self.mark(speech, .word(text: said, start: span.start, length: span.length), index)
                }
                output.take(samples) { self.write(speech, pipe, $0) }
                return self.isValid(speech)
            })
    }

    /// Waits for room and moves what waits for it, so that no more is made ahead than one piece. False: the
    /// speech is void. [worker]
    private func drain(_ output: VoiceOutput, _ speech: Speech, _ pipe: PlaybackPipe) -> Bool {
        while true {
            output.flush { write(speech, pipe, $0) }
            let isValid = monitor.locked {
                if isVoid(speech) || ending { return false }
                if output.waiting > 0, pipe.space == 0 { monitor.wait(milliseconds: 50) }
                return true
            }
            if !isValid { return false }
            if output.waiting == 0 { return true }
        }
    }

    private func write(_ speech: Speech, _ pipe: PlaybackPipe, _ samples: UnsafeBufferPointer<Float>) -> Int {
        monitor.locked {
            if isVoid(speech) { return 0 }
            let count = pipe.write(samples)
            monitor.signal()
            return count
        }
    }

    private func isValid(_ speech: Speech) -> Bool { monitor.locked { !isVoid(speech) && !ending } }

    private func mark(_ speech: Speech, _ kind: Mark.Kind, _ index: Int) {
        monitor.locked {
            if isVoid(speech) { return }
            let mark = Mark(kind: kind, index: index, speech: speech)
            if mark.isStart { clock.setSpeaking(true) }
            if mark.isEnd {
                // A word that the engine places behind the last sample would be waited for for ever.
                for place in marks.indices where !marks[place].isStart && marks[place].speech.number == speech.number {
                    marks[place].index = min(marks[place].index, max(index - 1, 0))
                }
            }
            marks.append(mark)
        }
    }
}
