// SPDX-License-Identifier: GPL-3.0-or-later
import NodeKit
import Realtime
import Resampling

/// Speaks text with espeak-ng. Each text stops the one before, unless `queue` says otherwise; a blank one only stops.
final class TTS: Node {
    static let descriptor = NodeDescriptor(
        "tts", "speaks text",
        doc: """
            Speaks what `text` says when it starts, then every message that arrives: a message stops the speech before \
            it, a blank one only stops. Publishes speech.started, speech.word and speech.finished when they are heard, \
            speech.synthesized when the last sample was made, speech.stopped when a speech was cut short, speech.gap \
            when silence had to be played because the voice was not made in time.
            """,
        ports: [
            Port(VG_AUDIO_PORT, VG_OUTPUT, "out", doc: "the voice"),
            Port(VG_MESSAGE_PORT, VG_INPUT, "text", doc: "what to say"),
            Port(VG_MESSAGE_PORT, VG_INPUT, "voice", doc: "voice of the speeches to come"),
            Port(VG_MESSAGE_PORT, VG_INPUT, "rate", doc: "speed of the speeches to come"),
        ],
        settings: [
            Setting("text", VG_SET_STRING, "spoken once when the graph starts", default: "\"\""),
            Setting("voice", VG_SET_STRING, "voice or language of espeak-ng", default: "\"en-us\""),
            Setting("language", VG_SET_STRING, "used when no voice is given, as in en-US"),
            Setting(
                "rate", VG_SET_NUMBER, "words per minute (80 to 450), or up to 3: a multiple of 175", default: "175",
                range: 0.25...450),
            Setting("pitch", VG_SET_INTEGER, "of the voice, 50 is its own", default: "50", range: 0...99),
            Setting(
                "volume", VG_SET_INTEGER, "of the voice, 100 is its own", default: "100", range: 0...200, unit: "%"),
            Setting("engine", VG_SET_STRING, "what speaks", default: "\"espeak-ng\"", choices: ["espeak-ng"]),
            Setting(
                "queue", VG_SET_BOOL, "texts wait for their turn instead of stopping one another", default: "false"),
        ],
        process: ttsProcess)

    struct Processor: BitwiseCopyable {
        let player: Player
    }

    private let host: NodeHost
    private let speaker: Speaker
    private let queue: Bool
    private var voice = Voice()
    private var text: String?
    private var worker: Worker?
    private var playback: Playback?

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        self.host = host
        speaker = Speaker(host: host)
        queue = settings.bool("queue") ?? false
        text = settings.string("text").map(trimmed)
        if text?.isEmpty == true { text = nil }
        if let name = settings.string("voice") ?? settings.string("language") {
            // The default is not looked up: that would cost every start 20 ms or more.
            if name != voice.name { try Espeak.check(name) }
            voice.name = name
        }
        if let rate = settings.number("rate") {
            guard let words = wordsPerMinute(rate) else {
                throw NodeError(
                    "rate \(rate) is neither words per minute nor a factor", hint: "give 80 to 450, or 0.25 to 3",
                    key: "rate")
            }
            voice.rate = words
        }
        voice.pitch = settings.integer("pitch") ?? voice.pitch
        voice.volume = settings.integer("volume") ?? voice.volume
    }

    deinit {
        speaker.end()
        worker?.join()
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor {
        let playback = speaker.prepare(preparation)
        self.playback = playback
        if worker == nil { worker = try Worker { [speaker] in speaker.run() } }
        return Processor(player: playback.player)
    }

    func activate() {
        if let text { speaker.speak(text, voice: voice, queued: queue) }
        text = nil
    }

    func receive(_ message: Message, port: Int) {
        switch (port, message) {
        case (0, .text(let text)):
            self.text = nil
            speaker.speak(text, voice: voice, queued: queue)
        case (1, .text(let name)):
            do {
                try Espeak.check(name)
                voice.name = name
            } catch {
                host.log(VG_LOG_WARNING, "\(error.message); \(error.hint)")
            }
        case (2, .number(let rate)):
            if let words = wordsPerMinute(rate) {
                voice.rate = words
            } else {
                host.log(VG_LOG_WARNING, "rate \(rate) is neither words per minute nor a factor")
            }
        default: host.log(VG_LOG_WARNING, "a message of the wrong kind is ignored")
        }
    }

    func poll() { speaker.poll() }
    func wait(frames: Int) { speaker.wait(frames: frames) }
    var isIdle: Bool { text == nil && speaker.isIdle }
}

/// What a rate means in words per minute; nil: nothing.
private func wordsPerMinute(_ rate: Double) -> Int? {
    if (0.25...3).contains(rate) { return min(450, max(80, Int(175 * rate))) }
    return (80...450).contains(rate) ? Int(rate) : nil
}

@_noLocks
private func ttsProcess(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let processor = memory.assumingMemoryBound(to: TTS.Processor.self)
    if !processor.pointee.player.play(io.output(0), cycle.frames, cycle.pointee.position) {
        io.markSilent(output: 0)
    }
}

/// What the host looks for in the shared object. [control]
@c(vg_plugin_entry) public func pluginEntry(_ hostABI: UInt32) -> UnsafePointer<vg_plugin>? {
    exportPlugin(TTS.self, name: "tts", version: "1.0", license: "GPL-3.0-or-later", hostABI: hostABI)
}
