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
            Port(
                VG_CONTROL_PORT, VG_OUTPUT, "hold",
                doc: "1 while what the user says may interrupt what is heard, for `hold` of a tts; else 0", bus: "hold"),
        ],
        settings: [
            Backends.key, RulesBackend.rules, Tools.allow, Tools.actionTime, AgentOptions.historyTurns,
            AgentOptions.historyCharacters, AgentOptions.longestAnswer, Interruption.mode, Interruption.backchannel,
            Interruption.stopWords, AgentOptions.user, AgentOptions.undone, AgentOptions.thinkingLabel,
            AgentOptions.waitingLabel, AgentOptions.watchdog,
            CommandBackend.command, CommandBackend.perTurn, CommandBackend.timeLimit, ChatOptions.url,
            ChatOptions.model, ChatOptions.system, ChatOptions.temperature, SecretKey.variable, SecretKey.file,
            ChatOptions.connectTime, ChatOptions.tokenTime, ChatOptions.silenceTime, ChatOptions.retries,
            ChatOptions.retryWait,
        ],
        actions: [
            Action(
                "send", "answer a typed text; refused while it is not connected",
                arguments: [text], results: [Field("item", VG_INTEGER, "of the reply")], public: true),
            Action(
                "interrupt", "stop the reply that is made or spoken",
                results: [Field("item", VG_INTEGER, "of that reply; not there: there was none")], urgent: true,
                public: true),
            Action("forget", "end the conversation: stop, and forget what was said", public: true),
            Action(
                "retry", "answer again what could not be answered",
                results: [Field("item", VG_INTEGER, "of the reply")], public: true),
        ],
        events: AgentEvent.types, otherNames: ["llm", "chat", "assistant", "chatbot"],
        process: { Agent.process($0, $1, $2) })

    /// What `send` takes.
    static let text = Key.text("text", "what was typed").required()
}
