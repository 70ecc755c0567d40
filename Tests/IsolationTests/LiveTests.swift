// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import NodeKit
import System
import TestSupport
import Testing

@testable import Host
@testable import Isolation

/// Presets and properties of isolated nodes: set, asked for, back after a crash, and never a reason to wait.
@Suite(.serialized, .timeLimit(.minutes(10))) struct LiveTests {
    /// With states that stand in for nothing, so that only what is done again comes back. One is saved after each start.
    private static func policy(_ change: (inout IsolationPolicy) -> Void = { _ in }) -> IsolationPolicy {
        testPolicy {
            $0.saveInterval = 1000
            $0.settling = 1000
            // A busy machine is no fault of the node.
            $0.hangTime = 5
            change(&$0)
        }
    }

    private func set(_ run: IsolatedRun, _ word: String) throws {
        try run.setProperty("odd", "word", to: .string(word))
    }

    private func word(_ run: IsolatedRun) throws -> String? {
        guard case .string(let word)? = try run.property("odd", "word") else { return nil }
        return word
    }

    /// Ends the process, and waits until the node is heard again.
    private func crash(_ run: IsolatedRun) throws {
        let before = run.all("plugin.started").count
        try run.tell("odd", "segv")
        try run.play("it is back") { run.all("plugin.started").count > before }
        run.play(blocks: 10)
    }

    @Test("A property is set, told and back after a crash; what there is not is refused")
    func properties() throws {
        let run = try IsolatedRun(unrulyGraph(), policy: Self.policy())
        run.play(blocks: 3)
        #expect(try word(run)?.isEmpty == true)
        try set(run, "calm")
        #expect(try word(run) == "calm")
        #expect(throws: Fault("node 'odd': no property sword")) {
            try run.setProperty("odd", "sword", to: .string("x"))
        }
        #expect(throws: Fault("node 'odd': no property sword")) { try run.property("odd", "sword") }
        try crash(run)
        #expect(try word(run) == "calm")
    }

    @Test("After a crash everything is done again in its order, but for what was replaced")
    func order() throws {
        let run = try IsolatedRun(unrulyGraph(), policy: Self.policy())
        run.play(blocks: 3)
        try set(run, "one")
        try run.loadPreset("odd", "3")
        try set(run, "two")
        try run.loadPreset("odd", "4")
        #expect(try run.who("odd").text("history") == "word one, preset 3, word two, preset 4")
        try crash(run)
        #expect(try run.who("odd").text("history") == "preset 3, word two, preset 4")
        try crash(run)
        #expect(try run.who("odd").text("history") == "preset 3, word two, preset 4")
    }

    @Test("A parameter that was turned after a preset stays as it is when the preset is loaded again")
    func parameters() throws {
        let run = try IsolatedRun(unrulyGraph(), policy: Self.policy())
        run.play(blocks: 3)
        try run.loadPreset("odd", "3")
        try run.play("the preset is heard") { run.lastBlock.allSatisfy { $0 == 0.75 } }
        try run.graph.set("odd", "gain", to: 5)
        try run.play("the parameter is heard") { run.lastBlock.allSatisfy { $0 == 1.25 } }
        try crash(run)
        #expect(try run.who("odd").integer("preset") == 3)
        #expect(run.lastBlock.allSatisfy { $0 == 1.25 })
        #expect(try run.graph.value("odd", "gain") == 5)
        // A preset that is loaded now turns it again.
        try run.loadPreset("odd", "2")
        try run.play("the new preset is heard") { run.lastBlock.allSatisfy { $0 == 0.5 } }
    }

    @Test("A state that was saved while a plugin may still have been at work does not stand in for what was set")
    func settling() throws {
        let run = try IsolatedRun(unrulyGraph(), policy: testPolicy { $0.settling = 1000 })
        run.play(blocks: 3)
        try run.loadPreset("odd", "3")
        try run.tell("odd", "remember 42")
        try run.play("its state is kept") { run.keeps("42") }
        try crash(run)
        let who = try run.who("odd")
        #expect(who.integer("preset") == 3 && who.integer("remembered") == 42)
    }

    @Test("What was done again after a restart must settle anew, whenever it was asked for")
    func settlingAnew() throws {
        let run = try IsolatedRun(unrulyGraph(), policy: Self.policy())
        run.play(blocks: 3)
        try set(run, "calm")
        run.play(blocks: 3)
        // While it is stopped it saves nothing, so that the new times hold only for the next process.
        let process = try #require(run.children.first?.process)
        let instance = try #require(run.registry.isolator.instances.first)
        try run.wait("its state is kept") { instance.state != nil }
        kill(process, SIGSTOP)
        run.registry.isolator.isolation.use(testPolicy { $0.settling = 0 })
        kill(process, SIGKILL)
        // No block is played: the property has been set again, but the node has not run since.
        try run.wait("it is back") { !run.all("plugin.started").isEmpty }
        let state = instance.state
        try run.wait("a state is saved") { instance.state != state }
        #expect(!instance.replays.withLock(\.records.isEmpty))
        run.play(blocks: 3)
        try run.wait("a state holds it") { instance.replays.withLock(\.records.isEmpty) }
    }

    @Test("A state that holds what was set stands in for it")
    func settled() throws {
        let run = try IsolatedRun(unrulyGraph(), policy: testPolicy())
        run.play(blocks: 3)
        try set(run, "calm")
        try run.play("a state holds it") {
            run.registry.isolator.instances.allSatisfy { $0.replays.withLock(\.records.isEmpty) }
        }
        // The fixture's states have no words in them.
        try crash(run)
        #expect(try run.who("odd").text("history")?.isEmpty == true)
    }

    @Test("No state stands in for a live setting")
    func liveSetting() throws {
        let run = try IsolatedRun(unrulyGraph(), policy: testPolicy())
        run.play(blocks: 3)
        let node = try #require(run.graph.nodes.first { $0.name == "odd" })
        let isDone = Lock(false)
        node.set("mood", to: .string("bright")) { error in isDone.withLock { $0 = error == nil } }
        try run.play("it is set") { isDone.withLock { $0 } }
        try set(run, "calm")
        let instance = try #require(run.registry.isolator.instances.first)
        try run.play("a state holds what was set later") { instance.replays.withLock { $0.records.count } == 1 }
        try crash(run)
        let who = try run.who("odd")
        #expect(who.text("mood") == "bright" && who.text("history") == "mood bright")
    }

    @Test("What ends the process in the call is told with its reason, and not done again", arguments: ["segv", "exit"])
    func deadly(word: String) throws {
        let run = try IsolatedRun(unrulyGraph(), policy: Self.policy())
        run.play(blocks: 3)
        try set(run, "calm")
        let error = #expect(throws: Fault.self) { try set(run, word) }
        let reason = word == "segv" ? "crashed in the action 'property'" : "ended its process in the action 'property'"
        #expect(error?.message.contains(reason) == true, "\(error?.description ?? "")")
        try run.play("it is back") { !run.all("plugin.started").isEmpty }
        run.play(blocks: 10)
        #expect(try self.word(run) == "calm")
        #expect(run.all("plugin.failed").count == 1 && run.lastBlock.allSatisfy { $0 == 0.5 })
    }

    @Test("A call that hangs is told in time, audio goes on, and the process is ended and comes back without it")
    func hanging() throws {
        let run = try IsolatedRun(unrulyGraph(), policy: Self.policy { $0.patience = 1 })
        run.play(blocks: 3)
        try set(run, "calm")
        let arguments: [(String, [String: SettingValue])] = [
            ("property", ["key": .string("word"), "value": .string("loop")]), ("preset", ["preset": .string("3")]),
            ("property", ["key": .string("word")]),
        ]
        for (action, arguments) in arguments {
            let error = #expect(throws: Fault.self) {
                try run.perform("odd", action, arguments, patience: 0.1)
            }
            #expect(error?.message == "node 'odd': it does not answer '\(action)' in time")
        }
        // Its audio goes on meanwhile.
        run.play()
        #expect(run.lastBlock.allSatisfy { $0 == 0.5 })
        try run.play("it is ended and back") { !run.all("plugin.started").isEmpty }
        let reason = run.all("plugin.failed").first?.text("reason") ?? ""
        #expect(reason.contains("hung in the action 'property'"), "\(reason)")
        #expect(try word(run) == "calm")
        #expect(try run.who("odd").integer("preset") == 0)
    }

    @Test("What only takes long is told as that, is done all the same, and is done again after a crash")
    func slow() throws {
        let run = try IsolatedRun(unrulyGraph(), policy: Self.policy())
        run.play(blocks: 3)
        #expect(throws: Fault.self) {
            try run.perform("odd", "property", ["key": .string("word"), "value": .string("slow")], patience: 0.1)
        }
        #expect(try word(run) == "slow")
        try crash(run)
        #expect(try word(run) == "slow" && run.all("plugin.failed").count == 1)
    }

    @Test("What makes the process end again and again is given up, and said")
    func doom() throws {
        let run = try IsolatedRun(unrulyGraph(), policy: Self.policy())
        run.play(blocks: 3)
        // A block meanwhile would end the process before it has answered.
        try run.perform("odd", "property", ["key": .string("word"), "value": .string("doom")], playing: false)
        try run.play("it is given up") {
            run.all("log", "odd").contains {
                $0.text("text") == "it fails again and again, so that it starts without its state, 'property word'"
            }
        }
        let started = run.all("plugin.started").count
        try run.play("it is back") { run.all("plugin.started").count > started }
        run.play(blocks: 20)
        #expect(run.lastBlock.allSatisfy { $0 == 0.5 } && run.all("plugin.failed").count == 3)
    }

    @Test("While there is no process every call says so")
    func away() throws {
        let run = try IsolatedRun(
            unrulyGraph(),
            policy: Self.policy {
                $0.firstPause = 1
                $0.longestPause = 1
            })
        // The first restart comes at once; before the second there is a pause.
        for number in 1...2 {
            try run.play("it plays") { run.children.first?.restarts == number - 1 && run.children[0].process != nil }
            kill(run.children[0].process!, SIGKILL)
            try run.play("it is told") { run.all("plugin.failed").count == number }
        }
        let away = Fault(
            "node 'odd': libvg-unruly.so is not running just now", hint: "it is being restarted; try again")
        #expect(throws: away) { try set(run, "calm") }
        #expect(throws: away) { try run.loadPreset("odd", "3") }
        #expect(throws: away) { try run.property("odd", "word") }
        try run.play("it is back") { run.all("plugin.started").count == 2 }
        try set(run, "calm")
        #expect(try word(run) == "calm")
    }
}
