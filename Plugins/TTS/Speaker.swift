// SPDX-License-Identifier: GPL-3.0-or-later
import NodeKit

/// What is spoken, by a thread of its own, into a pipe to the processor.
final class Speaker: @unchecked Sendable {
    // Sendable: `monitor` guards everything that changes.

    let monitor = Monitor()
    let host: NodeHost
    var speeches: [Speech] = []
    var marks: [Mark] = []
    /// Raised by each stop; work of an older one is void.
    var generation = 0
    /// Whether the worker has yet to say where the next speech begins in the pipe.
    var settling = false
    var working: Speech?
    var synthesizing = false
    var ending = false
    var offline = false
    /// The volume of which it was told that it is too much; of the worker alone.
    var toldVolume = 0
    var pipe: PlaybackPipe?
    private var times = PlaybackTimes()
    /// Where in the pipe the speech began that was told last.
    private var startIndex = -1
    /// What is being heard, and how far.
    private var heard: Speech?
    private var count = 0
    /// The newest item that a message brought, and the newest of the node's own.
    private var given: UInt64 = 0
    private var own: UInt64 = 1 << 32

    init(host: NodeHost) { self.host = host }

    /// Makes the audio half; speech in progress goes on with the word that was heard last. [control]
    func prepare(_ preparation: Preparation) -> PlaybackPipe {
        monitor.locked {
            offline = preparation.offline
            if let pipe, pipe.rate == preparation.rate, pipe.maxBlock >= preparation.maxBlock { return pipe }
            let longest = max(16384, preparation.maxBlock)
            let fresh = PlaybackPipe(channels: 1, frames: 4 * longest, maxBlock: longest, rate: preparation.rate)
            let again = unfinished
            forget()
            speeches = again.map {
                var speech = $0
                speech.generation = generation
                return speech
            }
            times.forget()
            startIndex = -1
            settling = false
            pipe = fresh
            monitor.signal()
            return fresh
        }
    }

    /// Speaks, after what is spoken already if it is `queued` or belongs to the newest item; otherwise that stops
    /// first. What is blank only stops. Returns the item: `item`, or one of the node's own. [control]
    func speak(_ text: String, voice: Voice, item: UInt64 = 0, queued: Bool) throws(NodeError) -> UInt64 {
        let text = trimmed(text)
        let waits = queued || (item != 0 && monitor.locked { item == given })
        if !waits || text.isEmpty { stop() }
        if text.isEmpty { return item }
        let taken: UInt64? = monitor.locked {
            if speeches.count >= 256 { return nil }
            count += 1
            if item == 0 { own += 1 }
            given = item
            let speech = Speech(
                number: count, item: item == 0 ? own : item, text: text, isMarkup: voice.ssml.isMarkup(text),
                voice: voice, generation: generation)
            speeches.append(speech)
            monitor.signal()
            // espeak-ng's voice depends on what it spoke before, so offline the order of speeches must not be left to
            // the threads.
            while offline, !waits, !ending, pipe != nil, synthesizing || !speeches.isEmpty { monitor.wait() }
            return speech.item
        }
        guard let taken else {
            host.count("refused")
            throw NodeError("256 texts are waiting to be spoken", hint: "stop, or wait until some were heard")
        }
        return taken
    }

    /// Ends all speech with a short fade. [control]
    func stop() {
        let (stopped, position) = monitor.locked {
            let stopped = unfinished
            if stopped.isEmpty { return ([Speech](), UInt64?.none) }
            guard let pipe else {
                forget()
                return (stopped, nil)
            }
            if offline {
                // So that the fade has the same samples in every run.
                while working != nil, pipe.waiting < pipe.player.fadeFrames, !ending { monitor.wait() }
            }
            forget()
            settling = true
            pipe.setStale(before: .max)
            monitor.signal()
            return (stopped, times.position(of: pipe.played))
        }
        for speech in stopped {
            host.publish(SpeechEvent.stopped, speech, [("heard", .integer(Int64(speech.heard)))], at: position)
        }
        if !stopped.isEmpty { host.publish(speaking: nil, at: position) }
    }

