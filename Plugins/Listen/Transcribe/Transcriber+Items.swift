// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// How an item grows, and what is told of it. What goes wrong with one ends it alone.
extension Transcriber {
    /// Samples that an item has at most; the last of them are held back from the recognizer, since the item may be cut there.
    private var longest: Int { Int(options.longest * speechRate) }
    private var held: Int { min(longest / 4, Int(3 * speechRate)) }
    /// Samples without speech that may be the end: two windows of Silero's.
    static let pause = 1024

    /// Whether anybody wants to know what an item says before its end.
    private var isLive: Bool { !isOffline || options.partials != nil }

    /// Begins an item, with samples that it has already.
    func beginItem(at start: Double, _ samples: [Float], from position: Double) {
        guard let recognizer else { return }
        segment = Segment(
            item: numbers.next(offline: isOffline), start: start, position: position, isStrict: isStrict(at: start),
            samples: samples, partials: options.partials)
        watch?.begin()
        trying { () throws(NodeError) in
            try recognizer.begin(isLive: isLive)
            tell(.hearing)
            try recognize(recognizer)
        }
    }

    /// Adds to the item under way, if there is one; `isSpeech`: there may be speech in it, nil: nobody knows.
    func growItem(_ window: UnsafeBufferPointer<Float>, isSpeech: Bool?) {
        guard let recognizer, segment != nil else { return }
        trying { () throws(NodeError) in
            segment?.samples += window
            var mayBeSpeech = isSpeech
            if mayBeSpeech == nil { mayBeSpeech = try watch?.take(window) }
            if mayBeSpeech ?? true, let count = segment?.samples.count { segment?.spoken = count }
            try recognize(recognizer)
        }
    }

    /// Ends the item under way, if there is one; what it holds after `end` is silence.
    func endItem(at end: Double) {
        guard let recognizer, let segment else { return }
        trying { () throws(NodeError) in
            try finish(recognizer, at: segment.samples.count, end: max(end, segment.start))
        }
    }

    /// Lets the recognizer have what there is, tells what it makes of it, and cuts what is too long.
    private func recognize(_ recognizer: any Recognizer) throws(NodeError) {
        while let growing = segment {
            try feed(recognizer, upTo: min(growing.samples.count, longest - held))
            try tellPartial(recognizer)
            guard growing.samples.count >= longest else { return }
            let place = quietestPlace(growing.samples, in: (longest - held)..<growing.samples.count)
            let position = growing.position + Double(place) * rate / speechRate
            try finish(recognizer, at: place, end: position)
            segment = Segment(
                item: numbers.next(offline: isOffline), start: position, position: position,
                isStrict: growing.isStrict, samples: Array(growing.samples[place...]), partials: options.partials)
            try recognizer.begin(isLive: isLive)
            tell(.hearing)
        }
    }

    private func feed(_ recognizer: any Recognizer, upTo count: Int) throws(NodeError) {
        guard let segment, count > segment.fed else { return }
        self.segment?.fed = count
        try recognizer.feed(segment.samples[segment.fed..<count])
    }

    /// There is a partial text now and then; and where somebody seems to pause, since that may be the end, and the final
    /// text is there at once if it was.
    private func tellPartial(_ recognizer: any Recognizer) throws(NodeError) {
        guard let segment, !isBehind else { return }
        // Where nobody waits for it, the final text is made once.
        let isPause =
            !isOffline && segment.asked < segment.spoken && segment.fed - segment.spoken >= Self.pause
        // What begins in a silence would hold up the text of the pause.
        let isDue = options.partials != nil && segment.fed >= segment.nextPartial
        guard isLive, isPause || isDue && (isOffline || segment.fed <= segment.spoken && !mayPause) else { return }
        let begun = monotonicSeconds()
        let watch = pauseWatch()
        var isWanted = true
        let given = try recognizer.partial {
            isWanted = isPause || watch()
            return isWanted
        }
        // Live, two thirds of the time are left for what else there is to do.
        let rest = isOffline ? 0 : 3 * (monotonicSeconds() - begun)
        guard isWanted else {
            self.segment?.nextPartial = segment.fed + Int(rest * speechRate)
            return
        }
        self.segment?.asked = segment.fed
        let text = given ?? ""
        // What is not known to be for us is not told before its end.
        let who = names.name(in: segment.start..<max(segment.start + 1, place), rate: rate, waits: false)
        guard let interval = options.partials, options.takes(who) else { return }
        self.segment?.nextPartial = segment.fed + Int(max(interval, rest) * speechRate)
        if text == segment.partial { return }
        self.segment?.partial = text
        host.publish(
            TranscribeEvent.partial, [("item", .integer(Int64(segment.item))), ("text", .string(text))], at: now)
        host.send(Message(.text(text), item: segment.item, position: now, partial: true))
    }

