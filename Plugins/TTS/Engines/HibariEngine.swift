// SPDX-License-Identifier: GPL-3.0-or-later
import Glibc
import JSON
import Models
import NodeKit
import Pronunciation
import SpokenText

/// hibari: small trained voices that speak English (pypi.org/project/hibari-tts), computed by ONNX Runtime from sounds that
/// `Pronunciation` finds. A sentence at a time, so that it is spoken as one; its first sample is there before its last.
struct HibariEngine: VoiceEngine {
    static let name = "hibari"
    /// The model that is installed.
    static let model = "hibari"
    /// The folder for files of other voices, which are fetched by hand.
    static let others = "hibari-voices"

    let abilities = EngineAbilities(cut: .sentences, tellsWords: true, takesMarkup: false, setsPitch: true, volume: 0)

    private let models: String
    /// Told of what is passed over.
    private let note: @Sendable (String) -> Void

    private static let loaded = Lock<[String: HibariVoice]>([:])
    private static let pronouncers = Lock<[String: Pronouncer]>([:])

    init(models: String, note: @escaping @Sendable (String) -> Void = { _ in }) {
        self.models = models
        self.note = note
    }

    /// Whether a voice is there, and what computes it. [control]
    var canSpeak: Bool {
        ModelFolder.isInstalled(OnnxRuntime.model, in: models) && ModelFolder.isInstalled(Self.model, in: models)
    }

    func find(_ voice: String) throws(NodeError) -> (name: String, instead: String?) {
        let known = try descriptions()
        if known.contains(where: { $0.name == voice }) { return (voice, nil) }
        if let speaker = known.first(where: { speaks($0.language, voice) }) { return (speaker.name, nil) }
        if voice.lowercased().hasPrefix("en-") || voice.lowercased().hasPrefix("en_") {
            return (known[0].name, "\(known[0].name), who speaks \(known[0].language),")
        }
        let names = known.map { "\($0.name) (\($0.language))" }.joined(separator: ", ")
        throw NodeError(
            "hibari has no voice called \"\(voice)\"",
            hint: suggestion(voice, among: known.map(\.name)) ?? "installed: \(names)", key: TTS.voice.name)
    }

    func voices() throws(NodeError) -> [KnownVoice] {
        try descriptions().map { KnownVoice(name: $0.name, language: $0.language) }
    }

    func warm(_ voice: Voice) {
        try? synthesize("A word.", markup: false, voice, begin: { _ in }, deliver: { _, _ in true })
    }

    func synthesize(
        _ piece: String, markup isMarkup: Bool, _ voice: Voice, begin: (Double) -> Void, deliver: VoiceDelivery
    ) throws(NodeError) {
        let made = try load(voice.name)
        begin(SpectralSound.rate)
        // An octave up or down at the ends.
        let pitch = exp2(Double(voice.pitch - Voice().pitch) / 50)
        let unsaid = try made.speak(piece, pace: Double(voice.rate) / 175, pitch: pitch, deliver: deliver)
        if unsaid.isEmpty { return }
        let scalars = Array(piece.unicodeScalars)
        var words = String.UnicodeScalarView()
        for run in unsaid { words += (words.isEmpty ? [] : [" ", "…", " "]) + scalars[run] }
        note("hibari's voices speak English; this is passed over: \(trimmed(String(words)).prefix(60))")
    }

    // MARK: files

    /// A voice as the model's list has it.
    private struct Description {
        var name, language, path: String
        var accent: Accent
    }

    /// Those whose files are there, the one of the model first. [control]
    private func descriptions() throws(NodeError) -> [Description] {
        let folder = try ModelFolder(Self.model, in: models)
        let path = folder.file("voices.json")
        guard let list = try? JSON(PackedFile.read(path)) else {
            throw NodeError(
                "\(path) is no list of voices",
                hint: "voicegraph models remove hibari; voicegraph models install hibari")
        }
        let present = [folder.path, models + "/" + Self.others].map { ($0, Set(names(in: $0))) }
        let known = list.fields.sorted { $0.key < $1.key }.compactMap { name, voice -> Description? in
            guard let file = voice["file"]?.string, let language = voice["language"]?.string,
                let place = present.first(where: { $0.1.contains(file) })
            else { return nil }
            let accent = voice["british"]?.bool == true ? Accent.british : .american
            return Description(name: name, language: language, path: place.0 + "/" + file, accent: accent)
        }
        guard let own = known.firstIndex(where: { $0.path.hasPrefix(folder.path + "/") }) else {
            throw NodeError(
                "\(folder.path) has no voice", hint: "voicegraph models remove hibari; voicegraph models install hibari"
            )
        }
        return [known[own]] + known[..<own] + known[(own + 1)...]
    }

    /// A voice is read once a process, and what both voices of an accent need once for both.
    private func load(_ name: String) throws(NodeError) -> HibariVoice {
        let known = try descriptions()
        let voice = known.first { $0.name == name } ?? known[0]
        return try Self.loaded.withLock { loaded throws(NodeError) in
            if let made = loaded[voice.path] { return made }
            let folder = try ModelFolder(Self.model, in: models)
            let runtime = try OnnxRuntime.load(from: models)
            let made = try HibariVoice(
                model: voice.path, pronouncer(voice.accent, folder, runtime), ids: ids(folder), runtime)
            loaded[voice.path] = made
            return made
        }
    }

    private func pronouncer(_ accent: Accent, _ folder: ModelFolder, _ runtime: OnnxRuntime) throws(NodeError)
        -> Pronouncer
    {
        try Self.pronouncers.withLock { pronouncers throws(NodeError) in
            let key = folder.path + accent.rawValue
            if let made = pronouncers[key] { return made }
            let net = try SpellingNet(folder.file(accent == .british ? "oov_gb" : "oov"), runtime)
            let made = try Pronouncer(accent, from: folder.path) { net.say($0) }
            pronouncers[key] = made
            return made
        }
    }

    private func ids(_ folder: ModelFolder) throws(NodeError) -> [Unicode.Scalar: Int64] {
        let path = folder.file("vocab.json")
        var ids: [Unicode.Scalar: Int64] = [:]
        for (sound, id) in (try? JSON(PackedFile.read(path)))?.fields ?? [:] {
            guard let scalar = sound.unicodeScalars.first, let id = id.integer else { continue }
            ids[scalar] = Int64(id)
        }
        if ids.isEmpty {
            throw NodeError(
                "\(path) is no list of sounds",
                hint: "voicegraph models remove hibari; voicegraph models install hibari")
        }
        return ids
    }
}
