// SPDX-License-Identifier: GPL-3.0-or-later
import CEspeak
import Glibc
import NodeKit

/// espeak-ng: a hundred languages, small and fast.
struct EspeakEngine: VoiceEngine {
    static let name = "espeak-ng"

    let abilities = EngineAbilities(
        cut: .paragraphs, tellsWords: true, takesMarkup: true, setsPitch: true, volume: 100)

    /// Who is spoken to, while the library speaks.
    private struct Listener {
        var deliver: VoiceDelivery
    }

    func find(_ voice: String) throws(NodeError) -> (name: String, instead: String?) {
        try EspeakLibrary.fresh { library, _ throws(NodeError) in try EspeakVoices(library).find(voice) }
    }

    func voices() throws(NodeError) -> [KnownVoice] {
        try EspeakLibrary.fresh { library, _ throws(NodeError) in
            EspeakVoices(library).list(nil).map { KnownVoice(name: $0.name, language: $0.languages.first ?? "") }
        }
    }

    /// Whether it has voices is not looked at: that costs 20 ms.
    func require() throws(NodeError) { try EspeakLibrary.require() }

    func isOwn(_ voice: String) -> Bool { voice == EspeakVoices.standard }

    func synthesize(
        _ piece: String, markup isMarkup: Bool, _ voice: Voice, begin: (Double) -> Void, deliver: VoiceDelivery
    ) throws(NodeError) {
        let name = voice.name.isEmpty ? EspeakVoices.standard : voice.name
        try EspeakLibrary.fresh { library, rate throws(NodeError) in
            library.setCallback { EspeakEngine.receive($0, $1, $2) }
            try EspeakVoices(library).select(name)
            _ = library.setParameter(espeakRATE, Int32(voice.rate), 0)
            _ = library.setParameter(espeakPITCH, Int32(voice.pitch), 0)
            _ = library.setParameter(espeakVOLUME, Int32(min(voice.volume, 100)), 0)
            begin(rate)
            let flags = UInt32(espeakCHARS_UTF8) | (isMarkup ? UInt32(espeakSSML) : 0)
            let result = withoutActuallyEscaping(deliver) { deliver in
                var listener = Listener(deliver: deliver)
                return withUnsafeMutablePointer(to: &listener) { listener in
                    piece.withCString {
                        library.synth($0, strlen($0) + 1, 0, POS_CHARACTER, 0, flags, nil, listener)
                    }
                }
            }
            if result != EE_OK { throw NodeError("espeak-ng failed with code \(result.rawValue)") }
        }
    }

    /// What the library calls, within `synth`, on the same thread.
    private static func receive(
        _ samples: UnsafeMutablePointer<Int16>?, _ count: Int32, _ events: UnsafeMutablePointer<espeak_EVENT>?
    ) -> Int32 {
        // Every list of events ends with one, and each names the listener.
        guard let user = events?.pointee.user_data else { return 0 }
        var words: [SpokenWord] = []
        var event = events
        while let current = event, current.pointee.type != espeakEVENT_LIST_TERMINATED {
            if current.pointee.type == espeakEVENT_WORD {
                words.append(
                    SpokenWord(
                        start: max(0, Int(current.pointee.text_position) - 1), length: Int(current.pointee.length),
                        time: Double(current.pointee.audio_position) / 1000))
            }
            event = current + 1
        }
        let floats = UnsafeBufferPointer(start: samples, count: samples == nil ? 0 : Int(count)).map {
            Float($0) * (1 / 32768)
        }
        let listener = user.assumingMemoryBound(to: Listener.self)
        return floats.withUnsafeBufferPointer { listener.pointee.deliver($0, words) } ? 0 : 1
    }
}
