// SPDX-License-Identifier: GPL-3.0-or-later
import Glibc
import Models
import NodeKit
import SpokenText

/// Piper: voices that were trained, computed by ONNX Runtime from phonemes of espeak-ng. Clause by clause, so that the
/// first is heard early.
struct PiperEngine: VoiceEngine {
    static let name = "piper"
    /// Models of voices are called so, and then by the voice's name.
    static let prefix = "piper-"

    let abilities = EngineAbilities(
        cut: .clauses, tellsWords: false, takesMarkup: false, setsPitch: false, volume: 0)

    private let models: String
    /// Whether every run must give the same: then the voice has no variation.
    private let isOffline: @Sendable () -> Bool
    /// Who speaks where no voice is named; nil: the first.
    private var standard: String?

    private static let loaded = Lock<[String: PiperVoice]>([:])

    init(models: String, isOffline: @escaping @Sendable () -> Bool) {
        self.models = models
        self.isOffline = isOffline
    }

    /// The same with another voice where none is named.
    func speaking(_ voice: String) -> Self {
        var engine = self
        engine.standard = voice
        return engine
    }

    /// Whether there is what computes voices, and what makes phonemes. [control]
    var canSpeak: Bool {
        ModelFolder.isInstalled(OnnxRuntime.model, in: models) && (try? EspeakLibrary.require()) != nil
    }

    func find(_ voice: String) throws(NodeError) -> (name: String, instead: String?) {
        let known = try voices()
        let name = voice.lowercased().hasPrefix(Self.prefix) ? String(voice.dropFirst(Self.prefix.count)) : voice
        if known.contains(where: { $0.name == name }) { return (name, nil) }
        if let speaker = known.first(where: { speaks($0.language, voice) }) { return (speaker.name, nil) }
        let base = String(voice.prefix { $0 != "-" && $0 != "_" })
        if base.utf8.count < 4, let speaker = known.first(where: { speaks($0.language, base) }) {
            return (speaker.name, "\(speaker.name), who speaks \(speaker.language),")
        }
        let names = known.map { "\($0.name) (\($0.language))" }.joined(separator: ", ")
        throw NodeError(
            "piper has no voice called \"\(voice)\"",
            hint: suggestion(voice, among: known.map(\.name)) ?? "installed: \(names)", key: TTS.voice.name)
    }

    func voices() throws(NodeError) -> [KnownVoice] {
        var voices: [KnownVoice] = []
        var problem: NodeError?
        for folder in names(in: models).sorted() where folder.hasPrefix(Self.prefix) {
            // One that is broken hides no others.
            do throws(NodeError) {
                let description = try PiperDescription(ModelFolder(folder, in: models))
                voices.append(
                    KnownVoice(name: String(folder.dropFirst(Self.prefix.count)), language: description.language))
            } catch { problem = error }
        }
        if let problem, voices.isEmpty { throw problem }
        // Tells how to get one.
        if voices.isEmpty { _ = try ModelFolder(Self.prefix + "joe", in: models) }
        return voices
    }

    /// Reads the model, which takes most of a second, and computes once, which takes its memory.
    func warm(_ voice: Voice) {
        try? synthesize("a", markup: false, voice, begin: { _ in }, deliver: { _, _ in true })
    }

    func synthesize(
        _ piece: String, markup isMarkup: Bool, _ voice: Voice, begin: (Double) -> Void, deliver: VoiceDelivery
    ) throws(NodeError) {
        var name = voice.name
        if name.isEmpty { name = if let standard { standard } else { try voices()[0].name } }
        let made = try load(name)
        begin(made.description.rate)
        let samples = try made.speak(piece, pace: Double(voice.rate) / 175, isVaried: !isOffline())
        for start in stride(from: 0, to: samples.count, by: 4096) {
            let part = samples[start..<min(start + 4096, samples.count)]
            if !part.withUnsafeBufferPointer({ deliver($0, []) }) { return }
        }
    }

