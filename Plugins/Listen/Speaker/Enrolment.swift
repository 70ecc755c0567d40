// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Speech of one person, of which a voice is made.
struct Enrolment {
    /// Seconds of speech that a voice is made of at least.
    static let least = 3.0
    /// Windows, some two seconds, of which each part of what one person says is like most others, as likeness has it: of one
    /// person one in a hundred recordings is refused, of two persons three in a hundred are not.
    private static let (part, oneVoice) = (5, 0.5)
    /// Likeness that what is added to a voice must have.
    private static let sameVoice = 0.5

    let name: String
    /// Seconds of speech that are waited for.
    let wanted: Double
    /// The frame of the graph at which it is given up.
    let end: Double
    var vectors: [[Float]] = []

    /// Seconds of speech so far.
    var seconds: Double { spokenSeconds(vectors.count) }

    /// Whether no part of it is unlike the rest.
    private var isOneVoice: Bool {
        let parts = stride(from: 0, through: vectors.count - Self.part, by: Self.part).compactMap { first in
            meanDirection(vectors[first..<first + Self.part])
        }
        return parts.indices.allSatisfy { one in
            let others = parts.indices.filter { $0 != one }.map { likeness(parts[one], parts[$0]) }.sorted()
            return others.isEmpty || others[others.count / 2] >= Self.oneVoice
        }
    }

    /// Makes a voice of it, and keeps it; of a name that is there already, with what was known of it. [worker]
    func keep(in voices: KnownVoices, threshold: Double) throws(NodeError) -> KnownVoice {
        guard seconds >= Self.least else {
            throw NodeError(
                "only \(oneDecimal(seconds)) s of speech were heard", hint: "it takes \(Int(Self.least)) s at least")
        }
        guard let mean = meanDirection(vectors) else { throw NodeError("there is nothing to hear in it") }
        if !isOneVoice {
            throw NodeError("more than one voice was heard, or much noise", hint: "let one person speak alone")
        }
        voices.refresh()
        for other in voices.voices where other.name != name && likeness(other.vector, mean) >= threshold {
            throw NodeError("that is the voice of \(other.name)", hint: "forget \(other.name) first", key: "name")
        }
        guard let old = voices.voices.first(where: { $0.name == name }) else {
            return try voices.keep(name, mean, windows: vectors.count)
        }
        if likeness(old.vector, mean) < Self.sameVoice {
            throw NodeError("that is not the voice that \(name) has", hint: "forget \(name) first", key: "name")
        }
        let (a, b) = (Float(old.windows), Float(vectors.count))
        let both = zip(old.vector, mean).map { $0 * a + $1 * b }
        return try voices.keep(name, normalized(both) ?? mean, windows: old.windows + vectors.count)
    }
}

/// A number with one decimal.
private func oneDecimal(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
