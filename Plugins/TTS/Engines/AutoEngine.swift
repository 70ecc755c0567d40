// SPDX-License-Identifier: GPL-3.0-or-later
import NodeKit

/// The engine that sounds best for each piece: a trained voice where one speaks what is wanted as it is wanted, else one that can.
struct AutoEngine: VoiceEngine {
    static let name = "auto"

    /// The best first; the last one speaks whatever no other can.
    private let engines: [any VoiceEngine]
    /// Between the name of an engine and of its voice.
    private static let mark: Character = ":"

    /// `engines`: at least one.
    init(_ engines: [any VoiceEngine]) { self.engines = engines }

    /// The best engine that can speak a piece by a voice, and what it calls that.
    private func choose(_ voice: Voice, _ isMarkup: Bool) -> (any VoiceEngine, Voice) {
        let parts = voice.name.split(separator: Self.mark, maxSplits: 1).map(String.init)
        var own = voice
        own.name = parts.count == 2 ? parts[1] : ""
        for engine in engines.dropLast() where parts.count < 2 || type(of: engine).name == parts[0] {
            // Where none is named English is spoken.
            if parts.count < 2 {
                guard let found = try? engine.find("en"), found.instead == nil else { continue }
                own.name = found.name
            }
            let abilities = engine.abilities
            if isMarkup, !abilities.takesMarkup { continue }
            if voice.pitch != Voice().pitch, !abilities.setsPitch { continue }
            return (engine, own)
        }
        let last = engines[engines.count - 1]
        own.name = parts.count == 2 && type(of: last).name == parts[0] ? parts[1] : ""
        return (last, own)
    }

    func abilities(_ voice: Voice, markup isMarkup: Bool) -> EngineAbilities {
        choose(voice, isMarkup).0.abilities
    }

    var abilities: EngineAbilities { abilities(Voice(), markup: false) }

    func require() throws(NodeError) {}

    func find(_ voice: String) throws(NodeError) -> (name: String, instead: String?) {
        for engine in engines {
            guard let found = try? engine.find(voice), found.instead == nil else { continue }
            return ("\(type(of: engine).name)\(Self.mark)\(found.name)", nil)
        }
        let last = engines[engines.count - 1]
        do throws(NodeError) {
            let found = try last.find(voice)
            return ("\(type(of: last).name)\(Self.mark)\(found.name)", found.instead)
        } catch {
            let known = (try? voices()) ?? []
            throw NodeError(
                error.message, hint: suggestion(voice, among: known.map(\.name)) ?? error.hint, key: error.key)
        }
    }

    func voices() throws(NodeError) -> [KnownVoice] {
        var voices: [KnownVoice] = []
        for engine in engines { voices += (try? engine.voices()) ?? [] }
        return voices
    }

    func warm(_ voice: Voice) {
        let (engine, own) = choose(voice, false)
        engine.warm(own)
    }

    func synthesize(
        _ piece: String, markup isMarkup: Bool, _ voice: Voice, begin: (Double) -> Void, deliver: VoiceDelivery
    ) throws(NodeError) {
        let (engine, own) = choose(voice, isMarkup)
        try engine.synthesize(piece, markup: isMarkup, own, begin: begin, deliver: deliver)
    }
}
