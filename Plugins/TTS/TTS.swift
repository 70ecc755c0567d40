// SPDX-License-Identifier: GPL-3.0-or-later
import NodeKit

/// Speaks text with one of several engines. Each text stops the one before, unless it is to wait; a blank one only stops.
final class TTS: LoopNode {
    static let calls: NodeCalls = [.receive, .poll, .wait, .idle, .perform, .settings]

    struct Processor: BitwiseCopyable {
        let player: PlaybackPlayer
        let shared: SharedCell<SpeechClock.State>
        var hold: HoldGate
        var isHeld = false
    }

    private let host: NodeHost
    private let engine: any VoiceEngine
    private let speaker: Speaker
    private var queue: Bool
    private let holdAfter, holdRelease: Double
    private var voice = Voice()
    private var text: String?
    private var worker: Worker?
    /// Nil: others play on as they do.
    private let others: OtherPlayback?
    /// Kept for the processor.
    private var pipe: PlaybackPipe?

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        self.host = host
        let mode = SpeakerMode()
        engine = try VoiceEngines.make(settings, host) { mode.isOffline }
        speaker = Speaker(host: host, engine: engine, mode: mode)
        queue = try settings[Self.queue]
        holdAfter = try settings[Self.holdAfter]
        holdRelease = try settings[Self.holdRelease]
        others = try settings[Self.duckOthers] ? OtherPlayback(host) : nil
        text = try trimmed(settings[Self.text])
        if text?.isEmpty == true { text = nil }
        // What an engine needs is found missing here.
        try engine.require()
        try voice.change(as: settings, engine, host)
    }

    deinit {
        others?.end()
        speaker.end()
        worker?.join()
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        let pipe = speaker.prepare(preparation)
        self.pipe = pipe
        if !preparation.offline { try others?.begin() }
        if worker == nil {
            worker = try Worker { [speaker, engine, voice] in
                engine.warm(voice)
                speaker.run()
            }
        }
        let frames = preparation.rate / 1000
        return Processor(
            player: pipe.player, shared: speaker.clock.shared.cell,
            hold: HoldGate(after: Int(holdAfter * frames), release: Int(holdRelease * frames)))
    }

    func activate() {
        if let text { say(text) }
        text = nil
    }

    func receive(_ message: Message, port: Int) {
        guard case .text(let text) = message.content else {
            host.count("refused")
            return host.log(VG_LOG_WARNING, "cannot say a message with a \(message.kind); it is ignored")
        }
        self.text = nil
        say(text, item: message.item)
    }

    private func say(_ text: String, item: UInt64 = 0) {
        do throws(NodeError) {
            _ = try speaker.speak(text, voice: voice, item: item, queued: queue)
        } catch {
            host.log(VG_LOG_WARNING, "\(error.message); this one is dropped")
            let dropped = Speech(number: 0, item: item, text: text, isMarkup: false, voice: voice, generation: 0)
            host.publish(
                SpeechEvent.failed, dropped, [("heard", .integer(0)), ("reason", .string(error.message))], at: nil)
        }
    }

    func perform(_ action: String, _ arguments: Settings, _ call: ActionCall) throws(NodeError) {
        switch action {
        case "stop": if let speech = speaker.stop() { put(speech, call) }
        case "skip": put(try speaker.skip(), call)
        case "pause": try speaker.setPaused(true)
        case "resume": try speaker.setPaused(false)
        case "voices": try putVoices(arguments, call)
        default:
            var voice = voice
            try voice.change(as: arguments, engine, host)
            let queued = try arguments[Self.mode].map { $0 == .queue } ?? queue
            let item = try speaker.speak(arguments[Self.spoken], voice: voice, queued: queued)
            text = nil
            call.put("item", .integer(Int64(clamping: item)))
        }
    }

    private func put(_ speech: Speech, _ call: ActionCall) {
        call.put("item", .integer(Int64(clamping: speech.item)))
        call.put("heard", .integer(Int64(speech.heard)))
    }

    private func putVoices(_ arguments: Settings, _ call: ActionCall) throws(NodeError) {
        let language = try arguments[Self.listedLanguage]
        let (voices, problems) = try VoiceEngines.voices(of: arguments[Self.listedEngine], in: host.modelFolder)
        let wanted = language.map { [$0] + VoiceEngines.tags(of: $0) }
        let tables = voices.filter { voice, _ in
            wanted.map { $0.contains { speaks(voice.language, $0) } } ?? true
        }.map {
            SettingValue.table([
                "name": .string($0.name), "language": .string($0.language), "engine": .string($1),
            ])
        }
        call.put("voices", .list(tables))
        call.put("problems", .list(problems.map { .string("\($0.message) (\($0.hint))") }))
    }

    func set(_ setting: String, to value: SettingValue) throws(NodeError) {
        let settings = Settings([setting: value])
        queue = try settings[Self.queue.optional()] ?? queue
        try voice.change(as: settings, engine, host)
    }

    func poll() {
        speaker.poll()
        others?.want(speaker.isSpeaking)
    }
    func wait(frames: Int) { speaker.wait(frames: frames) }
    var isIdle: Bool { text == nil && speaker.isIdle }
}

