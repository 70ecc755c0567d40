// SPDX-License-Identifier: Apache-2.0

/// Who speaks, as far as that can be told.
enum Verdict: Equatable {
    /// One of the known voices, by its name.
    case known(String)
    /// Like one of them, but not enough to be sure.
    case unsure(String)
    /// None of them.
    case unknown

    /// The name of who speaks for sure; blank: nobody's.
    var name: String { if case .known(let name) = self { name } else { "" } }
}

/// Decides who speaks, window after window of one speech. A name is told as soon as it is sure; that nobody known speaks, when
/// there was enough to hear.
struct VoiceJudge {
    /// What is decided of is the mean of so many windows, the newest: 2 seconds.
    private static let most = 4
    /// Windows without a sure name after which that is told, and after which a name that was told is given up.
    private static let patience = 3
    /// How far the second most alike voice must be behind.
    private static let margin = 0.08
    /// How far below the threshold a voice may still be one of those that are known.
    private static let doubt = 0.12

    /// Likeness from which on a voice is sure.
    var threshold: Double
    /// What was told of this speech; nil: nothing yet.
    private(set) var told: Verdict?
    /// How alike the most alike voice was, last.
    private(set) var score = 0.0
    private var vectors: [[Float]] = []
    private var verdict = Verdict.unknown
    /// Whether what was told last is the first of this speech.
    private(set) var isFirst = true
    /// Windows in a row of which something else is true than what was told.
    private var others = 0

    init(threshold: Double) { self.threshold = threshold }

    /// A new speech begins.
    mutating func begin() { self = VoiceJudge(threshold: threshold) }

    /// Takes the next window of the speech. What is to be told now, if it is news.
    mutating func take(_ vector: [Float], among voices: [KnownVoice]) -> Verdict? {
        vectors.append(vector)
        if vectors.count > Self.most { vectors.removeFirst() }
        verdict = judge(vectors, voices)
        guard verdict != told else {
            others = 0
            return nil
        }
        others += 1
        if case .known = verdict, told?.name ?? "" == "" { return tell() }
        // Another one speaks, or nobody that is known: not for one window that is unlike the others.
        if others < Self.patience { return nil }
        // What was heard of the one before does not count any more.
        vectors.removeFirst(max(0, vectors.count - Self.patience))
        verdict = judge(vectors, voices)
        return verdict == told ? nil : tell()
    }

    /// The speech has ended. What is to be told now, if it is news.
    mutating func end() -> Verdict? { told == nil ? tell() : nil }

    private mutating func tell() -> Verdict {
        (isFirst, told, others) = (told == nil, verdict, 0)
        return verdict
    }

    private mutating func judge(_ vectors: [[Float]], _ voices: [KnownVoice]) -> Verdict {
        guard let mean = meanDirection(vectors) else { return .unknown }
        let alike = voices.map { (name: $0.name, score: likeness(mean, $0.vector)) }.sorted { $0.score > $1.score }
        score = max(0, alike.first?.score ?? 0)
        guard let best = alike.first, best.score >= threshold - Self.doubt else { return .unknown }
        let second = alike.dropFirst().first?.score ?? -1
        return best.score >= threshold && best.score - second >= Self.margin ? .known(best.name) : .unsure(best.name)
    }
}
