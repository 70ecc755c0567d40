// SPDX-License-Identifier: GPL-3.0-or-later
import Glibc
import NodeKit

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
        // Marked up text makes no sense in pieces, so it is not taken up where it was left either.
        var offset = speech.isMarkup ? 0 : speech.heard
        var rest = String.UnicodeScalarView()
        rest.append(contentsOf: speech.text.unicodeScalars.dropFirst(offset))
        for piece in speech.isMarkup ? [speech.text] : pieces(String(rest)) {
            do throws(NodeError) {
                try synthesize(piece, of: speech, from: offset, output, pipe)
            } catch {
                reason = error.message
            }
            output.end { write(speech, pipe, $0) }
            offset += piece.unicodeScalars.count
            if !drain(output, speech, pipe, all: false) { return }
            if reason != nil { break }
        }
        if !isValid(speech) { return }
        tell(limited: output, of: speech)
        if let reason {
            host.log(VG_LOG_ERROR, "cannot speak: \(reason)")
            host.health(.degraded("the last text could not be spoken: \(reason)"))
            mark(speech, .failed(reason), output.total)
        } else {
            if !isWell { host.health(.ok) }
            mark(speech, .finished, output.total)
            host.publish(
                SpeechEvent.synthesized, speech, [("frames", .integer(Int64(output.total - output.start)))], at: nil)
        }
        isWell = reason == nil
        monitor.locked {
            synthesizing = false
            monitor.signal()
        }
        _ = drain(output, speech, pipe, all: true)
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

    /// Makes one piece of a speech, which begins at its scalar `offset`. [worker]
    private func synthesize(
        _ piece: String, of speech: Speech, from offset: Int, _ output: VoiceOutput, _ pipe: PlaybackPipe
    ) throws(NodeError) {
        let scalars = Array(piece.unicodeScalars)
        let start = output.total
        try Espeak.synthesize(
            speech.isMarkup ? withoutSounds(piece) : piece, markup: speech.isMarkup, speech.voice,
            begin: { output.begin(rate: $0, volume: speech.voice.volume) },
            deliver: { samples, words in
                for word in words where word.start + word.length <= scalars.count {
                    var text = String.UnicodeScalarView()
                    text.append(contentsOf: scalars[word.start..<word.start + word.length])
                    // Of markup espeak-ng also tells what is left of entities and ends.
                    if speech.isMarkup, !String(text).contains(where: { $0.isLetter || $0.isNumber }) { continue }
                    self.mark(
                        speech, .word(text: String(text), start: offset + word.start, length: word.length),
                        start + Int(Double(word.time) * 0.001 * pipe.rate))
                }
                output.take(samples) { self.write(speech, pipe, $0) }
                // Offline an end in the middle would leave espeak-ng in a state that time decides.
                return self.offline || self.isValid(speech)
            })
    }

    /// Waits for room and moves what waits for it: everything, or until little enough is left that the next piece may
    /// be made. False: the speech is void. [worker]
    private func drain(_ output: VoiceOutput, _ speech: Speech, _ pipe: PlaybackPipe, all: Bool) -> Bool {
        while true {
            output.flush { write(speech, pipe, $0) }
            let valid = monitor.locked {
                let left = output.waiting
                if speech.generation != generation || ending { return false }
                if left > 0, all || !offline, pipe.space == 0 { monitor.wait(milliseconds: 50) }
                return true
            }
            if !valid { return false }
            if output.waiting == 0 || (!all && offline) { return true }
        }
    }

    private func write(_ speech: Speech, _ pipe: PlaybackPipe, _ samples: UnsafeBufferPointer<Float>) -> Int {
        monitor.locked {
            guard speech.generation == generation else { return 0 }
            let count = pipe.write(samples)
            monitor.signal()
            return count
        }
    }

    private func isValid(_ speech: Speech) -> Bool {
        monitor.locked { speech.generation == generation && !ending }
    }

    private func mark(_ speech: Speech, _ kind: Mark.Kind, _ index: Int) {
        monitor.locked {
            guard speech.generation == generation else { return }
            let mark = Mark(kind: kind, index: index, speech: speech)
            if mark.isEnd {
                // A word that espeak-ng places behind the last sample would be waited for for ever.
                for place in marks.indices where !marks[place].isStart && marks[place].speech.number == speech.number {
                    marks[place].index = min(marks[place].index, index - 1)
                }
            }
            marks.append(mark)
        }
    }
}
