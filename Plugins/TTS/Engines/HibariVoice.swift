// SPDX-License-Identifier: GPL-3.0-or-later
import Glibc
import JSON
import Models
import NodeKit
import Pronunciation

/// A voice of hibari that was read: a net that says of sounds how they are spoken, and what makes sounds of a text.
final class HibariVoice: Sendable {
    /// Steps of a sound's length: two frames of 12.5 ms.
    private static let step = 0.025
    /// More than that is said in parts. As long a sentence as the voices have learnt.
    private static let most = 400
    /// An inner value of the net: how many steps each sound lasts.
    private static let lengths = "/Clip_output_0"
    private static let spectra = ["lh", "theta", "ln", "lr", "phi", "f0"]

    private let pronouncer: Pronouncer
    private let ids: [Unicode.Scalar: Int64]
    /// One piece at a time.
    private let session: Lock<OnnxSession>
    private let tellsLengths: Bool

    init(model: String, _ pronouncer: Pronouncer, ids: [Unicode.Scalar: Int64], _ runtime: OnnxRuntime)
        throws(NodeError)
    {
        self.pronouncer = pronouncer
        self.ids = ids
        // The net's weights are shared among its layers, which the runtime's way without overflows cannot read (1.28, 1.32).
        let session: OnnxSession
        if let whole = try? OnnxSession(runtime, path: model, inner: [Self.lengths], isExact: false) {
            session = whole
        } else {
            session = try OnnxSession(runtime, path: model, isExact: false)
        }
        try session.require(inputs: ["ids", "speed"], outputs: Self.spectra)
        tellsLengths = session.outputs.contains(Self.lengths)
        self.session = Lock(session)
    }

    /// Speaks a piece of text; returns whether anything of it can be said. `pitch`: a factor. [worker]
    func speak(_ piece: String, pace: Double, pitch: Double, deliver: VoiceDelivery) throws(NodeError) -> Bool {
        let said = pronouncer.pronounce(piece)
        if said.words.isEmpty { return false }
        var spoken = 0.0
        for part in parts(of: said.phonemes) {
            let words = said.words.filter { part.contains($0.phonemes.lowerBound) }
            guard let length = try speak(said, part, words, at: spoken, pace, pitch, deliver) else { return true }
            spoken += length
        }
        return true
    }

    /// Says a part of the sounds; returns how many seconds it lasts, nil: it was ended.
    private func speak(
        _ said: Pronunciation, _ part: Range<Int>, _ words: [Pronunciation.Word], at start: Double, _ pace: Double,
        _ pitch: Double, _ deliver: VoiceDelivery
    ) throws(NodeError) -> Double? {
        // 0 stands at both ends.
        var input: [Int64] = [0]
        var places: [Int: Int] = [:]
        for place in part {
            places[place] = input.count
            if let id = ids[said.phonemes[place]] { input.append(id) }
        }
        let (frames, lengths) = try compute(input + [0], pace: pace, pitch: pitch)
        var begins = [0.0]
        for length in lengths { begins.append(begins.last! + Double(length) * Self.step) }
        var marks = words.compactMap { word -> SpokenWord? in
            guard tellsLengths, let place = places[word.phonemes.lowerBound], place < begins.count else { return nil }
            return SpokenWord(start: word.text.lowerBound, length: word.text.count, time: start + begins[place])
        }
        var sound = try SpectralSound(frames, seed: UInt64(input.count))
        var samples: [Float] = []
        // The first ones at once, then a tenth of a second at a time.
        var wanted = 1
        var isOver = false
        while !isOver {
            isOver = !sound.next(&samples)
            guard samples.count >= wanted || isOver else { continue }
            if !samples.withUnsafeBufferPointer({ deliver($0, marks) }) { return nil }
            samples.removeAll(keepingCapacity: true)
            marks = []
            wanted = Int(SpectralSound.rate / 10)
        }
        return Double(frames.count) * Self.step / 2
    }

    private func compute(_ input: [Int64], pace: Double, pitch: Double) throws(NodeError)
        -> (SpectralFrames, lengths: [Float])
    {
        try session.withLock { session throws(NodeError) in
            let values = try session.run(
                [
                    ("ids", try OnnxValue(session.runtime, input, shape: [1, input.count])),
                    ("speed", try OnnxValue(session.runtime, [Float(pace)], shape: [1])),
                ], outputs: Self.spectra + (tellsLengths ? [Self.lengths] : []))
            var parts: [[Float]] = []
            for value in values { parts.append(try value.floats().elements) }
            let count = parts[5].count
            guard count > 0, parts[..<5].allSatisfy({ $0.count == count * SpectralSound.bins }) else {
                throw NodeError("the voice's net gave spectra of another size than was expected")
            }
            let frames = SpectralFrames(
                pulse: turned(parts[0], count), turn: turned(parts[1], count), noise: turned(parts[2], count),
                rest: turned(parts[3], count), phase: turned(parts[4], count), pitch: parts[5].map { $0 * Float(pitch) }
            )
            return (frames, parts.count > 6 ? parts[6] : [])
        }
    }

    /// Frame after frame, in place of bin after bin.
    private func turned(_ values: [Float], _ frames: Int) -> [Float] {
        [Float](unsafeUninitializedCapacity: values.count) { result, count in
            for bin in 0..<SpectralSound.bins {
                for frame in 0..<frames { result[frame * SpectralSound.bins + bin] = values[bin * frames + frame] }
            }
            count = values.count
        }
    }

    /// Cuts what is too long for the net, behind marks, else between words.
    private func parts(of phonemes: [Unicode.Scalar]) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var start = 0
        while phonemes.count - start > Self.most {
            let end = start + Self.most
            let spaces = (start + 1..<end).filter { phonemes[$0] == " " }
            let cut = spaces.last { ",;:—.!?…".unicodeScalars.contains(phonemes[$0 - 1]) } ?? spaces.last ?? end
            parts.append(start..<cut)
            start = phonemes[cut] == " " ? cut + 1 : cut
        }
        return parts + [start..<phonemes.count]
    }
}
