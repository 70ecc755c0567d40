// SPDX-License-Identifier: Apache-2.0

/// Takes out of an answer what a model writes for itself before it answers: `<think>...</think>` and the like, which some
/// endpoints leave in the text. It is neither said nor shown nor remembered.
struct Thoughts {
    /// How they begin and end, in small letters.
    private static let tags: [(begin: [Character], end: [Character])] =
        [
            "think", "thinking", "thought", "thoughts", "reasoning", "reflection", "scratchpad", "seed:think",
            "antthinking",
        ].map { (Array("<\($0)>"), Array("</\($0)>")) } + [
            (Array("[think]"), Array("[/think]")), (Array("\u{25C1}think\u{25B7}"), Array("\u{25C1}/think\u{25B7}")),
            (Array("<|begin_of_thought|>"), Array("<|end_of_thought|>")),
        ]
    private static let firsts: Set<Character> = ["<", "[", "\u{25C1}"]

    private var rest: [Character] = []
    private var end: [Character]?
    private var before: Character?

    /// Takes what follows; what of it is no thought.
    mutating func take(_ text: String) -> String {
        rest += text
        return work(isWhole: false)
    }

    /// Nothing more comes.
    mutating func finish() -> String { work(isWhole: true) }

    private mutating func work(isWhole: Bool) -> String {
        var result = ""
        var place = 0
        scan: while place < rest.count {
            let letter = rest[place]
            guard Self.firsts.contains(letter), end != nil || !isQuoted else {
                if end == nil { result.append(letter) }
                before = letter
                place += 1
                continue
            }
            var mayFollow = false
            // An end without a beginning: the endpoint has kept that.
            for tag in end.map({ [$0] }) ?? Self.tags.flatMap({ [$0.begin, $0.end] }) {
                switch compare(tag, at: place) {
                case .same:
                    if end != nil {
                        end = nil
                    } else if let pair = Self.tags.first(where: { $0.begin == tag }) {
                        end = pair.end
                    } else {
                        result = ""
                    }
                    place += tag.count
                    before = tag.last
                    continue scan
                case .mayBe: mayFollow = true
                case .other: break
                }
            }
            if mayFollow, !isWhole { break }
            if end == nil { result.append(letter) }
            before = letter
            place += 1
        }
        rest.removeFirst(place)
        return result
    }

    /// Whether it is about such a tag, and none.
    private var isQuoted: Bool { before.map { "`\"'\u{201C}".contains($0) } ?? false }

    private enum Likeness {
        case same
        case mayBe
        case other
    }

    private func compare(_ tag: [Character], at place: Int) -> Likeness {
        for (index, letter) in tag.enumerated() {
            guard place + index < rest.count else { return .mayBe }
            if Character(rest[place + index].lowercased()) != letter { return .other }
        }
        return .same
    }
}
