// SPDX-License-Identifier: GPL-3.0-or-later
import CSpeech
import Glibc
import NodeKit

/// flite: five English voices in libraries of their own. It speaks sentence by sentence.
struct FliteEngine: VoiceEngine {
    static let name = "flite"
    /// Its voices; the first is its own choice, and the one that recognizers understand best.
    static let voices = ["kal16", "slt", "rms", "awb", "kal"]

    let abilities = EngineAbilities(
        cut: .sentences, tellsWords: true, takesMarkup: false, setsPitch: true, volume: 0)

    func find(_ voice: String) throws(NodeError) -> (name: String, instead: String?) {
        if Self.voices.contains(voice) { return (voice, nil) }
        let tag = String(voice.lowercased().map { $0 == "_" ? "-" : $0 })
        if tag == "en" || tag == "en-us" { return (Self.voices[0], nil) }
        if tag.hasPrefix("en-") { return (Self.voices[0], "\(Self.voices[0]), who is American,") }
        let known = Self.voices.joined(separator: ", ")
        throw NodeError(
            "flite has no voice called \"\(voice)\"",
            hint: suggestion(voice, among: Self.voices) ?? "it speaks English; its voices are \(known)",
            key: TTS.voice.name)
    }

    func voices() throws(NodeError) -> [KnownVoice] {
        _ = try FliteLibrary.shared()
        return Self.voices.filter { FliteLibrary.has($0) }.map { KnownVoice(name: $0, language: "en-us") }
    }

    func synthesize(
        _ piece: String, markup isMarkup: Bool, _ voice: Voice, begin: (Double) -> Void, deliver: VoiceDelivery
    ) throws(NodeError) {
        let library = try FliteLibrary.shared()
        let spoken = try library.speak(piece, voice)
        begin(spoken.rate)
        // In parts, so that whoever stops it need not wait for all.
        for start in stride(from: 0, to: spoken.samples.count, by: 4096) {
            let part = spoken.samples[start..<min(start + 4096, spoken.samples.count)]
            let times = Double(start) / spoken.rate..<Double(start + part.count) / spoken.rate
            let words = spoken.words.filter { times.contains($0.time) }
            if !part.withUnsafeBufferPointer({ deliver($0, words) }) { return }
        }
    }
}

/// libflite and the voices that were asked for so far.
final class FliteLibrary: @unchecked Sendable {
    // Sendable: `monitor` guards the library, which keeps what it learns of a voice in that voice.

    /// What was made of a piece.
    struct Spoken {
        var samples: [Float]
        /// Hz.
        var rate: Double
        var words: [SpokenWord]
    }

    private typealias Item = OpaquePointer
    private static let loaded = Lock<FliteLibrary?>(nil)

