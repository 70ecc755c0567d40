// SPDX-License-Identifier: GPL-3.0-or-later
import Glibc
import Models
import NodeKit
import Pronunciation

/// A voice of hibari that was read: a net that says of sounds how they are spoken, and what makes sounds of a text.
///
/// The net has two stages. The first looks at a sentence as a whole, and says how long each sound lasts, its pitch, and what
/// each frame shall be like. The second makes spectra of that, and looks no further than 27 frames to both sides: so it is
/// computed window by window, and the first frames are heard while the others are made.
final class HibariVoice: Sendable {
    /// Steps of a sound's length: two frames of 12.5 ms.
    private static let step = 2
    /// More than that is said in parts. As long a sentence as the voices have learnt.
    private static let most = 400
    /// How many frames the second stage looks to each side: nine convolutions of seven frames.
    private static let reach = 27
    /// Frames of silence that are left before the first sound.
    private static let lead = 4
    /// How many frames are made at a time: few at first.
    private static let windows = [8, 32, 80]

    private static let frames = "/Concat_43_output_0"
    private static let pitch = "f0"
    private static let lengths = "/Clip_output_0"
    private static let spectra = "/head/Add_output_0"

    private let pronouncer: Pronouncer
    private let ids: [Unicode.Scalar: Int64]
    /// Both stages, for one piece at a time.
    private let stages: Lock<(first: OnnxSession, second: OnnxSession)>

    init(model: String, _ pronouncer: Pronouncer, ids: [Unicode.Scalar: Int64], _ runtime: OnnxRuntime)
        throws(NodeError)
    {
        self.pronouncer = pronouncer
        self.ids = ids
        func session(_ part: OnnxPart) throws(NodeError) -> OnnxSession {
            // Weights of the first stage are shared, which the runtime's way without overflows cannot read (1.28, 1.32).
            if let exact = try? OnnxSession(runtime, path: model, part: part) { return exact }
            return try OnnxSession(runtime, path: model, part: part, isExact: false)
        }
        let first = try session(OnnxPart(to: [Self.frames, Self.pitch, Self.lengths]))
        try first.require(inputs: ["ids", "speed"], outputs: [Self.frames, Self.pitch, Self.lengths])
        stages = try Lock((first, session(OnnxPart(from: [Self.frames], to: [Self.spectra]))))
    }

    /// Speaks a piece of text; returns what of it cannot be said, in Unicode scalars. `pitch`: a factor. [worker]
    func speak(_ piece: String, pace: Double, pitch: Double, deliver: VoiceDelivery) throws(NodeError)
        -> [Range<Int>]
    {
        let said = pronouncer.pronounce(piece)
        if said.words.isEmpty { return said.unsaid }
        var spoken = 0.0
        for part in parts(of: said.phonemes) {
            guard let length = try speak(said, part, at: spoken, pace, pitch, deliver) else { break }
            spoken += length
        }
        return said.unsaid
    }

    /// Says a part of the sounds; returns how many seconds it lasts, nil: it was ended.
    private func speak(
        _ said: Pronunciation, _ part: Range<Int>, at start: Double, _ pace: Double, _ pitch: Double,
        _ deliver: VoiceDelivery
    ) throws(NodeError) -> Double? {
        // 0 stands at both ends.
        var input: [Int64] = [0]
        var places: [Int: Int] = [:]
        for place in part {
            places[place] = input.count
            if let id = ids[said.phonemes[place]] { input.append(id) }
        }
        // Beyond these the net would make sounds of no length.
        let own = min(max(pace, 0.6), 1.4)
        let plan = try plan(input + [0], own, pitch).stretched(own / pace)
        let skipped = min(max(Int(Float(Self.step) * plan.lengths[0]) - Self.lead, 0), plan.count - 1)
        var begins = [-Double(skipped)]
        for length in plan.lengths { begins.append(begins[begins.count - 1] + Double(Self.step) * Double(length)) }
        var words = said.words.filter { part.contains($0.phonemes.lowerBound) }.compactMap { word -> SpokenWord? in
            guard let place = places[word.phonemes.lowerBound], place < begins.count else { return nil }
            let time = start + begins[place] * SpectralSound.frame
            return SpokenWord(start: word.text.lowerBound, length: word.text.count, time: time)
        }
        var sound = try SpectralSound(pitch: Array(plan.pitch[skipped...]), seed: UInt64(input.count))
        var samples: [Float] = []
        var windows = Self.windows[...]
        var place = skipped
        while place < plan.count {
            let window = windows.first ?? Self.windows[Self.windows.count - 1]
            windows = windows.dropFirst()
            let end = min(place + window, plan.count)
            sound.take(try spectra(plan, place..<end), &samples)
            if end == plan.count { sound.finish(&samples) }
            if !samples.withUnsafeBufferPointer({ deliver($0, words) }) { return nil }
            samples.removeAll(keepingCapacity: true)
            words = []
            place = end
        }
        return Double(plan.count - skipped) * SpectralSound.frame
    }

