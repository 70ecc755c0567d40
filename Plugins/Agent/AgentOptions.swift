// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// The settings that are not those of one backend.
struct AgentOptions: Sendable {
    static let historyTurns = Key.integer(
        "history_turns", "how many of the user's items are remembered", default: 20, in: 1...1000)
    static let historyCharacters = Key.integer(
        "history_characters", "how much is remembered in all, in bytes of UTF-8", default: 16000,
        in: 100...10_000_000)
    static let longestAnswer = Key.integer(
        "longest_answer", "a reply that is longer, in bytes of UTF-8, fails", default: 100_000, in: 100...10_000_000)
    static let user = Key.text("user", "who types, for whoever keeps what was said", default: "you")
    static let undone = Key.text(
        "say_failed",
        "what is said, with the reason behind it, when an action fails and the reply does not say so; empty: nothing",
        default: "That did not work")
    static let thinkingLabel = Key.text("label_thinking", "the label of the state thinking", default: "Thinking...")
    static let waitingLabel = Key.text(
        "label_waiting", "the label of the state waiting", default: "Speak to interrupt")
    static let watchdog = Key.number(
        "watchdog", "by how much a state may outlive what it tells of", default: 10, in: 0.1...600, unit: "s")

    let historyTurns: Int
    let historyCharacters: Int
    let longestAnswer: Int
    /// What it means that the user speaks while a reply is heard.
    let interruption: Interruption
    /// Who types.
    let user: String
    let thinkingLabel: String
    let waitingLabel: String
    /// What is said, before the reason, of an action that was not done.
    let undone: String
    /// Seconds by which a state may outlive what it tells of.
    let watchdog: Double

    init(_ settings: Settings) throws(NodeError) {
        historyTurns = try settings[Self.historyTurns]
        historyCharacters = try settings[Self.historyCharacters]
        longestAnswer = try settings[Self.longestAnswer]
        interruption = try Interruption(settings)
        user = try settings[Self.user]
        thinkingLabel = try settings[Self.thinkingLabel]
        waitingLabel = try settings[Self.waitingLabel]
        undone = try settings[Self.undone]
        watchdog = try settings[Self.watchdog]
    }
}