    private let monitor = Monitor()
    private let synthesize: @convention(c) (UnsafePointer<CChar>?, OpaquePointer?) -> OpaquePointer?
    private let wave: @convention(c) (OpaquePointer?) -> UnsafePointer<vg_flite_wave>?
    private let relation: @convention(c) (OpaquePointer?, UnsafePointer<CChar>?) -> OpaquePointer?
    private let head: @convention(c) (OpaquePointer?) -> Item?
    private let next: @convention(c) (Item?) -> Item?
    private let text: @convention(c) (Item?, UnsafePointer<CChar>?) -> UnsafePointer<CChar>?
    private let number: @convention(c) (Item?, UnsafePointer<CChar>?) -> Float
    private let delete: @convention(c) (OpaquePointer?) -> Void
    private let set: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, Float) -> Void
    private let get: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, Float) -> Float
    // Names of features, which flite keeps as they are given.
    private let stretchName = strdup("duration_stretch")
    private let shiftName = strdup("f0_shift")
    /// By name, with the pace that it was made with.
    private var voices: [String: (voice: OpaquePointer, stretch: Float)] = [:]

    /// Loads it, once a process. [control] [worker]
    static func shared() throws(NodeError) -> FliteLibrary {
        try loaded.withLock { loaded throws(NodeError) in
            if let library = loaded { return library }
            let library = try FliteLibrary()
            loaded = library
            return library
        }
    }

    /// Whether a voice is installed.
    static func has(_ voice: String) -> Bool {
        (try? Library(["libflite_cmu_us_\(voice).so.1"], package: "libflite1")) != nil
    }

    private init() throws(NodeError) {
        let library = try Library(["libflite.so.1"], package: "libflite1")
        let initialize = try library.function("flite_init", as: (@convention(c) () -> Int32).self)
        synthesize = try library.function("flite_synth_text")
        wave = try library.function("utt_wave")
        relation = try library.function("utt_relation")
        head = try library.function("relation_head")
        next = try library.function("item_next")
        text = try library.function("ffeature_string")
        number = try library.function("ffeature_float")
        delete = try library.function("delete_utterance")
        set = try library.function("flite_feat_set_float")
        get = try library.function("flite_get_param_float")
        _ = initialize()
    }

    /// Speaks one piece. [worker]
    func speak(_ piece: String, _ wanted: Voice) throws(NodeError) -> Spoken {
        try monitor.locked { () throws(NodeError) -> Spoken in
            let (voice, stretch) = try voice(wanted.name.isEmpty ? FliteEngine.voices[0] : wanted.name)
            // The first members of flite's structure.
            let features = UnsafePointer<vg_flite_voice>(voice).pointee.features
            set(features, stretchName, stretch * 175 / Float(wanted.rate))
            set(features, shiftName, pow(2, Float(wanted.pitch - 50) / 50))
            // Breath is made of noise, from the numbers of the C library.
            srand(1)
            guard let utterance = synthesize(piece, voice) else { throw NodeError("flite cannot speak this text") }
            defer { delete(utterance) }
            guard let wave = wave(utterance)?.pointee, wave.sample_rate > 0 else {
                return Spoken(samples: [], rate: 16000, words: [])
            }
            let count = wave.samples == nil ? 0 : Int(wave.num_samples)
            let samples = UnsafeBufferPointer(start: wave.samples, count: count).map { Float($0) * (1 / 32768) }
            return Spoken(samples: samples, rate: Double(wave.sample_rate), words: words(of: utterance, in: piece))
        }
    }

    /// Where the tokens of an utterance stand in the text, and when they begin.
    private func words(of utterance: OpaquePointer, in piece: String) -> [SpokenWord] {
        let scalars = Array(piece.unicodeScalars)
        var words: [SpokenWord] = []
        var place = 0
        var token = relation(utterance, "Token").flatMap { head($0) }
        while let current = token {
            token = next(current)
            guard let name = text(current, "name").map({ Array(String(cString: $0).unicodeScalars) }), !name.isEmpty,
                let found = (place..<max(place, scalars.count - name.count + 1)).first(where: {
                    scalars[$0..<$0 + name.count].elementsEqual(name)
                })
            else { continue }
            place = found + name.count
            // The end of what is spoken before its first sound; a token that is not spoken has none.
            let path = "R:Token.daughter1.R:SylStructure.daughter1.daughter1.R:Segment"
            guard text(current, "\(path).name").map({ String(cString: $0) }) != "0" else { continue }
            let time = number(current, "\(path).p.end")
            words.append(SpokenWord(start: found, length: name.count, time: Double(time)))
        }
        return words
    }

    private func voice(_ name: String) throws(NodeError) -> (OpaquePointer, Float) {
        if let voice = voices[name] { return voice }
        // A voice names what it is made of, but not the libraries that have it.
        for file in ["libflite_usenglish.so.1", "libflite_cmulex.so.1"] {
            _ = try Library([file], package: "libflite1")
        }
        let library = try Library(["libflite_cmu_us_\(name).so.1"], package: "libflite1")
        let register = try library.function(
            "register_cmu_us_\(name)", as: (@convention(c) (UnsafePointer<CChar>?) -> OpaquePointer?).self)
        guard let voice = register(nil) else { throw NodeError("flite cannot begin the voice \(name)") }
        let made = (voice, get(UnsafePointer<vg_flite_voice>(voice).pointee.features, "duration_stretch", 1))
        voices[name] = made
        return made
    }
}