    // MARK: stages

    /// What the first stage says.
    private struct Plan {
        /// What frames shall be like, value after value, of all frames each.
        var frames: [Float]
        /// Hz, of each frame.
        var pitch: [Float]
        /// Steps, of each sound.
        var lengths: [Float]
        var count: Int { pitch.count }

        /// The same in a longer or shorter time.
        func stretched(_ factor: Double) -> Plan {
            let longer = max(Int((Double(count) * factor).rounded()), 1)
            if longer == count { return self }
            // Between which frames each new one lies, and how near to the second.
            let places = (0..<longer).map { place -> (Int, Float) in
                let exact = min(max((Double(place) + 0.5) / factor - 0.5, 0), Double(count - 1))
                return (min(Int(exact), max(count - 2, 0)), Float(exact - Double(min(Int(exact), max(count - 2, 0)))))
            }
            var stretched = Plan(frames: [], pitch: [], lengths: lengths.map { $0 * Float(factor) })
            for start in stride(from: 0, to: frames.count, by: count) {
                for (place, near) in places {
                    let next = min(place + 1, count - 1)
                    stretched.frames.append(frames[start + place] * (1 - near) + frames[start + next] * near)
                }
            }
            // There is no voice between one and none.
            stretched.pitch = places.map { place, near in pitch[near < 0.5 ? place : min(place + 1, count - 1)] }
            return stretched
        }
    }

    private func plan(_ input: [Int64], _ pace: Double, _ pitch: Double) throws(NodeError) -> Plan {
        try stages.withLock { stages throws(NodeError) in
            let session = stages.first
            let results = try session.run(
                [
                    ("ids", try OnnxValue(session.runtime, input, shape: [1, input.count])),
                    ("speed", try OnnxValue(session.runtime, [Float(pace)], shape: [1])),
                ], outputs: [Self.frames, Self.pitch, Self.lengths])
            let plan = Plan(
                frames: try results[0].floats().elements,
                pitch: try results[1].floats().elements.map { $0 * Float(pitch) },
                lengths: try results[2].floats().elements)
            guard plan.count > 0, plan.frames.count % plan.count == 0, plan.lengths.count == input.count else {
                throw NodeError("the voice's net gave values of another size than was expected")
            }
            return plan
        }
    }

    /// The spectra of some frames, frame after frame.
    private func spectra(_ plan: Plan, _ wanted: Range<Int>) throws(NodeError) -> ArraySlice<Float> {
        let seen = max(wanted.lowerBound - Self.reach, 0)..<min(wanted.upperBound + Self.reach, plan.count)
        let values = plan.frames.count / plan.count
        var input: [Float] = []
        input.reserveCapacity(values * seen.count)
        for value in 0..<values {
            input += plan.frames[(value * plan.count + seen.lowerBound)..<(value * plan.count + seen.upperBound)]
        }
        let shape = [1, values, seen.count]
        let given = try stages.withLock { stages throws(NodeError) in
            let session = stages.second
            let value = try OnnxValue(session.runtime, input, shape: shape)
            return try session.run([(Self.frames, value)], outputs: [Self.spectra])[0].floats().elements
        }
        guard given.count == seen.count * SpectralSound.values else {
            throw NodeError("the voice's net gave spectra of another size than was expected")
        }
        let start = (wanted.lowerBound - seen.lowerBound) * SpectralSound.values
        return given[start..<(start + wanted.count * SpectralSound.values)]
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
