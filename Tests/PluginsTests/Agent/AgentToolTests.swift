// SPDX-License-Identifier: Apache-2.0
import Foundation
import Graph
import NodeKit
import TestSupport
import Testing

/// A lamp that is switched, or breaks, or never answers.
private final class Lamp: Node {
    static let descriptor = NodeDescriptor(
        "lamp", "for tests",
        actions: [
            Action(
                "set", "switch it",
                arguments: [
                    Setting("power", VG_SET_STRING, "what it does", required: true, choices: ["on", "off"]),
                    Setting("level", VG_SET_INTEGER, "how bright", range: 0...100, unit: "%"),
                    Setting("slowly", VG_SET_BOOL, "whether it takes its time"),
                ], results: [Field("was", VG_STRING, "what it did before")]),
            Action("break", "refuse"), Action("hang", "never end"),
        ])

    var power = "off"
    init(settings: Settings, host: NodeHost) throws(NodeError) {}
    func prepare(_ preparation: Preparation) throws(NodeError) -> NoProcessor { NoProcessor() }

    func perform(_ action: String, _ arguments: Settings, _ call: ActionCall) throws(NodeError) {
        switch action {
        case "set":
            call.put("was", .string(power))
            power = arguments.string("power") ?? ""
            if let level = arguments.integer("level") { call.put("level", .integer(Int64(level))) }
            if let slowly = arguments.bool("slowly") { call.put("slowly", .bool(slowly)) }
        case "hang": _ = call.later()
        default: throw NodeError("it is broken", hint: "buy a new one")
        }
    }
}