    /// Makes the final text of the first `count` samples of the item, which ends at `end`.
    private func finish(_ recognizer: any Recognizer, at count: Int, end: Double) throws(NodeError) {
        tell(.finishing)
        try feed(recognizer, upTo: count)
        guard let who = whoSaid(until: end) else {
            recognizer.cancel()
            return
        }
        let result = try recognizer.finish(spoken: min(count, segment?.spoken ?? count))
        guard let segment else { return }
        self.segment = nil
        taken = segment.position + Double(count) * rate / speechRate
        if problem != nil { host.health(.ok) }
        problem = nil
        if let confidence = result.confidence, segment.isStrict, !result.text.isEmpty,
            confidence < options.sureness ?? choice.sureness
        {
            host.publish(
                TranscribeEvent.unsure,
                [
                    ("item", .integer(Int64(segment.item))), ("text", .string(result.text)),
                    ("confidence", .number(confidence)),
                ], at: UInt64(max(0, end)))
            takeBack(segment)
            tell(.listening)
            return
        }
        if !result.text.isEmpty || !segment.partial.isEmpty {
            host.publish(TranscribeEvent.final, fields(result, segment, end: end, by: who), at: UInt64(max(0, end)))
            host.send(Message(.text(result.text), item: segment.item, position: UInt64(max(0, segment.start))))
        }
        if !result.text.isEmpty { remember(result.text) }
        tell(.listening)
    }

    /// Who has said the item under way, blank where that is not known; nil: nobody whose words are wanted, which ends it.
    private func whoSaid(until end: Double) -> String? {
        guard let segment else { return "" }
        let span = segment.start..<max(segment.start + 1, end)
        let name = names.name(in: span, rate: rate, waits: !isOffline)
        if options.takes(name) { return name }
        self.segment = nil
        taken = end
        host.publish(
            TranscribeEvent.ignored, [("item", .integer(Int64(segment.item))), ("speaker", .string(name))], at: now)
        takeBack(segment)
        tell(.listening)
        return nil
    }

    private func fields(
        _ result: Recognition, _ segment: Segment, end: Double, by who: String
    ) -> [(String, SettingValue)] {
        let first = segment.position / rate
        let words = result.words.map { word in
            var table: [String: SettingValue] = [
                "text": .string(word.text), "start": .number(first + word.start), "end": .number(first + word.end),
            ]
            table["confidence"] = word.confidence.map { .number($0) }
            return SettingValue.table(table)
        }
        var fields: [(String, SettingValue)] = [
            ("item", .integer(Int64(segment.item))), ("text", .string(result.text)),
            ("start", .number(segment.start / rate)), ("end", .number(end / rate)),
            ("start_frame", .integer(Int64(segment.start))), ("end_frame", .integer(Int64(end))),
        ]
        if !words.isEmpty { fields.append(("words", .list(words))) }
        if !who.isEmpty { fields.append(("speaker", .string(who))) }
        if let confidence = result.confidence { fields.append(("confidence", .number(confidence))) }
        return fields
    }

    /// Keeps a final text for whoever ends the session; of one that lasts for weeks, the newest million bytes.
    private func remember(_ text: String) {
        items += 1
        said += said.isEmpty ? text : " " + text
        if said.utf8.count > 1 << 20 { said = String(said.suffix(1 << 19)) }
    }

    /// The item under way cannot be recognized; the next may be.
    func failItem(_ error: NodeError) {
        guard let segment else { return }
        recognizer?.cancel()
        self.segment = nil
        problem = error
        host.count("failed items")
        host.log(VG_LOG_WARNING, "item \(segment.item) could not be recognized: \(error.message)")
        host.health(.degraded("the last item could not be recognized: \(error.message)"))
        host.publish(
            TranscribeEvent.failed, [("item", .integer(Int64(segment.item))), ("reason", .string(error.message))],
            at: now)
        takeBack(segment)
        tell(.listening)
    }

    /// Tells receivers of messages that a partial text was none.
    func takeBack(_ segment: Segment) {
        if !segment.partial.isEmpty { host.send(Message(.text(""), item: segment.item, position: now)) }
    }

    private func trying(_ body: () throws(NodeError) -> Void) {
        do throws(NodeError) { try body() } catch {
            // One that was given up is ended by whoever gave it up.
            if !abort.isRaised { failItem(error) }
        }
    }

    /// Publishes what it does, if that is news.
    func tell(_ state: TranscribeState, reason: String = "") {
        // One that a gate ends may never end.
        session.withLock { $0.isAtWork = state == .finishing || state == .hearing && !options.isGated }
        if self.state == state { return }
        self.state = state
        host.publish(
            TranscribeEvent.state,
            [("state", .string(state.rawValue)), ("engine", .string(choice.name)), ("reason", .string(reason))],
            at: now)
    }
}
