// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What it means that the user says something while a reply is heard.
struct Interruption: Sendable {
    /// What interrupts a reply, besides stop words.
    enum Mode: String, CaseIterable {
        /// All that is said.
        case any
        /// What says more than that somebody listens.
        case words
        /// Nothing.
        case never
    }

    enum Meaning {
        /// That somebody listens.
        case attention
        /// That the reply is to stop, and no more.
        case stop
        /// Something to answer.
        case words
    }

    static let mode = Key.choice(
        "interrupt",
        "what interrupts a reply that is heard: any speech; what has other words than `backchannel`; never, but for stop words",
        default: Mode.words)
    static let backchannel = Key.texts(
        "backchannel", "what interrupts nothing when it is all that is said, alone or several of them",
        default: [
            "mhm", "mm-hmm", "mm", "uh-huh", "hm", "hmm", "yeah", "yep", "ok", "okay", "right", "alright", "sure", "oh",
            "ah",
            "uh", "um", "wow", "cool", "nice", "great", "i see", "got it", "of course", "all right",
        ])
    static let stopWords = Key.texts(
        "stop_words", "what always stops a reply that is heard, and is not answered",
        default: [
            "stop", "stop it", "stop that", "stop talking", "stop speaking", "be quiet", "quiet", "shut up", "silence",
            "enough", "that's enough", "never mind", "cancel",
        ])

    /// What may stand beside a stop word.
    private static let courtesies: Set<String> = ["please", "now", "just", "hey", "no", "thanks", "thank", "you"]

    let mode: Mode
    private let phrases: Set<[String]>
    private let stops: Set<[String]>
    private let longest: Int

    init(_ settings: Settings) throws(NodeError) {
        mode = try settings[Self.mode]
        phrases = Set(try settings[Self.backchannel].map(Self.words))
        stops = Set(try settings[Self.stopWords].map(Self.words))
        longest = phrases.map(\.count).max() ?? 0
    }

    private static func words(_ text: String) -> [String] { SpokenWord.words(of: text).map(\.plain) }

    /// What a text means, or may mean where more of it comes.
    func meaning(of text: String, isWhole: Bool) -> Meaning {
        let words = Self.words(text)
        if isStop(words) { return .stop }
        return isAttention(words[...], isWhole) ? .attention : .words
    }

    /// A stop word, and what is said with one.
    private func isStop(_ words: [String]) -> Bool {
        func isBeside(_ word: String) -> Bool { Self.courtesies.contains(word) || phrases.contains([word]) }
        // The same one again, as people do.
        var rest = Array(words.drop(while: isBeside))
        while let last = rest.last, isBeside(last), !stops.contains(rest) { rest.removeLast() }
        if stops.contains(rest) { return true }
        guard rest.count > 1 else { return false }
        return (1..<rest.count).contains { stops.contains(Array(rest[..<$0])) && isStop(Array(rest[$0...])) }
    }

    /// Phrases, one after another, and nothing else; of the last one the beginning, where more comes.
    private func isAttention(_ words: ArraySlice<String>, _ isWhole: Bool) -> Bool {
        if words.isEmpty || !isWhole && phrases.contains(where: { $0.starts(with: words) }) { return true }
        return (1...max(1, longest)).contains { count in
            count <= words.count && phrases.contains(Array(words.prefix(count)))
                && isAttention(words.dropFirst(count), isWhole)
        }
    }
}
