// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What a user said or typed.
struct UserItem {
    var key: ItemKey
    var text: String
    var isTyped: Bool
}

/// Why there is no answer.
struct AgentFault: Error, Equatable {
    /// The kinds of errors that are shown.
    enum Kind: String {
        /// Who answers cannot begin: a wrong address, name or key.
        case initialization
        /// Who answers cannot be reached, or is gone in the middle.
        case connection
        case other
    }

    var kind: Kind
    var message: String
    /// It is no fault: there is nothing to answer.
    var isRefusal = false

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// What is said of it in few words.
    var title: String {
        switch kind {
        case .connection: "Connection lost"
        case .initialization: "Cannot start"
        case .other: "No answer"
        }
    }
}

/// One answer, from the user's item to the last word that was heard of it. Guarded by the conversation's monitor, but for
/// what never changes.
final class Turn: @unchecked Sendable {
    enum Stage {
        /// Nobody works on it yet.
        case ready
        case connecting
        case thinking
        /// All of it was sent.
        case made
    }

    /// The item of the reply.
    let number: UInt64
    let user: UserItem
    /// What was said until then, the user's item last.
    var history: [History.Entry] = []
    var stage = Stage.ready
    /// Whether what was said before is to be forgotten by whoever answers.
    var forgets = false
    /// Nobody wants more of it.
    var isStopped = false
    /// Whoever waits to try it again is not to wait any longer.
    var isRetriedNow = false
    /// Everything of it was told.
    var isOver = false
    var hasFailed = false

    var thoughts = Thoughts()
    var cutter = SentenceCutter()
    /// All that came, and how much of it was told.
    var text = ""
    var told = ""
    var toldAt = -1.0
    /// The sentences that were sent, and what was heard of those that ended.
    var pieces: [ReplyPiece] = []
    var heard: [String] = []
    /// Whether a sentence was lost, because nobody took it.
    var isRefused = false
    /// Why an action was not done, of which the user has not been told.
    var undone: String?
    /// When something was last seen or heard of its speech.
    var lastSign = 0.0
    var sawSpeaking = false
    /// Until when it is waited to be told what was heard of a reply that was cut; nil: it was not.
    var settlesBy: Double?
    /// When whoever answers must have given a sign of life.
    var deadline = Double.infinity

    init(number: UInt64, user: UserItem) {
        self.number = number
        self.user = user
    }

    /// Whether more of it was sent than has been heard.
    var hasUnheard: Bool { heard.count < pieces.count }

    /// What was heard, as it was written; where that is not told, what was sent.
    var spoken: String {
        let written = Array(text.unicodeScalars)
        var result = String.UnicodeScalarView()
        var start = 0
        for (index, piece) in pieces.enumerated() {
            var end = piece.end
            defer { start = max(start, piece.end) }
            if !heard.isEmpty {
                guard index < heard.count else { break }
                let heard = heard[index]
                if heard != piece.text {
                    let count = heard.unicodeScalars.count
                    guard count > 0 else { continue }
                    guard piece.text.unicodeScalars.starts(with: heard.unicodeScalars),
                        let last = piece.spoken.written(0..<count)?.upperBound
                    else {
                        // It was spoken in other words.
                        result.append(contentsOf: " \(heard)".unicodeScalars)
                        continue
                    }
                    end = last
                }
            }
            end = min(end, written.count)
            if start < end { result.append(contentsOf: written[start..<end]) }
        }
        return trimmed(String(result))
    }

    var key: ItemKey { ItemKey(isOwn: true, item: number) }
}
