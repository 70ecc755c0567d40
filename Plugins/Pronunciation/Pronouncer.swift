// SPDX-License-Identifier: Apache-2.0
import JSON
import Models
import NodeKit

/// What is to be said, in sounds.
public struct Pronunciation: Sendable, Equatable {
    /// A word, and the sounds that it has.
    public struct Word: Sendable, Equatable {
        /// Unicode scalars of the text that it stands for.
        public var text: Range<Int>
        /// Its place in `phonemes`.
        public var phonemes: Range<Int>
    }

    /// Sounds, and between them spaces and marks at which a voice pauses.
    public var phonemes: [Unicode.Scalar] = []
    /// In the order in which they are said. A part of the text that is said as several words is one.
    public var words: [Word] = []
    /// Unicode scalars of the text in letters that nobody knows a sound of, in runs.
    public var unsaid: [Range<Int>] = []
}

/// Says English texts in the sounds that Kokoro's voices, and those made from them, were trained with.
///
/// A text is written out (times, dates, amounts), cut into tokens, of which the part of speech is found, and looked up in a
/// lexicon. Whatever is unknown is spelled out by `unknown`.
public struct Pronouncer: Sendable {
    /// Says a word of letters that no lexicon has.
    public typealias Speller = @Sendable (String) -> [Unicode.Scalar]?

    private let normalizer: Normalizer
    private let tokenizer: Tokenizer
    private let tagger: Tagger
    let lexicon: Lexicon
    let unknown: Speller

    /// Reads the tables from a folder: `normalize.json`, `tokenizer_exceptions.json`, `tagger.json.gz` and the two lexicons of
    /// the accent. The error names the file that cannot be used. [worker]
    public init(_ accent: Accent, from folder: String, unknown: @escaping Speller) throws(NodeError) {
        func json(_ name: String) throws(NodeError) -> JSON {
            let path = folder + "/" + name
            let bytes = try PackedFile.read(path)
            guard let json = try? JSON(bytes) else {
                throw NodeError(
                    "\(path) is broken: it is no JSON", hint: "remove and install it again: voicegraph models")
            }
            return json
        }
        func table(_ name: String) throws(NodeError) -> JSONTable {
            let path = folder + "/" + name
            return try JSONTable(PackedFile.read(path), path: path)
        }
        normalizer = try Normalizer(json("normalize.json"), accent, path: folder + "/normalize.json")
        tokenizer = Tokenizer(try json("tokenizer_exceptions.json"))
        let tags = folder + "/tagger.json.gz"
        tagger = try Tagger(PackedFile.read(tags), path: tags)
        lexicon = try Lexicon(
            accent, checked: table("lexicon_\(accent.code)_gold.json.gz"),
            made: table("lexicon_\(accent.code)_silver.json.gz"))
        self.unknown = unknown
    }

    /// The text as it is said, but in letters. [any]
    func written(_ text: String) -> String { String(normalizer.normalize(text).scalars) }

    /// What a sentence or a line sounds like. [any]
    public func pronounce(_ text: String) -> Pronunciation {
        let said = normalizer.normalize(text)
        let tokens = tokenizer.tokens(said.scalars)
        let tags = tagger.tags(tokens.map(\.text))
        var groups = self.groups(of: zip(tokens, tags).map { SpokenToken($0, tag: $1) })
        var following = Following()
        for index in groups.indices.reversed() { say(&groups[index], &following) }
        var result = Pronunciation()
        let scalars = text.scalars
        var sign: Int?
        for group in groups {
            var place = said.origin(group[0].range.lowerBound..<group[group.count - 1].range.upperBound)
            if let sign { place = min(sign, place.lowerBound)..<place.upperBound }
            append(group, trimmed(place, scalars), to: &result)
            // The sign of an amount is said behind it.
            sign = group[0].tag == "$" && group[0].phonemes?.isEmpty == true ? place.lowerBound : nil
        }
        while result.phonemes.last == " " { result.phonemes.removeLast() }
        result.unsaid = unsaid(said)
        return result
    }

    /// Words in other letters than Latin ones; those that follow each other are one.
    private func unsaid(_ said: MarkedText) -> [Range<Int>] {
        var runs: [Range<Int>] = []
        var isOpen = false
        for (place, scalar) in said.scalars.enumerated() {
            if scalar.isLetter {
                let origin = said.origin(place..<place + 1)
                if scalar.isLatin {
                    isOpen = false
                } else if isOpen {
                    runs[runs.count - 1] = runs[runs.count - 1].lowerBound..<origin.upperBound
                } else {
                    runs.append(origin)
                    isOpen = true
                }
            }
        }
        return runs
    }

    /// Without white space at the ends.
    private func trimmed(_ range: Range<Int>, _ text: Scalars) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, text[start].isSpace { start += 1 }
        while end > start, text[end - 1].isSpace { end -= 1 }
        return start..<end
    }

    private func append(_ group: [SpokenToken], _ place: Range<Int>, to result: inout Pronunciation) {
        var said: Phonemes = []
        for token in group {
            if token.isApart, let last = said.last, last != " ", token.phonemes?.isEmpty == false { said.append(" ") }
            said += token.phonemes ?? []
        }
        // What the voices know a flapped t and a glottal stop as.
        said = said.map { $0 == "ɾ" ? "T" : $0 == "ʔ" ? "t" : $0 }
        while result.phonemes.isEmpty, said.first == " " { said.removeFirst() }
        let start = result.phonemes.count
        result.phonemes += said
        if !place.isEmpty, said.contains(where: { Sound.vowels.contains($0) || Sound.consonants.contains($0) }) {
            let end = result.phonemes.count
            if let last = result.words.last, last.text.overlaps(place) {
                let whole = min(last.text.lowerBound, place.lowerBound)..<max(last.text.upperBound, place.upperBound)
                result.words[result.words.count - 1] = .init(text: whole, phonemes: last.phonemes.lowerBound..<end)
            } else {
                result.words.append(.init(text: place, phonemes: start..<end))
            }
        }
        if group[group.count - 1].isBeforeSpace, !result.phonemes.isEmpty { result.phonemes.append(" ") }
    }
}