@Suite("The agent's tools", .timeLimit(.minutes(5))) struct AgentToolTests {
    private let endpoint: ChatEndpoint
    private let lamp: NodeInstance

    init() throws {
        endpoint = try ChatEndpoint()
        lamp = try NodeInstance(type: makeNodeType(Lamp.self), name: "lamp", settings: Settings())
        try lamp.prepare(Preparation(rate: 48000, maxBlock: 64))
    }

    private let allow = SettingValue.list(["lamp.set", "lamp.break", "lamp.hang", "lamp.none"].map { .string($0) })

    private func model(_ mode: String = "tool", _ settings: [String: SettingValue] = [:]) throws -> AgentRun {
        let run = try endpoint.agent(
            mode, ["allow": allow].merging(settings) { $1 })
        run.capture.neighbours = ["lamp": lamp]
        return run
    }

    private func calls(_ run: AgentRun) -> [CapturedEvent] { run.capture.events("agent.tool") }

    @Test("A model is told of the allowed actions with their arguments, and what it asks for is done")
    func called() throws {
        let run = try model()
        run.say(#"lamp__set {"power": "on", "level": 50.0, "slowly": true}"#, item: 1)
        run.play(2)
        #expect(run.finals.first?.string("text") == #"Done: {"level":50,"slowly":true,"was":"off"}."#)
        let call = try #require(calls(run).first)
        #expect(call.string("action") == "lamp.set" && call.string("error") == nil)
        #expect(
            call.fields["results"] == .table(["was": .string("off"), "level": .integer(50), "slowly": .bool(true)]))
        let request = try #require(endpoint.requests.first)
        #expect(request.contains(#""name": "lamp__set""#) && request.contains(#""required": ["power"]"#))
        #expect(request.contains(#""enum": ["on", "off"]"#) && request.contains(#""maximum": 100"#))
        #expect(!request.contains("lamp__none"))
        #expect(endpoint.requests.last?.contains(#""tool_call_id": "call_0""#) == true)
    }

    @Test(
        "What cannot be done is told to the model and as an event, and nothing else is done",
        arguments: [
            (#"lamp__set {"power": "dim"}"#, "cannot be 'dim'"), (#"lamp__set {"#, "the arguments are no JSON object"),
            (#"lamp__set {}"#, "'set' needs 'power'"), ("lamp__break {}", "it is broken"),
            ("music__stop {}", "the file does not allow music__stop"), ("lamp__none {}", "have no action 'none'"),
            ("lamp__hang {}", "did not end within 0.3 s"),
        ])
    func refused(text: String, reason: String) throws {
        let run = try model("tool", text.hasPrefix("lamp__hang") ? ["action_time": .number(0.3)] : [:])
        run.say(text, item: 1)
        run.play(2)
        #expect(calls(run).count == 1)
        let error = try #require(calls(run).first?.string("error"))
        #expect(error.contains(reason), "\(error)")
        #expect(run.finals.first?.string("text")?.contains(#"{"error":"#) == true)
    }

    @Test("Calls that all have one index are told apart by their ids, and arguments may be an object")
    func forms() throws {
        let two = try model("twocalls")
        two.say("Both", item: 1)
        two.play(2)
        #expect(two.finals.first?.string("text") == #"Done: {"level":10,"was":"off"}; {"level":11,"was":"on"}."#)
        let object = try model("objects")
        object.say("One", item: 1)
        object.play(2)
        #expect(calls(object).first?.fields["results"] == .table(["was": .string("off"), "level": .integer(10)]))
    }

    @Test(
        "Arguments may be nothing, null or a text of that, and a call without an id is sent back with one",
        arguments: ["", "null", " ", "\"\"", "\"null\"", "{}"])
    func bare(arguments: String) throws {
        let run = try model("nameless")
        run.say("lamp__break \(arguments)", item: 1)
        run.play(2)
        #expect(calls(run).first?.string("error") == "it is broken")
        let last = try #require(endpoint.requests.last)
        #expect(last.contains(#""tool_call_id": "call_0_0""#) && last.contains(#""id": "call_0_0""#), "\(last)")
    }

    @Test("An action that fails is told to the user where the reply does not say so", arguments: [true, false])
    func undone(isSaid: Bool) throws {
        let run = try model("speechless", isSaid ? [:] : ["say_failed": .string("")])
        run.say("lamp__break {}", item: 1)
        run.play(2)
        #expect(run.sent.map(\.text) == (isSaid ? ["That did not work: lamp.break: it is broken."] : []))
        #expect(run.failures.first?.string("reason") == "lamp.break: it is broken")
        #expect(run.finals.first?.string("text") == (isSaid ? "That did not work: lamp.break: it is broken." : nil))
        // A model that says something has said it in its own words.
        let other = try model()
        other.say("lamp__break {}", item: 1)
        other.play(2)
        #expect(other.sent.count == 1 && other.failures.isEmpty)
        #expect(other.finals.first?.string("text")?.hasPrefix("Done: ") == true)
    }

    @Test("A model that asks for ever more is stopped after five rounds")
    func rounds() throws {
        let run = try model("tools")
        run.say(#"lamp__set {"power": "on"}"#, item: 1)
        run.play(0.1)
        #expect(calls(run).count == 5 && endpoint.requests.count == 6)
        #expect(run.failures.first?.string("reason")?.contains("ever more actions") == true)
    }

    @Test("A rule names an action with arguments, and its results stand in the reply")
    func rules() throws {
        let scratch = try Scratch()
        let text = """
            lamp <power: on | off> [at <level>]
                It was {was}. -> lamp.set power={power} level="7"
            break
                Never said. -> lamp.break

            """
        let run = try AgentRun(rules: text, ["allow": allow], in: scratch)
        run.capture.neighbours = ["lamp": lamp]
        for (item, said) in ["Lamp on", "lamp OFF", "break"].enumerated() {
            run.say(said, item: UInt64(item + 1))
            run.play(2)
        }
        let undone = "That did not work: lamp.break: it is broken."
        #expect(run.finals.compactMap { $0.string("text") } == ["It was off.", "It was on.", undone])
        #expect(calls(run).map { $0.fields["results"] != nil } == [true, true, false])
        #expect(run.failures.first?.string("reason") == "lamp.break: it is broken")
        let error = try #require(throws: NodeError.self) { _ = try AgentRun(rules: text, in: scratch) }
        #expect(error.key == "allow" && error.hint == "allow = [\"lamp.set\", \"lamp.break\"]")
    }

    @Test("What allow names must be an action of another node", arguments: ["lamp", "lamp.", "a.b.c", "agent.send"])
    func names(name: String) throws {
        let error = try #require(throws: NodeError.self) { _ = try AgentRun(["allow": .list([.string(name)])]) }
        #expect(error.key == "allow")
    }
}
