// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Hears who speaks, on a thread that it has for itself.
final class SpeakerListener: Listener {
    /// What the file says of it.
    struct Options {
        /// Likeness from which on a voice is sure.
        var threshold: Double
        /// The names that count as known; none: all.
        var accepted: Set<String>
        var detector: DetectorChoice
    }

    /// Seconds that the gate is open before a speech and behind it.
    private static let (before, behind) = (0.2, 0.3)
    /// Seconds of speech in a file that a voice is made of at most, and of the file that are heard for them.
    private static let (most, longest) = (30.0, 600.0)

    let rest = 0.02
    let voices: KnownVoices
    private(set) var speechInput: SpeechInput?
    private let host: NodeHost
    private let model: VoiceModel
    private let options: Options
    private let outputs: Shared<SpeakerOutputs>
    private let marks: Ring<GateMark>
    private var judge: VoiceJudge
    private var cutter: SpeechCutter?
    private var enrolment: Enrolment?
    private var rate = 48000.0
    /// What was heard so far, in frames of the graph.
    private var place = 0.0
    private var speeches: UInt64 = 0
    private var start: Double?
    private var hasFailed = false

    init(
        host: NodeHost, voices: KnownVoices, options: Options, outputs: Shared<SpeakerOutputs>, marks: Ring<GateMark>
    ) throws(NodeError) {
        (self.host, self.voices, self.options, self.outputs, self.marks) = (host, voices, options, outputs, marks)
        model = try VoiceModel(models: host.modelFolder)
        judge = VoiceJudge(threshold: options.threshold)
        // What cannot be had is told now, not with the first word.
        _ = try makeDetector(options.detector, host: host)
    }

    /// Listens to another stream from now on. While the thread rests.
    func adopt(_ speechInput: SpeechInput, _ preparation: Preparation) {
        close()
        self.speechInput = speechInput
        rate = preparation.rate
        tell(nil)
        do throws(NodeError) {
            cutter = SpeechCutter(try makeDetector(options.detector, host: host), step: speechInput.step)
        } catch { fail(error) }
    }

    /// Likeness from which on a voice is sure, from the next speech on.
    func set(threshold: Double) { judge.threshold = threshold }

    /// Works on a piece of what was heard; false: there is none.
    func work() -> Bool {
        guard let speechInput else { return false }
        let lost = speechInput.pipe.takeDropped()
        if lost > 0, !hasFailed {
            host.count("dropped", lost)
            host.log(VG_LOG_WARNING, "\(lost) frames were not listened to: the processor is busy with something else")
        }
        do throws(NodeError) {
            guard let piece = try speechInput.next() else { return false }
            if hasFailed { return true }
            place = piece.position + Double(piece.samples.count) * speechInput.step
            try cutter?.take(piece) { (part) throws(NodeError) in try take(part) }
            if let enrolment, place > enrolment.end { finish(enrolment) }
        } catch { fail(error) }
        return true
    }

    /// The stream has ended.
    func close() {
        do throws(NodeError) {
            try cutter?.close(at: place) { (part) throws(NodeError) in try take(part) }
        } catch { fail(error) }
    }

    private func take(_ part: SpeechCutter.Part) throws(NodeError) {
        switch part {
        case .began(let position):
            voices.refresh()
            speeches += 1
            start = position
            judge.begin()
            tell(nil)
        case .window(let samples, let position):
            let vector = try model.vector(samples)
            hear(vector)
            if let verdict = judge.take(vector, among: voices.voices) {
                told(verdict, at: judge.isFirst ? start ?? position : position)
            }
        case .ended(let end):
            if let verdict = judge.end() { told(verdict, at: start ?? end) }
            start = nil
            open(nil, at: end + Self.behind * rate)
            host.send(Message(.text(""), item: speeches, position: UInt64(max(0, end))))
            tell(nil)
        }
    }

    // MARK: who speaks

    private func told(_ verdict: Verdict, at position: Double) {
        let place = UInt64(max(0, position))
        host.publish(
            SpeakerEvent.heard, names(verdict) + [("likeness", .number(judge.score))], at: place)
        host.send(Message(.text(verdict.name), item: speeches, position: place))
        let voice = voices.voices.first { $0.name == verdict.name }
        let isAccepted = options.accepted.isEmpty || options.accepted.contains(verdict.name)
        open(isAccepted ? voice : nil, at: position - (judge.isFirst ? Self.before * rate : 0))
        tell(verdict)
    }

