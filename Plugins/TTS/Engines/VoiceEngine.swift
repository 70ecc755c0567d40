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

    /// What it does of a text by a voice, where that is not the same for all. [any]
    func abilities(_ voice: Voice, markup isMarkup: Bool) -> EngineAbilities

    /// Throws if what it cannot do without is not there. Quick. [control]
    func require() throws(NodeError)

    /// Whether a voice is its own, where none is named. Quick: nothing is looked up. [any]
    func isOwn(_ voice: String) -> Bool

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
    func abilities(_ voice: Voice, markup isMarkup: Bool) -> EngineAbilities { abilities }

    func require() throws(NodeError) { _ = try voices() }

    func isOwn(_ voice: String) -> Bool { false }

    /// Nothing is slow.
    func warm(_ voice: Voice) {}
}

/// The engines by their names.
enum VoiceEngines {
    static let names = [
        EspeakEngine.name, HibariEngine.name, FliteEngine.name, PiperEngine.name, CommandEngine.name,
    ]

    static let engine = Key.text(
        "engine",
        "what speaks; hibari and piper need models (`voicegraph models install hibari`, `piper-joe`); auto: hibari or piper "
            + "where a voice of theirs speaks what is wanted, else espeak-ng",
        default: AutoEngine.name, choices: [AutoEngine.name] + names)

    /// Makes the engine that the settings name. Cheap: what it needs is loaded when it is used. [control]
    static func make(_ settings: Settings, _ host: NodeHost, offline: @escaping @Sendable () -> Bool)
        throws(NodeError) -> any VoiceEngine
    {
        let hibari = HibariEngine(models: host.modelFolder) { host.log(VG_LOG_WARNING, $0) }
        let piper = PiperEngine(models: host.modelFolder, isOffline: offline)
        switch try settings[engine] {
        case EspeakEngine.name: return EspeakEngine()
        case HibariEngine.name: return hibari
        case FliteEngine.name: return FliteEngine()
        case PiperEngine.name: return piper
        case CommandEngine.name: return try CommandEngine(settings, host)
        default: break
        }
        var trained: [any VoiceEngine] = []
        if hibari.canSpeak { trained.append(hibari) }
        if piper.canSpeak { trained.append(piper) }
        return trained.isEmpty ? untrained : AutoEngine(trained + [untrained])
    }

    /// espeak-ng, or without that flite. [control]
    private static var untrained: any VoiceEngine {
        let hasEspeak = (try? EspeakLibrary.require()) != nil
        return hasEspeak || (try? FliteEngine().voices())?.isEmpty != false ? EspeakEngine() : FliteEngine()
    }

    /// All voices of an engine, or of all that are there; `problems`: why others are not. [control]
    static func voices(of engine: String?, in models: String) -> (voices: [(KnownVoice, String)], problems: [NodeError])
    {
        let all: [(String, any VoiceEngine)] = [
            (HibariEngine.name, HibariEngine(models: models)), (EspeakEngine.name, EspeakEngine()),
            (FliteEngine.name, FliteEngine()),
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
