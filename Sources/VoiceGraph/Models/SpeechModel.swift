// SPDX-License-Identifier: Apache-2.0
import Host
import NodeKit
import Observation

/// A voice of a graph for views: whether it speaks, how loud it is, which word is heard.
///
///     let speech = SpeechModel(host)
///     try await speech.speak("Hello there")
///     // a view reads speech.isSpeaking, speech.level and speech.word
@MainActor @Observable public final class SpeechModel {
    /// A word that is heard.
    public struct Word: Sendable, Equatable {
        /// The word.
        public var text: String
        /// Unicode scalars of the whole text before it.
        public var offset: Int
        /// Its own unicode scalars.
        public var length: Int
    }

    /// Whether a text is heard, from its first sample to its last.
    public private(set) var isSpeaking = false
    /// Whether what is heard is held.
    public private(set) var isPaused = false
    /// 0 to 1 while it speaks: the RMS of 1024 frames on a scale of 50 dB, where the graph has a meter or visualizer behind the
    /// voice.
    public private(set) var level = 0.0
    /// What is heard now; nil: nothing.
    public private(set) var text: String?
    /// The word that is heard, by engines that tell words.
    public private(set) var word: Word?
    /// Why the last text could not be spoken; nil: it could.
    public private(set) var failure: String?

    private let host: any GraphHost
    private let chosen: String?
    @ObservationIgnored private var reader: HostReader?

    /// Follows the node `voice`, by default the one that speaks; `meter`: the node that tells the level, by default any that
    /// measures it. The graph may be loaded later.
    public init(_ host: any GraphHost, voice: String? = nil, meter: String? = nil) {
        self.host = host
        chosen = voice
        reader = HostReader(host) { published in
            switch published {
            case .frame(let frame): (meter == nil || frame.node == meter) && !frame["orb"].isEmpty
            case .event(let event): event.node != nil && (voice == nil || event.node == voice) && Self.isOfVoice(event)
            case .audio: false
            }
        } take: { [weak self] published in
            self?.take(published)
            return self != nil
        }
    }

    /// Stops what is spoken, and speaks the text, without blanks around it; of a blank one that is all. `language`: a tag as
    /// "en-GB"; `rate`: words per minute, or a multiple of the usual 175. Returns when it is accepted.
    public func speak(_ text: String, language: String? = nil, rate: Double? = nil) async throws {
        var arguments: [String: SettingValue] = ["text": .string(trimmed(text)), "mode": "interrupt"]
        arguments["language"] = language.map { .string($0) }
        arguments["rate"] = rate.map { .number($0) }
        failure = nil
        _ = try await host.perform(VG_ACTION_SPEAK, on: try await voice(), arguments)
    }

    /// Ends what is spoken, with a short fade.
    public func stop() async throws { _ = try await host.perform(VG_ACTION_STOP, on: try await voice()) }

    /// Holds what is heard, with a short fade.
    public func pause() async throws { _ = try await host.perform(VG_ACTION_PAUSE, on: try await voice()) }

    /// Goes on where it was held.
    public func resume() async throws { _ = try await host.perform(VG_ACTION_RESUME, on: try await voice()) }

    private func voice() async throws(Fault) -> String {
        try await host.only(.speaks, chosen: chosen, does: "speaks")
    }

    private nonisolated static func isOfVoice(_ event: Event) -> Bool {
        event.type?.kind == .word || event.type?.kind == .failure && event.fields["heard"] != nil
            || event.isRetained && Role.speaks.state.allSatisfy { event.fields[$0] != nil }
    }

    private func take(_ published: Published) {
        switch published {
        case .frame(let frame): level = isSpeaking ? Double(frame.orb) : 0
        case .event(let event): take(event)
        case .audio: break
        }
    }

    private func take(_ event: Event) {
        let fields = Settings(event.fields)
        if event.type?.kind == .failure {
            failure = event.text("reason")
        } else if event.type?.kind == .word {
            word = Word(
                text: event.text("text") ?? "", offset: fields.integer("offset") ?? 0,
                length: fields.integer("length") ?? 0)
        } else {
            (isSpeaking, isPaused) = (fields.bool("speaking") ?? false, fields.bool("paused") ?? false)
            text = isSpeaking ? event.text("text") : nil
            if !isSpeaking { (word, level) = (nil, 0) }
        }
    }
}
