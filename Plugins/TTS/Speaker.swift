// SPDX-License-Identifier: GPL-3.0-or-later
import NodeKit

/// What is spoken, by a thread of its own, into a pipe to the processor.
final class Speaker: @unchecked Sendable {
    // Sendable: `monitor` guards everything that changes.

    let monitor = Monitor()
    let host: NodeHost
    let engine: any VoiceEngine
    let clock = SpeechClock()
    var speeches: [Speech] = []
    var marks: [Mark] = []
    /// Raised by each stop; work of an older one is void.
    var generation = 0
    /// The newest speech that was skipped while it was made; it and those before it are void.
    var skipped = 0
    /// Whether the worker has yet to say where the next speech begins in the pipe.
    var settling = false
    var working: Speech?
    var synthesizing = false
    var ending = false
    let mode: SpeakerMode
    var isPaused = false
    /// The volume of which it was told that it is too much; of the worker alone.
    var toldVolume = 0
    var pipe: PlaybackPipe?
    var times = PlaybackTimes()
    /// Where in the pipe the speech began that was told last.
    var startIndex = -1
    /// What is being heard, and how far.
    var heard: Speech?
    /// When all is quiet, in frames of the graph, once what was stopped has been heard; nil: told already.
    var quietAt: UInt64?
    /// Whether it was told that the control `hold` holds what is heard.
    var isToldHeld = false
    private var count = 0
    /// The newest item that a message brought, the one of them that was stopped last, and the newest of the node's own.
    var given: UInt64 = 0
    var stoppedItem: UInt64 = 0
    private var own: UInt64 = 1 << 32

    init(host: NodeHost, engine: any VoiceEngine, mode: SpeakerMode) {
        self.host = host
        self.engine = engine
        self.mode = mode
    }

    var offline: Bool { mode.isOffline }

    /// Makes the audio half; speech in progress goes on with the word that was heard last. [control]
    func prepare(_ preparation: Preparation) -> PlaybackPipe {
        mode.isOffline = preparation.offline
        return monitor.locked {
            if let pipe, pipe.rate == preparation.rate, pipe.maxBlock >= preparation.maxBlock { return pipe }
            let longest = max(16384, preparation.maxBlock)
            let fresh = PlaybackPipe(channels: 1, frames: 4 * longest, maxBlock: longest, rate: preparation.rate)
            fresh.setPaused(isPaused)
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
    /// first. What is blank only stops, and what comes of a stopped item is dropped: who gave it had not heard of that.
    /// Returns the item: `item`, or one of the node's own. [control]
    func speak(_ text: String, voice: Voice, item: UInt64 = 0, queued: Bool) throws(NodeError) -> UInt64 {
        let text = trimmed(text)
        let isMarkup = voice.ssml.isMarkup(text)
        try check(text, isMarkup, voice)
        if text.isEmpty {
            stop()
            if item != 0 { monitor.locked { stoppedItem = item } }
            return item
        }
        let (isNewest, isLate) = monitor.locked { (item != 0 && item == given, item != 0 && item == stoppedItem) }
        if isLate {
            host.count("late")
            return item
        }
        if !isNewest, !queued { stop() }
        let taken: UInt64? = monitor.locked {
            if speeches.count >= 256 { return nil }
            count += 1
            if item == 0 { own += 1 }
            given = item
            let speech = Speech(
                number: count, item: item == 0 ? own : item, text: text, isMarkup: isMarkup, voice: voice,
                generation: generation)
            speeches.append(speech)
            monitor.signal()
            return speech.item
        }
        guard let taken else {
            host.count("refused")
            throw NodeError("256 texts are waiting to be spoken", hint: "stop, or wait until some were heard")
        }
        return taken
    }

    /// Throws what a text is that nobody can speak; then nothing has changed.
    private func check(_ text: String, _ isMarkup: Bool, _ voice: Voice) throws(NodeError) {
        if let part = binaryPart(of: text) {
            let code = String(part.scalar.value, radix: 16, uppercase: true)
            throw NodeError(
                "this is no text: character \(part.place + 1) is U+\(String(repeating: "0", count: max(0, 4 - code.count)))\(code)",
                hint: "give text in UTF-8", key: TTS.text.name)
        }
        guard isMarkup else { return }
        if !engine.abilities(voice, markup: true).takesMarkup {
            throw NodeError(
                "\(type(of: engine).name) does not understand SSML",
                hint: "give engine = \"\(EspeakEngine.name)\", or ssml = false to have it read as it stands",
                key: TTS.ssml.name)
        }
        if let fault = markupFault(in: text) {
            throw NodeError(
                "the SSML is broken: \(fault)", hint: "correct it, or give ssml = false", key: TTS.text.name)
        }
    }

    /// Makes void what is spoken and what waits.
    func forget() {
        generation += 1
        speeches = []
        marks = []
        heard = nil
        clock.setSpeaking(false)
    }

    /// What was not heard to its end, in order.
    var unfinished: [Speech] {
        var result: [Speech] = []
        for speech in [heard].compactMap(\.self) + marks.map(\.speech) + current + speeches
        where result.last?.number != speech.number && !result.contains(where: { $0.number == speech.number }) {
            result.append(speech)
        }
        return result
    }

    /// What the worker has not made to its end; what it has made is in `marks`.
    private var current: [Speech] { working.map { synthesizing && !isVoid($0) ? [$0] : [] } ?? [] }

    /// Whether what is made of a speech is for nobody any more.
    func isVoid(_ speech: Speech) -> Bool { speech.generation != generation || speech.number <= skipped }

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

    /// Whether nothing is spoken and nothing waits. [control]
    var isIdle: Bool {
        monitor.locked {
            working == nil && speeches.isEmpty && marks.isEmpty && heard == nil && quietAt == nil
        }
    }

    /// Whether something is heard, is about to be, or is held while somebody speaks. [control]
    var isSpeaking: Bool { monitor.locked { !isPaused && (quietAt != nil || !unfinished.isEmpty) } }

    /// Ends the worker. [control]
    func end() {
        monitor.locked {
            ending = true
            monitor.signal()
        }
    }
}

/// Whether the caller drives time; an engine may ask from its own thread.
final class SpeakerMode: Sendable {
    private let flag = Lock(false)

    var isOffline: Bool {
        get { flag.withLock { $0 } }
        set { flag.withLock { $0 = newValue } }
    }
}