    private func names(_ verdict: Verdict?) -> [(String, SettingValue)] {
        var maybe = ""
        if case .unsure(let name) = verdict { maybe = name }
        return [("name", .string(verdict?.name ?? "")), ("maybe", .string(maybe))]
    }

    private func tell(_ verdict: Verdict?) {
        host.publish(
            SpeakerEvent.state, [("speaking", .bool(start != nil))] + names(verdict), at: UInt64(max(0, place)))
    }

    /// Opens the gate for a voice, or closes it.
    private func open(_ voice: KnownVoice?, at position: Double) {
        outputs.value.known.store(voice == nil ? 0 : 1, ordering: .relaxed)
        outputs.value.voice.store(UInt32(clamping: voice?.number ?? 0), ordering: .relaxed)
        _ = marks.writer.push(GateMark(position: UInt64(max(0, position)), isOpen: voice != nil))
    }

    /// Nobody is known from here on.
    private func fail(_ error: NodeError) {
        if hasFailed { return }
        hasFailed = true
        start = nil
        open(nil, at: place)
        host.send(Message(.text(""), item: speeches, position: UInt64(max(0, place))))
        tell(nil)
        host.log(VG_LOG_ERROR, error.description)
        host.health(.failed("nobody is known any more: \(error.message)"))
    }

    // MARK: what is learned

    /// Makes a voice of what is said from now on.
    func enrol(_ name: String, seconds: Double) {
        if let enrolment { refuse(enrolment.name, NodeError("another one is learned instead")) }
        enrolment = Enrolment(name: name, wanted: seconds, end: place + (30 + 3 * seconds) * rate)
    }

    /// Listens for a voice no more; false: it does not.
    func cancel() -> Bool {
        defer { enrolment = nil }
        return enrolment != nil
    }

    private func hear(_ vector: [Float]) {
        guard var enrolment else { return }
        let second = Int(enrolment.seconds)
        enrolment.vectors.append(vector)
        self.enrolment = enrolment
        if enrolment.seconds >= enrolment.wanted { return finish(enrolment) }
        if Int(enrolment.seconds) == second { return }
        host.publish(
            SpeakerEvent.enrolling,
            [
                ("name", .string(enrolment.name)), ("seconds", .number(enrolment.seconds)),
                ("wanted", .number(enrolment.wanted)),
            ], at: UInt64(place))
    }

    private func finish(_ enrolment: Enrolment) {
        self.enrolment = nil
        do throws(NodeError) { _ = try keep(enrolment) } catch { refuse(enrolment.name, error) }
    }

    private func keep(_ enrolment: Enrolment) throws(NodeError) -> KnownVoice {
        let voice = try enrolment.keep(in: voices, threshold: judge.threshold)
        host.publish(
            SpeakerEvent.enrolled,
            [
                ("name", .string(voice.name)), ("number", .integer(Int64(voice.number))),
                ("seconds", .number(voice.seconds)),
            ])
        return voice
    }

    private func refuse(_ name: String, _ error: NodeError) {
        host.publish(SpeakerEvent.refused, [("name", .string(name)), ("reason", .string(error.message))])
    }

    /// Makes a voice of what is said in a file.
    func enrol(_ name: String, file path: String) throws(NodeError) -> KnownVoice {
        let samples = try speech(of: path, most: Self.longest)
        var enrolment = Enrolment(name: name, wanted: Self.most, end: .infinity)
        var cutter = SpeechCutter(try makeDetector(options.detector, host: host), step: 1)
        let collect = { (part: SpeechCutter.Part) throws(NodeError) in
            if case .window(let window, _) = part { enrolment.vectors.append(try self.model.vector(window)) }
        }
        for first in stride(from: 0, to: samples.count, by: 16000) where enrolment.seconds < enrolment.wanted {
            let second = Array(samples[first..<min(first + 16000, samples.count)])
            try cutter.take(
                SpeechInput.Piece(samples: second, position: Double(first), isNew: first == 0), collect)
        }
        try cutter.close(at: Double(samples.count), collect)
        do throws(NodeError) { return try keep(enrolment) } catch {
            throw NodeError("\(path): \(error.message)", hint: error.hint, key: error.key)
        }
    }
}
