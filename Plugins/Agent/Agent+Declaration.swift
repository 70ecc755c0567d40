// SPDX-License-Identifier: Apache-2.0
import NodeKit

extension Agent {
    static let descriptor = NodeDescriptor(
        "agent", "answers what a user says",
        doc: """
            Takes texts, as `transcribe` gives them, and gives replies, sentence by sentence, as `tts` speaks them: all \
            of a reply have its item. What the user says while a reply is made or spoken interrupts it; with \
            `tts.heard` linked to `heard`, only what was heard of it is remembered. The rules answer without anything \
            being installed.
            """,
        ports: [
            Port(VG_CONTROL_PORT, VG_INPUT, "speech", doc: "above 0.5 the user speaks", bus: "state"),
            Port(VG_CONTROL_PORT, VG_INPUT, "speaking", doc: "above 0.5 a reply is heard", bus: "state"),
            Port(VG_MESSAGE_PORT, VG_INPUT, "text", doc: "what the user says, by items", takes: Int(VG_TAKES_TEXT)),
            Port(
                VG_MESSAGE_PORT, VG_INPUT, "heard", doc: "what was heard of a reply's sentences", bus: "heard",
                takes: Int(VG_TAKES_TEXT)),
            Port(VG_MESSAGE_PORT, VG_OUTPUT, "text", doc: "replies, sentence by sentence"),
        ],
        settings: commonSettings + commandSettings + ChatOptions.settings,
        actions: [
            Action(
                "send", "answer a typed text; refused while it is not connected",
                arguments: [Setting("text", VG_SET_STRING, "what was typed", required: true)],
                results: [Field("item", VG_INTEGER, "of the reply")], public: true),
            Action(
                "interrupt", "stop the reply that is made or spoken",
                results: [Field("item", VG_INTEGER, "of that reply; not there: there was none")], urgent: true,
                public: true),
            Action("forget", "end the conversation: stop, and forget what was said", public: true),
            Action(
                "retry", "answer again what could not be answered",
                results: [Field("item", VG_INTEGER, "of the reply")], public: true),
        ],
        events: AgentEvent.types, process: agentProcess)

    private static let commonSettings = [
        Setting("backend", VG_SET_STRING, "who answers", default: "\"rules\"", choices: Backends.names),
        Setting(
            "rules", VG_SET_PATH, "of the backend rules: a file of patterns and replies; without it a few are there"),
        Setting(
            "allow", VG_SET_STRINGS,
            "actions of other nodes that replies may name or a model may ask for, as NODE.ACTION",
            default: "[]"),
        Setting(
            "action_time", VG_SET_NUMBER, "how long such an action may take", default: "10", range: 0.1...3600,
            unit: "s"),
        Setting(
            "history_turns", VG_SET_INTEGER, "how many of the user's items are remembered", default: "20",
            range: 1...1000),
        Setting(
            "history_characters", VG_SET_INTEGER, "how much is remembered in all, in bytes of UTF-8",
            default: "16000", range: 100...10_000_000),
        Setting(
            "longest_answer", VG_SET_INTEGER, "a reply that is longer, in bytes of UTF-8, fails", default: "100000",
            range: 100...10_000_000),
        Setting(
            "backchannel", VG_SET_STRINGS, "what interrupts nothing when it is all that is said",
            default: "[\(AgentOptions.usual.map { "\"\($0)\"" }.joined(separator: ", "))]"),
        Setting("user", VG_SET_STRING, "who types, for whoever keeps what was said", default: "\"you\""),
        Setting(
            "say_failed", VG_SET_STRING,
            "what is said, with the reason behind it, when an action fails and the reply does not say so; empty: nothing",
            default: "\"\(AgentOptions.usualUndone)\""),
        Setting("label_thinking", VG_SET_STRING, "the label of the state thinking", default: "\"Thinking...\""),
        Setting("label_waiting", VG_SET_STRING, "the label of the state waiting", default: "\"Speak to interrupt\""),
        Setting(
            "watchdog", VG_SET_NUMBER, "by how much a state may outlive what it tells of", default: "10",
            range: 0.1...600, unit: "s"),
    ]

    private static let commandSettings = [
        Setting(
            "command", VG_SET_STRINGS,
            "of the backend command: a program and its arguments, or a line for the shell; it reads what was said from "
                + "its standard input, a line each, and writes lines", names: .program),
        Setting(
            "per_turn", VG_SET_BOOL, "run the command once for each item; else once, and a blank line ends a reply",
            default: "false"),
        Setting(
            "time_limit", VG_SET_NUMBER, "how long the command may take for a reply", default: "30", range: 0.1...3600,
            unit: "s"),
    ]
}
