// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What the node tells, and how it is declared.
enum AgentEvent {
    static let state = "agent.state"
    static let user = "agent.user"
    static let typed = "agent.typed"
    static let partial = "agent.partial"
    static let final = "agent.final"
    static let ignored = "agent.ignored"
    static let failed = "agent.failed"
    static let tool = "agent.tool"

    private static let item = Field("item", VG_INTEGER, "of the reply")
    private static let userItem = Field("user", VG_INTEGER, "the user's item that it answers")
    private static let text = Field("text", VG_STRING, "what the user said")
    private static let kind = Field(
        "kind", VG_STRING,
        "initialization: who answers cannot begin; connection: it cannot be reached or is gone; other")
    private static let error = Field("error", VG_STRING, "in few words, such as Connection lost")
    private static let reason = Field("reason", VG_STRING, "why")

    static let types = [
        EventType(
            state, "how the conversation stands",
            fields: [
                Field(
                    "state", VG_STRING,
                    "idle, connecting, thinking, waiting (it speaks, and may be interrupted) or error"),
                Field("label", VG_STRING, "the same for people"),
                Field("listening", VG_BOOL, "whether the user speaks"),
                Field("item", VG_INTEGER, "the reply that it is about; not there: none"), error, kind, reason,
                Field("retry", VG_NUMBER, "after which it tries again by itself; not there: it does not", unit: "s"),
            ], retained: true, public: true),
        EventType(
            user, "the user has said or typed something that is a turn",
            fields: [
                Field("item", VG_INTEGER, "of what was said; of what was typed, the agent's own"), text,
                Field("typed", VG_BOOL, "whether it was typed"),
                Field("replaced", VG_BOOL, "whether it takes the place of an earlier text of this item"),
            ],
            // What was said is shown by whoever has heard it.
            says: "[{typed?}typed: {text}]"),
        EventType(
            typed, "the user has typed something; what was said is told by whoever heard it",
            fields: [
                Field("item", VG_INTEGER, "the agent's own"), Field("text", VG_STRING, "what was typed"),
                Field("speaker", VG_STRING, "who typed, as the setting `user` says"),
            ], role: .text(.whole), says: ""),
        EventType(
            partial, "a reply so far",
            fields: [
                item, Field("text", VG_STRING, "all of it"),
                Field("delta", VG_STRING, "what is new since the last one"),
            ], role: .text(.partial)),
        EventType(
            final, "a reply has ended",
            fields: [
                item, userItem,
                Field("text", VG_STRING, "what was said; after an interruption what was heard of it"),
                Field("interrupted", VG_BOOL, "whether it was interrupted"),
            ], role: .text(.whole)),
        EventType(
            ignored, "something the user said is not answered",
            fields: [
                Field("item", VG_INTEGER, "of what was said"), text,
                Field("reason", VG_STRING, "blank, backchannel, stop, duplicate, or in words"),
            ], says: "not answered ({reason}): {text}"),
        EventType(
            failed, "something the user said could not be answered, or not to the end",
            fields: [item, userItem, kind, error, reason],
            kind: .failure),
        EventType(
            tool, "an action of another node was called for a reply",
            fields: [
                item, Field("action", VG_STRING, "as NODE.ACTION"),
                Field("arguments", VG_TABLE, "what it was given"),
                Field("results", VG_TABLE, "what came of it; not there: it was not done"),
                Field("error", VG_STRING, "why it was not done"),
            ], says: "did {action}[, which failed: {error}]"),
    ]
}
