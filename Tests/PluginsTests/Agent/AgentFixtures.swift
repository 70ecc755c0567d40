// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import TestSupport
import Testing

/// An agent behind the C boundary, with whoever speaks played by the test.
struct AgentRun {
    let node: NodeHarness
    var capture: NodeCapture { node.capture }

    init(_ settings: [String: SettingValue] = [:], offline: Bool = true, folder: String = "") throws {
        node = try NodeHarness(
            try pluginType("agent"), settings, maxBlock: 1024, offline: offline, name: "agent", baseFolder: folder)
    }

    /// With a file of rules.
    init(rules: String, _ settings: [String: SettingValue] = [:], in scratch: Scratch) throws {
        try scratch.write("talk.rules", rules)
        try self.init(settings.merging(["rules": .string("talk.rules")]) { $1 }, folder: scratch.path)
    }

    /// The user says something.
    func say(_ text: String, item: UInt64 = 0, partial: Bool = false) {
        node.instance.receive(Message(.text(text), item: item, partial: partial), port: 0)
    }

    /// Whoever speaks tells what was heard of a sentence.
    func hear(_ text: String, item: UInt64, more: Bool = false) {
        node.instance.receive(Message(.text(text), item: item, partial: more), port: 1)
    }

    /// The graph plays on; `speaking` is what tts says.
    func play(_ seconds: Double, speaking: Bool = false, speech: Bool = false) {
        node.controlInputs = [speech ? 1 : 0, speaking ? 1 : 0]
        _ = node.render(Int(seconds * 48000), block: 480)
    }

    /// Texts that were sent, with their items; what stops a reply is blank.
    var sent: [(item: UInt64, text: String)] {
        capture.messages.map { ($0.message.item, $0.message.plainText) }
    }

    /// The states so far.
    var states: [String] { capture.events("agent.state").compactMap { $0.string("state") } }
    var state: CapturedEvent? { capture.events("agent.state").last }
    var finals: [CapturedEvent] { capture.events("agent.final") }
    var ignored: [String] { capture.events("agent.ignored").compactMap { $0.string("reason") } }
    var failures: [CapturedEvent] { capture.events("agent.failed") }

    /// Waits, in real time, until the node has told something.
    func until(_ what: String, seconds: Double = 30, _ condition: @escaping @Sendable (NodeCapture) -> Bool)
        async throws
    {
        let (capture, instance) = (node.capture, node.instance)
        try await eventually(what, seconds: seconds) {
            instance.poll()
            return condition(capture)
        }
    }

    /// Everything that the node has told in any way, as one text.
    var everything: String {
        let events = capture.events.map { "\($0)" } + capture.logs.map(\.text) + capture.health.map { "\($0)" }
        return (events + capture.messages.map { "\($0)" } + ["\(capture.counts)"]).joined(separator: "\n")
    }
}

extension Message {
    var plainText: String { if case .text(let text) = content { text } else { "" } }
}

extension ChatEndpoint {
    /// An agent that asks it.
    func agent(
        _ mode: String, _ settings: [String: SettingValue] = [:], offline: Bool = true, host: String = "localhost"
    ) throws -> AgentRun {
        try AgentRun(
            [
                "backend": .string("openai"), "url": .string(url(mode, host: host)), "model": .string("small"),
                "retries": .integer(0), "retry_wait": .number(0.01),
            ].merging(settings) { $1 }, offline: offline, folder: scratch.path)
    }
}
