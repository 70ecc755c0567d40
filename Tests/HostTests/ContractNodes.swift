// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import Synchronization

@testable import Host

/// A node of messages only that remembers what it was told, as an agent remembers a conversation.
final class Agent: Node {
    static let descriptor = NodeDescriptor(
        "agent", "for tests",
        ports: [
            Port(VG_MESSAGE_PORT, VG_INPUT, "text", takes: VG_TAKES_TEXT), Port(VG_MESSAGE_PORT, VG_OUTPUT, "reply"),
        ],
        settings: [
            Setting(
                "mood", VG_SET_STRING, "how it answers", default: "\"calm\"", choices: ["calm", "curt", "gloomy"],
                live: true),
            Setting("seed", VG_SET_INTEGER, "fixed"),
        ],
        actions: [
            Action("remember", "tell what was said", results: [Field("words", VG_STRING, "all of it")]),
            Action("forget", "forget it all", urgent: true),
            Action(
                VG_ACTION_SPEAK, "say something",
                arguments: [
                    Setting("text", VG_SET_STRING, "what", required: true),
                    Setting("rate", VG_SET_NUMBER, "how fast", range: 0.5...2),
                ]),
            Action("promise", "do nothing, ever"),
            Action("refuse", "refuse"),
        ],
        events: [
            EventType(
                "said", "something was said",
                fields: [Field("text", VG_STRING, "what"), Field("time", VG_STRING, "a name that every event has")]),
            EventType("mood", "how it is", fields: [Field("mood", VG_STRING, "its mood")], retained: true),
        ])

    private let host: NodeHost
    private var words: [String] = []
    private var mood: String

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        self.host = host
        mood = settings.string("mood") ?? "calm"
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> NoProcessor { NoProcessor() }
    func activate() { tellMood() }

    private func tellMood() { host.publish("mood", [("mood", .string(mood))]) }

    func receive(_ message: Message, port: Int) {
        guard case .text(let text) = message.content else { return }
        words.append(text)
        if text == "tired" { host.health(.degraded("tired")) }
        if text == "rested" { host.health(.ok) }
        if text == "count" { host.count("counted", 3) }
        if text == "undeclared" { host.publish("made.up") }
    }

    func perform(_ action: String, _ arguments: Settings, _ call: ActionCall) throws(NodeError) {
        switch action {
        case "remember": call.put("words", .string(words.joined(separator: " ")))
        case "forget": words = []
        case VG_ACTION_SPEAK:
            let text = arguments.string("text") ?? ""
            words.append(text)
            host.publish("said", [("text", .string(text)), ("time", .string("noon"))])
        case "promise": _ = call.later()
        default: throw NodeError("it will not", hint: "ask nicely", key: "please")
        }
    }

    func set(_ setting: String, to value: SettingValue) throws(NodeError) {
        if case .string(let text) = value {
            guard text != "gloomy" else { throw NodeError("is never gloomy", hint: "try curt") }
            mood = text
        }
        tellMood()
    }
}

/// An effect whose calls take as long as they are told to.
final class Slow: Node {
    static let descriptor = NodeDescriptor(
        "slow", "for tests", ports: Port.audio(VG_INPUT, channels: 1) + Port.audio(VG_OUTPUT, channels: 1),
        parameters: [Parameter("steps", "whole ones", 0...10, default: 1, flags: VG_PARAM_STEPPED)],
        settings: [
            Setting("poll", VG_SET_NUMBER, "seconds that each poll takes", default: "0"),
            Setting("pace", VG_SET_NUMBER, "what it takes when it has time", live: true),
        ],
        actions: [
            Action("sleep", "take so long", arguments: [Setting("seconds", VG_SET_NUMBER, "how long", required: true)])
        ],
        events: [EventType("finishing", "it was told to finish")], flags: VG_IN_PLACE, process: slowProcess)

    private let host: NodeHost
    private let pollTime: Double

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        self.host = host
        pollTime = settings.number("poll") ?? 0
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> NoProcessor { NoProcessor() }
    func poll() { if pollTime > 0 { sleep(pollTime) } }
    func finish() { host.publish("finishing") }
    func set(_ setting: String, to value: SettingValue) throws(NodeError) {}

    func perform(_ action: String, _ arguments: Settings, _ call: ActionCall) throws(NodeError) {
        sleep(arguments.number("seconds") ?? 0)
    }

    private func sleep(_ seconds: Double) { usleep(UInt32(seconds * 1e6)) }
}

@_noLocks
private func slowProcess(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    for frame in 0..<cycle.frames { io.output(0)[frame] = io.input(0)[frame] }
}
