// SPDX-License-Identifier: GPL-3.0-or-later
import NodeKit

/// What is told of speech, at the frame of the graph at which it is heard: what leaves the node now is heard as late as
/// the rest of the graph and the device are.
extension Speaker {
    /// Publishes what was heard since the last call; `all`: also what was played, and will be heard in any case. [control]
    func poll(all: Bool = false) {
        let late = UInt64(host.outputLatency)
        let now = clock.now
        var due: [(mark: Mark, position: UInt64?, isLast: Bool, hasMore: Bool)] = []
        var gaps: [PlaybackTimes.Gap] = []
        var quiet: UInt64?
        monitor.locked {
            guard let pipe else { return }
            if let end = quietAt, all || now >= end || !marks.isEmpty {
                // What begins anew begins later.
                quiet = end
                quietAt = nil
            }
            let played = pipe.played
            while let run = pipe.nextRun() {
                if let gap = times.add(run, isStart: isStart(run.index)) { gaps.append(gap) }
            }
            while let mark = marks.first, isPlayed(mark, played) {
                let position = times.position(of: mark.index).map { $0 + late }
                if let position, !all, late > 0, mark.isEnd ? now < position : now <= position { break }
                marks.removeFirst()
                switch mark.kind {
                case .started:
                    startIndex = mark.index
                    heard = mark.speech
                case .word(_, let start, _), .place(let start): heard?.heard = start
                case .sentence: break
                case .finished, .failed: heard = nil
                }
                let rest = unfinished
                let hasMore = mark.isEnd && rest.contains { $0.item == mark.speech.item }
                due.append((mark, position, rest.isEmpty, hasMore))
            }
            times.forget(before: marks.first?.index)
            monitor.signal()  // there may be room in the pipe
        }
        if let quiet { host.publish(speaking: nil, at: quiet) }
        for (mark, position, isLast, hasMore) in due { publish(mark, position, isLast, hasMore) }
        tellHeld()
        for gap in gaps {
            host.count("missing", gap.frames)
            host.publish(SpeechEvent.gap, [("frames", .integer(Int64(gap.frames)))], at: gap.position + late)
        }
    }

    private func isPlayed(_ mark: Mark, _ played: Int) -> Bool {
        if mark.isEnd { return played >= mark.index }
        if played > mark.index { return true }
        // Of a speech without a sample nothing is heard but its place.
        let end = played == mark.index ? marks.first { $0.isEnd && $0.speech.number == mark.speech.number } : nil
        return end?.index == mark.index
    }

    private func isStart(_ index: Int) -> Bool {
        index == startIndex || marks.contains { $0.isStart && $0.index == index }
    }

    private func publish(_ mark: Mark, _ position: UInt64?, _ isLast: Bool, _ hasMore: Bool) {
        let speech = mark.speech
        switch mark.kind {
        case .started:
            if speech.heard == 0 { host.publish(SpeechEvent.started, speech, at: position) }
            host.publish(speaking: speech, paused: monitor.locked { isPaused } || clock.isHeld, at: position)
        case .finished(let frames):
            // Offline the worker's pace decides nothing, so that every run tells the same.
            if offline { publish(synthesized: speech, frames, at: position) }
            host.publish(SpeechEvent.finished, speech, at: position)
            send(heard: speech, isWhole: true, hasMore: hasMore, at: position)
        case .failed(let reason):
            host.publish(
                SpeechEvent.failed, speech,
                [("heard", .integer(Int64(speech.heard))), ("reason", .string(reason))], at: position)
            send(heard: speech, hasMore: hasMore, at: position)
        case .word(let text, let start, let length):
            let span = TextSpan(start: start, length: length)
            host.publish(SpeechEvent.word, speech, part: text, span, at: position)
        case .sentence(let text, let span):
            host.publish(SpeechEvent.sentence, speech, part: text, span, at: position)
        case .place: break
        }
        if mark.isEnd, isLast { host.publish(speaking: nil, at: position) }
    }

    /// Tells when the control `hold` begins to hold what is heard, and when it no longer does.
    private func tellHeld() {
        let isHeld = clock.isHeld
        if isHeld == isToldHeld { return }
        isToldHeld = isHeld
        let (speech, isPaused): (Speech?, Bool) = monitor.locked { (heard, self.isPaused) }
        guard let speech, !isPaused else { return }
        host.publish(speaking: speech, paused: isHeld, at: clock.heldSince + UInt64(host.outputLatency))
    }

    /// Sends what was heard of a text that has ended; `hasMore`: of its item more is to come. [control]
    func send(heard speech: Speech, isWhole: Bool = false, hasMore: Bool, at position: UInt64?) {
        var text = speech.text
        if !isWhole { text = String(text.unicodeScalars.prefix(speech.heard)) }
        if speech.isMarkup { text = withoutMarkup(text) }
        host.send(
            Message(.text(trimmed(text)), item: speech.item, position: position ?? 0, partial: hasMore))
    }

    /// Publishes that the last sample was made. [any]
    func publish(synthesized speech: Speech, _ frames: Int, at position: UInt64? = nil) {
        host.publish(SpeechEvent.synthesized, speech, [("frames", .integer(Int64(frames)))], at: position)
    }
}
