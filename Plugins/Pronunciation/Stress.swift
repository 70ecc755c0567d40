// SPDX-License-Identifier: Apache-2.0

/// Sounds of English in the alphabet that Kokoro's voices were trained with (github.com/hexgrad/misaki, EN_PHONES.md): mostly
/// the phonetic alphabet, with capitals for diphthongs.
typealias Phonemes = [Unicode.Scalar]

/// What rules have to know of sounds.
enum Sound {
    static let primary: Unicode.Scalar = "ˈ"
    static let secondary: Unicode.Scalar = "ˌ"
    static let vowels = Set("AIOQWYaiuæɑɒɔəɛɜɪʊʌᵻ".unicodeScalars)
    static let consonants = Set("bdfhjklmnpstvwzðŋɡɹɾʃʒʤʧθ".unicodeScalars)
    /// Those that last twice as long.
    static let long = Set("AIOQWYʤʧ".unicodeScalars)
    /// Vowels after which Americans flap a t.
    static let beforeFlap = Set("AIOWYiuæɑəɛɪɹʊʌ".unicodeScalars)

    static func isStress(_ scalar: Unicode.Scalar) -> Bool { scalar == primary || scalar == secondary }
}

extension [Unicode.Scalar] {
    /// How long it takes to say.
    var weight: Int { reduce(0) { $0 + (Sound.long.contains($1) ? 2 : 1) } }

    /// With another stress: below -1 none, -1 one step less, -0.5 and 0 less where it has a primary one, 0 to 1 a secondary
    /// one where it has none, 1 and more a primary one in place of a secondary one, above 1 a primary one where it has none.
    func stressed(_ stress: Double?) -> Phonemes {
        guard let stress else { return self }
        let hasPrimary = contains(Sound.primary)
        let hasSecondary = contains(Sound.secondary)
        if stress < -1 { return filter { !Sound.isStress($0) } }
        if stress == -1 || (stress == 0 || stress == -0.5) && hasPrimary {
            return filter { $0 != Sound.secondary }.map { $0 == Sound.primary ? Sound.secondary : $0 }
        }
        if hasPrimary { return self }
        if stress >= 1, hasSecondary { return map { $0 == Sound.secondary ? Sound.primary : $0 } }
        guard !hasSecondary, stress >= 0, let vowel = firstIndex(where: Sound.vowels.contains) else { return self }
        return self[..<vowel] + [stress > 1 ? Sound.primary : Sound.secondary] + self[vowel...]
    }
}