    /// Makes void what is spoken and what waits.
    private func forget() {
        generation += 1
        speeches = []
        marks = []
        heard = nil
    }

    /// What was not heard to its end, in order.
    private var unfinished: [Speech] {
        var result: [Speech] = []
        for speech in [heard].compactMap(\.self) + marks.map(\.speech) + current + speeches
        where !result.contains(where: { $0.number == speech.number }) { result.append(speech) }
        return result
    }

    /// What the worker has not made to its end; what it has made is in `marks`.
    private var current: [Speech] { working.map { synthesizing && $0.generation == generation ? [$0] : [] } ?? [] }

    /// Offline: returns when `frames` can be played without a gap, or when nothing more comes. [control]
    func wait(frames: Int) {
        monitor.locked {
            while let pipe, !ending {
                pipe.player.dropStale()  // nobody else reads now
                monitor.signal()
                if !settling, pipe.waiting >= frames || (working == nil && speeches.isEmpty) { return }
                monitor.wait()
            }
        }
    }

    /// Publishes what was heard since the last call. [control]
    func poll() {
        var due: [(mark: Mark, position: UInt64?, isLast: Bool)] = []
        var gaps: [PlaybackTimes.Gap] = []
        monitor.locked {
            guard let pipe else { return }
            let played = pipe.played
            while let run = pipe.nextRun() {
                if let gap = times.add(run, isStart: isStart(run.index)) { gaps.append(gap) }
            }
            while let mark = marks.first, isHeard(mark, played) {
                let position = times.position(of: mark.index)
                marks.removeFirst()
                switch mark.kind {
                case .started:
                    startIndex = mark.index
                    heard = mark.speech
                case .word(_, let start, _): heard?.heard = start
                case .finished, .failed: heard = nil
                }
                due.append((mark, position, unfinished.isEmpty))
            }
            times.forget(before: marks.first?.index)
            monitor.signal()  // there may be room in the pipe
        }
        for (mark, position, isLast) in due { publish(mark, position, isLast) }
        for gap in gaps {
            host.count("missing", gap.frames)
            host.publish(SpeechEvent.gap, [("frames", .integer(Int64(gap.frames)))], at: gap.position)
        }
    }

    /// Whether nothing is spoken and nothing waits. [control]
    var isIdle: Bool {
        monitor.locked { working == nil && speeches.isEmpty && marks.isEmpty && heard == nil }
    }

    /// Ends the worker. [control]
    func end() {
        monitor.locked {
            ending = true
            monitor.signal()
        }
    }

    private func isHeard(_ mark: Mark, _ played: Int) -> Bool {
        if mark.isEnd { return played >= mark.index }
        // Of a speech without a sample nothing is heard but its place.
        let isEmpty = mark.isStart && marks.count > 1 && marks[1].isEnd && marks[1].index == mark.index
        return played > mark.index || (isEmpty && played == mark.index)
    }

    private func isStart(_ index: Int) -> Bool {
        index == startIndex || marks.contains { $0.isStart && $0.index == index }
    }

    private func publish(_ mark: Mark, _ position: UInt64?, _ isLast: Bool) {
        let speech = mark.speech
        switch mark.kind {
        case .started:
            if speech.heard == 0 { host.publish(SpeechEvent.started, speech, at: position) }
            host.publish(speaking: speech, at: position)
        case .finished: host.publish(SpeechEvent.finished, speech, at: position)
        case .failed(let reason):
            host.publish(
                SpeechEvent.failed, speech,
                [("heard", .integer(Int64(speech.heard))), ("reason", .string(reason))], at: position)
        case .word(let text, let start, let length):
            host.publish(
                SpeechEvent.word,
                [
                    ("item", .integer(Int64(clamping: speech.item))), ("text", .string(text)),
                    ("offset", .integer(Int64(start))), ("length", .integer(Int64(length))),
                ], at: position)
        }
        if mark.isEnd, isLast { host.publish(speaking: nil, at: position) }
    }
}
