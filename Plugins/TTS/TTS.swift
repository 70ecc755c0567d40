// SPDX-License-Identifier: GPL-3.0-or-later
import NodeKit

/// Speaks text with espeak-ng. Each text stops the one before, unless it is to wait; a blank one only stops.
final class TTS: Node {
    static let calls: NodeCalls = [.receive, .poll, .wait, .idle, .perform, .settings]
    static let descriptor = NodeDescriptor(
        "tts", "speaks text",
        doc: """
            Speaks what `text` says when it starts, then every message that arrives, as the action `speak` does: a \
            message stops the speech before it unless `queue` is set, a blank one only stops. Messages of one item are \
            spoken one after another. Events tell what is heard, when it is heard.
            """,
        ports: [
            Port(VG_AUDIO_PORT, VG_OUTPUT, "out", doc: "the voice"),
            Port(VG_MESSAGE_PORT, VG_INPUT, "text", doc: "what to say"),
        ],
        settings: [
            Setting("text", VG_SET_STRING, "spoken once when the graph starts", default: "\"\""),
            Setting("language", VG_SET_STRING, "used when no voice is given, as in en-US"),
            Setting("engine", VG_SET_STRING, "what speaks", default: "\"espeak-ng\"", choices: ["espeak-ng"]),
            Setting(
                "queue", VG_SET_BOOL, "texts wait for their turn instead of stopping one another", default: "false",
                live: true),
        ] + voiceSettings(live: true),
        actions: [
            Action(
                VG_ACTION_SPEAK, "say a text; a blank one only stops",
                arguments: [
                    Setting("text", VG_SET_STRING, "what to say", required: true),
                    Setting(
                        "mode", VG_SET_STRING, "whether it stops what is spoken or waits; as `queue` says without it",
                        choices: ["interrupt", "queue"]),
                ] + voiceSettings(live: false),
                results: [Field("item", VG_INTEGER, "what the events about this text carry")]),
            Action("stop", "end all speech with a short fade, also what waits for its turn", urgent: true),
        ],
        events: SpeechEvent.types, process: ttsProcess)

    /// The settings of the node, or the same as arguments for one text.
    private static func voiceSettings(live isLive: Bool) -> [Setting] {
        func setting(
            _ key: String, _ kind: vg_setting_kind, _ doc: String, _ text: String, _ range: ClosedRange<Double>? = nil,
            unit: String? = nil
        ) -> Setting {
            Setting(key, kind, doc, default: isLive ? text : nil, range: range, unit: unit, live: isLive)
        }
        return [
            setting(
                "voice", VG_SET_STRING, "voice of espeak-ng or language tag, as in en-GB, with +f3 a variant",
                "\"en-us\""
            ),
            setting(
                "rate", VG_SET_NUMBER, "words per minute (80 to 450), or a multiple of 175 (0.46 to 2.57)", "175",
                0.46...450),
            setting("pitch", VG_SET_INTEGER, "of the voice, 50 is its own", "50", 0...99),
            setting(
                "volume", VG_SET_INTEGER, "of the voice, 100 is its own; it is limited to full scale", "100", 0...200,
                unit: "%"),
            Setting(
                "ssml", VG_SET_VALUE, "whether texts are SSML; auto: those that begin with <speak>",
                default: isLive ? "\"auto\"" : nil, choices: ["auto", "true", "false"], live: isLive),
        ]
    }

    struct Processor: BitwiseCopyable {
        let player: PlaybackPlayer
    }

    private let host: NodeHost
    private let speaker: Speaker
    private var queue: Bool
    private var voice = Voice()
    private var text: String?
    private var worker: Worker?
    /// Kept for the processor.
    private var pipe: PlaybackPipe?

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        self.host = host
        speaker = Speaker(host: host)
        queue = settings.bool("queue") ?? false
        text = settings.string("text").map(trimmed)
        if text?.isEmpty == true { text = nil }
        if settings.string("voice") == nil, let language = settings.string("language") {
            try choose(language, for: &voice, host)
        }
        try change(&voice, as: settings, host)
    }

    deinit {
        speaker.end()
        worker?.join()
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        let pipe = speaker.prepare(preparation)
        self.pipe = pipe
        if worker == nil { worker = try Worker { [speaker] in speaker.run() } }
        return Processor(player: pipe.player)
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
        }
    }

    func perform(_ action: String, _ arguments: Settings, _ call: ActionCall) throws(NodeError) {
        if action == "stop" { return speaker.stop() }
        var voice = voice
        try change(&voice, as: arguments, host)
        let queued = arguments.string("mode").map { $0 == "queue" } ?? queue
        let item = try speaker.speak(arguments.string("text") ?? "", voice: voice, queued: queued)
        text = nil
        call.put("item", .integer(Int64(clamping: item)))
    }

    func set(_ setting: String, to value: SettingValue) throws(NodeError) {
        let settings = Settings([setting: value])
        queue = settings.bool("queue") ?? queue
        try change(&voice, as: settings, host)
    }

    func poll() { speaker.poll() }
    func wait(frames: Int) { speaker.wait(frames: frames) }
    var isIdle: Bool { text == nil && speaker.isIdle }
}

/// Changes a voice as far as settings or arguments say so; nothing has changed if that cannot be.
private func change(_ voice: inout Voice, as settings: Settings, _ host: NodeHost) throws(NodeError) {
    var changed = voice
    if let ssml = settings.values["ssml"] { changed.ssml = try SSML(ssml) }
    if let rate = settings.number("rate") {
        guard let words = wordsPerMinute(rate) else {
            throw NodeError(
                "rate \(rate) is neither words per minute nor a factor", hint: "give 80 to 450, or 0.46 to 2.57",
                key: "rate")
        }
        changed.rate = words
    }
    changed.pitch = settings.integer("pitch") ?? changed.pitch
    changed.volume = settings.integer("volume") ?? changed.volume
    if let name = settings.string("voice") { try choose(name, for: &changed, host) }
    voice = changed
}

private func choose(_ name: String, for voice: inout Voice, _ host: NodeHost) throws(NodeError) {
    // What it has is not looked up: that would cost every start 20 ms or more.
    if name == voice.name { return }
    let (found, instead) = try Espeak.find(name)
    if let instead { host.log(VG_LOG_INFO, "espeak-ng has no voice for \"\(name)\" itself; \(instead) speaks") }
    voice.name = found
}

/// What a rate means in words per minute; nil: nothing that espeak-ng can do.
private func wordsPerMinute(_ rate: Double) -> Int? {
    let words = rate < 10 ? 175 * rate : rate
    return (80...450).contains(words) ? Int(words.rounded()) : nil
}

@_noLocks
private func ttsProcess(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    memory.assumingMemoryBound(to: TTS.Processor.self).pointee.player.play(io, cycle)
}

/// What the host looks for in the shared object. [control]
@c(vg_plugin_entry) public func pluginEntry(_ hostABI: UInt32) -> UnsafePointer<vg_plugin>? {
    exportPlugin(TTS.self, name: "tts", version: "1.0", license: "GPL-3.0-or-later", hostABI: hostABI)
}