extension Voice {
    /// Changes as far as settings or arguments say so; nothing has changed if that cannot be.
    mutating func change(as settings: Settings, _ engine: any VoiceEngine, _ host: NodeHost) throws(NodeError) {
        var changed = self
        if let ssml = try settings[TTS.ssml.optional()] { changed.ssml = try SSML(ssml) }
        if let rate = try settings[TTS.rate.optional()] {
            guard let words = wordsPerMinute(rate) else {
                throw NodeError(
                    "rate \(rate) is neither words per minute nor a factor", hint: "give 80 to 450, or 0.46 to 2.57",
                    key: TTS.rate.name)
            }
            changed.rate = words
        }
        changed.pitch = try settings[TTS.pitch.optional()] ?? changed.pitch
        if changed.pitch != Voice().pitch, !engine.abilities(changed, markup: false).setsPitch {
            throw NodeError(
                "the pitch of \(type(of: engine).name)'s voices cannot be set", hint: "leave it at 50",
                key: TTS.pitch.name)
        }
        changed.volume = try settings[TTS.volume.optional()] ?? changed.volume
        let (voice, language) = try (settings[TTS.voice], settings[TTS.language])
        if let name = voice ?? language {
            try changed.choose(name, isLanguage: voice == nil, engine, host)
        }
        self = changed
    }

    private mutating func choose(_ given: String, isLanguage: Bool, _ engine: any VoiceEngine, _ host: NodeHost)
        throws(NodeError)
    {
        // What it has is not looked up: that would cost every start some milliseconds.
        if !given.isEmpty, given == name || name.isEmpty && engine.isOwn(given) { return }
        let (found, instead): (String, String?)
        do throws(NodeError) { (found, instead) = try engine.find(given) } catch {
            throw NodeError(
                error.message, hint: error.hint,
                key: isLanguage && !error.key.isEmpty ? TTS.language.name : error.key)
        }
        if let instead {
            host.log(VG_LOG_INFO, "\(type(of: engine).name) has no voice for \"\(given)\" itself; \(instead) speaks")
        }
        name = found
    }
}

/// What a rate means in words per minute; nil: nothing that engines can do.
private func wordsPerMinute(_ rate: Double) -> Int? {
    let words = rate < 10 ? 175 * rate : rate
    return (80...450).contains(words) ? Int(words.rounded()) : nil
}

extension TTS {
    /// Reads the control `hold`. Apart from the rest, so that the node may be part of a loop: what listens to the microphone, into
    /// which the voice comes back, holds the voice; a block later then.
    @_noLocks
    static func absorb(_ state: inout Processor, _ block: borrowing Block) {
        let shared = state.shared
        state.isHeld = state.hold.take(
            block.control(0) > 0.5, frames: block.frames,
            isSpeaking: shared.value.isSpeaking.load(ordering: .acquiring),
            stops: shared.value.stops.load(ordering: .acquiring))
    }
}

extension TTS {
    @_noLocks
    static func process(_ state: inout Processor, _ block: borrowing Block) {
        let shared = state.shared
        let isHeld = state.isHeld
        if isHeld != shared.value.isHeld.load(ordering: .relaxed) {
            shared.value.heldSince.store(block.position, ordering: .relaxed)
            shared.value.isHeld.store(isHeld, ordering: .releasing)
        }
        let frames = state.player.play(block, isHeld: isHeld)
        let end = block.position + UInt64(block.frames)
        shared.value.now.store(end, ordering: .releasing)
        // What is held is not over: who waits for its end would take it for heard.
        let expectsMore = shared.value.isSpeaking.load(ordering: .acquiring) && !state.player.isPaused
        block.setControl(0, frames > 0 || expectsMore ? 1 : 0)
    }
}

/// What the host looks for in the shared object. [control]
@c(vg_plugin_entry) public func pluginEntry(_ hostABI: UInt32) -> UnsafePointer<vg_plugin>? {
    exportPlugin(TTS.self, name: "tts", version: "1.0", license: "GPL-3.0-or-later", hostABI: hostABI)
}