    /// A voice is read once a process: it takes tens of megabytes.
    private func load(_ name: String) throws(NodeError) -> PiperVoice {
        let folder = try ModelFolder(Self.prefix + name, in: models)
        return try Self.loaded.withLock { loaded throws(NodeError) in
            if let voice = loaded[folder.path] { return voice }
            let runtime = try OnnxRuntime.load(from: models)
            let voice = try PiperVoice(folder, runtime)
            loaded[folder.path] = voice
            return voice
        }
    }
}

/// A voice that was read.
final class PiperVoice: Sendable {
    let description: PiperDescription
    /// One piece at a time.
    private let session: Lock<OnnxSession>

    init(_ folder: ModelFolder, _ runtime: OnnxRuntime) throws(NodeError) {
        description = try PiperDescription(folder)
        let session = try OnnxSession(runtime, path: description.model)
        try session.require(inputs: ["input", "input_lengths", "scales"], outputs: ["output"])
        self.session = Lock(session)
    }

    /// `pace`: 1 is its own. Without variation it says the same in the same way each time. [worker]
    func speak(_ piece: String, pace: Double, isVaried: Bool) throws(NodeError) -> [Float] {
        let ids = description.ids(of: try phonemes(of: piece))
        // Only a start and an end: nothing is said.
        if ids.count <= 3 { return [] }
        let scales = [
            isVaried ? description.noise : 0, description.length / Float(pace), isVaried ? description.widthNoise : 0,
        ]
        let samples = try session.withLock { session throws(NodeError) in
            let runtime = session.runtime
            let inputs = [
                ("input", try OnnxValue(runtime, ids, shape: [1, ids.count])),
                ("input_lengths", try OnnxValue(runtime, [Int64(ids.count)], shape: [1])),
                ("scales", try OnnxValue(runtime, scales, shape: [3])),
            ]
            return try session.run(inputs, outputs: ["output"])[0].floats().elements
        }
        return samples
    }

    /// What espeak-ng would say, in the phonetic alphabet, with the marks that end each clause.
    private func phonemes(of piece: String) throws(NodeError) -> String {
        try EspeakLibrary.fresh { library, _ throws(NodeError) in
            try EspeakVoices(library).select(description.espeakVoice)
            var result = ""
            // espeak-ng spells this one.
            for clause in clauses(of: piece.replacing(" vs. ", with: " versus ")) {
                let said = clause.text.withCString { text -> String in
                    var rest: UnsafeRawPointer? = UnsafeRawPointer(text)
                    var parts: [String] = []
                    // UTF-8; phonemes in the phonetic alphabet.
                    while rest != nil, let part = library.textToPhonemes(&rest, 1, 2) {
                        parts.append(String(cString: part))
                    }
                    return parts.joined(separator: " ")
                }
                let trimmed = trimmed(said)
                if trimmed.isEmpty { continue }
                result += trimmed + clause.mark
            }
            return trimmed(result)
        }
    }

    /// Each with the mark that stands behind it, as voices know it.
    private func clauses(of piece: String) -> [(text: String, mark: String)] {
        var result: [(text: String, mark: String)] = []
        var text = ""
        let scalars = Array(piece.unicodeScalars)
        for (place, scalar) in scalars.enumerated() {
            let isBeforeSpace = place + 1 == scalars.count || !scalars[place + 1].properties.isAlphabetic
            let isInNumber = place + 1 < scalars.count && scalars[place + 1].properties.numericType != nil
            let isShort =
                scalar == "." && place + 1 < scalars.count
                && Sentences.end(at: place, in: scalars, from: 0, isWhole: true) == .none
            if ".,;:!?".unicodeScalars.contains(scalar), isBeforeSpace, !isInNumber, !isShort {
                result.append((text, "\(scalar) "))
                text = ""
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        if !trimmed(text).isEmpty { result.append((text, "")) }
        return result
    }
}
