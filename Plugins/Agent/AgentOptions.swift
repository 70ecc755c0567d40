// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// The settings that are not those of one backend.
struct AgentOptions: Sendable {
    let historyTurns: Int
    let historyCharacters: Int
    let longestAnswer: Int
    /// As `SpokenWord.plain` has them.
    let backchannel: Set<String>
    /// Who types.
    let user: String
    let thinkingLabel: String
    let waitingLabel: String
    /// What is said, before the reason, of an action that was not done.
    let undone: String
    /// Seconds by which a state may outlive what it tells of.
    let watchdog: Double

    init(_ settings: Settings) {
        historyTurns = settings.integer("history_turns") ?? 20
        historyCharacters = settings.integer("history_characters") ?? 16000
        longestAnswer = settings.integer("longest_answer") ?? 100_000
        let given = settings.values["backchannel"] == nil ? Self.usual : settings.strings("backchannel")
        backchannel = Set(given.map { SpokenWord.words(of: $0).map(\.plain).joined(separator: " ") })
        user = settings.string("user") ?? "you"
        thinkingLabel = settings.string("label_thinking") ?? "Thinking..."
        waitingLabel = settings.string("label_waiting") ?? "Speak to interrupt"
        undone = settings.string("say_failed") ?? Self.usualUndone
        watchdog = settings.number("watchdog") ?? 10
    }

    static let usualUndone = "That did not work"
    static let usual = ["mhm", "mm-hmm", "uh-huh", "hm", "yeah", "ok", "okay"]
}
