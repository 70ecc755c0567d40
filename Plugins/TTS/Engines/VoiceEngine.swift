// SPDX-License-Identifier: GPL-3.0-or-later
import NodeKit

/// How a text is to be spoken.
struct Voice: Sendable, Equatable {
    /// As the engine knows it; empty: the engine's own.
    var name = ""
    /// Words per minute; 175 is the voice's own pace.
    var rate = 175
    /// 50 is the voice's own.
    var pitch = 50
    /// In percent of its own.
    var volume = 100
    var ssml = SSML.auto
}

/// A word in a piece of text, and when it begins.
struct SpokenWord: Sendable, Equatable {
    /// Unicode scalars of the piece before it, and of the word.
    var start, length: Int
    /// Seconds since the piece began.
    var time: Double
}

/// A voice that an engine has.
struct KnownVoice: Sendable, Equatable {
    var name, language: String
}

/// What an engine does, and what it leaves to others.
struct EngineAbilities: Sendable {
    /// Where a text is cut into the pieces that it is given.
    var cut: TextCut
    /// Whether it tells when words begin.
    var tellsWords: Bool
    /// Whether it understands SSML.
    var takesMarkup: Bool
    /// Whether voices have a pitch that can be set.
    var setsPitch: Bool
    /// The highest volume that it does itself, in percent; what is above is done by `SpeechLimiter`.
    var volume: Int
}

/// Takes samples and the words that begin in or after them; false ends the speech.
typealias VoiceDelivery = (UnsafeBufferPointer<Float>, [SpokenWord]) -> Bool

/// What makes a voice from text. Each piece sounds the same whatever was spoken before it, and by whom.
protocol VoiceEngine: Sendable {
    static var name: String { get }
    var abilities: EngineAbilities { get }

    /// Finds a voice by its name or a language tag. Returns what the engine calls it, and who speaks if that is not
    /// what was asked for. [control]
    func find(_ voice: String) throws(NodeError) -> (name: String, instead: String?)

    /// All voices that are there. [control]
    func voices() throws(NodeError) -> [KnownVoice]

    /// Does what would make the first speech late. What cannot be is told when it is to speak. [worker]
    func warm(_ voice: Voice)

    /// Speaks a piece of text into `deliver`; tells the rate in Hz through `begin` before the first samples. [worker]
    func synthesize(
        _ piece: String, markup isMarkup: Bool, _ voice: Voice, begin: (Double) -> Void, deliver: VoiceDelivery
    ) throws(NodeError)
}

extension VoiceEngine {
    /// Nothing is slow.
    func warm(_ voice: Voice) {}
}

/// The engines by their names.
enum VoiceEngines {
    static let names = [EspeakEngine.name, FliteEngine.name, PiperEngine.name, CommandEngine.name]
    /// The one that sounds best of those that are there.
    static let auto = "auto"

    static let engine = Key.text(
        "engine",
        "what speaks; piper needs models (`voicegraph models install piper-joe onnxruntime`); auto: piper where a "
            + "voice of it speaks the language, else espeak-ng",
        default: EspeakEngine.name, choices: names + [auto])

    /// Makes the engine that the settings name. Cheap: what it needs is loaded when it is used. [control]
    static func make(_ settings: Settings, _ host: NodeHost, offline: @escaping @Sendable () -> Bool)
        throws(NodeError) -> any VoiceEngine
    {
        switch try settings[engine] {
        case FliteEngine.name: return FliteEngine()
        case PiperEngine.name: return PiperEngine(models: host.modelFolder, isOffline: offline)
        case CommandEngine.name: return try CommandEngine(settings, host)
        case auto: return try best(for: settings, PiperEngine(models: host.modelFolder, isOffline: offline))
        default: return EspeakEngine()
        }
    }

    /// A trained voice where one speaks what is wanted, as it is wanted; else espeak-ng, or without that flite. [control]
    private static func best(for settings: Settings, _ trained: PiperEngine) throws(NodeError) -> any VoiceEngine {
        let isMarkup = try SSML(settings[TTS.ssml]).isMarkup(settings[TTS.text])
        let (voice, language) = try (settings[TTS.voice], settings[TTS.language])
        let wanted = voice ?? language ?? "en"
        if !isMarkup, try settings[TTS.pitch] == Voice().pitch, let found = try? trained.find(wanted),
            found.instead == nil, trained.canSpeak
        {
            return trained.speaking(found.name)
        }
        if (try? EspeakLibrary.require()) == nil, (try? FliteEngine().voices())?.isEmpty == false {
            return FliteEngine()
        }
        return EspeakEngine()
    }

    /// All voices of an engine, or of all that are there; `problems`: why others are not. [control]
    static func voices(of engine: String?, in models: String) -> (voices: [(KnownVoice, String)], problems: [NodeError])
    {
        let all: [(String, any VoiceEngine)] = [
            (EspeakEngine.name, EspeakEngine()), (FliteEngine.name, FliteEngine()),
            (PiperEngine.name, PiperEngine(models: models, isOffline: { false })),
        ]
        var voices: [(KnownVoice, String)] = []
        var problems: [NodeError] = []
        for (name, maker) in all where engine == nil || engine == name {
            do throws(NodeError) { voices += try maker.voices().map { ($0, name) } } catch { problems.append(error) }
        }
        return (voices, problems)
    }

    /// The tags of a language by its English name, as in "german": those of the voices of espeak-ng that are called so.
    static func tags(of language: String) -> [String] {
        let name = language.lowercased()
        guard name.utf8.count > 3, let known = try? EspeakEngine().voices() else { return [] }
        return known.filter { voice in
            let own = voice.name.lowercased()
            return own == name
                || own.hasPrefix(name) && own.dropFirst(name.count).first.map { " _(".contains($0) } == true
        }.map { String($0.language.prefix { $0 != "-" }) }
    }
}

/// Whether a voice of this language is one of the wanted: "en" wants all English ones, "en-GB" those of Britain.
func speaks(_ language: String, _ wanted: String) -> Bool {
    func tag(_ text: String) -> String { String(text.lowercased().map { $0 == "_" ? "-" : $0 }) }
    let (language, wanted) = (tag(language), tag(wanted))
    return language == wanted || language.hasPrefix(wanted + "-")
}
