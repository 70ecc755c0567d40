// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import TestSupport
import Testing

@Suite("The agent's command") struct AgentCommandTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func start(_ shell: String, perTurn: Bool = false, limit: Double = 30, offline: Bool = true) throws
        -> AgentRun
    {
        let path = try scratch.write("answer.sh", "#!/bin/sh\n" + shell)
        chmod(path, 0o755)
        return try AgentRun(
            [
                "backend": .string("command"), "command": .list([.string("./answer.sh")]), "per_turn": .bool(perTurn),
                "time_limit": .number(limit),
            ], offline: offline, folder: scratch.path)
    }

    @Test("One program answers every item, and a blank line ends a reply")
    func whole() throws {
        let run = try start("n=0; while read line; do n=$((n + 1)); echo \"$n: $line.\"; echo Yes.; echo; done")
        for (item, text) in ["one", "two\nlines"].enumerated() {
            run.say(text, item: UInt64(item + 1))
            run.play(2)
        }
        #expect(run.finals.compactMap { $0.string("text") } == ["1: one.\nYes.", "2: two lines.\nYes."])
        #expect(run.states.contains("connecting") && run.states.contains("thinking"))
    }

    @Test("A program for each turn answers with all that it writes; a last line needs no end")
    func perTurn() throws {
        let run = try start("read line; echo \"You said $line.\"; echo; printf 'Bye'", perTurn: true)
        for item in 1...2 {
            run.say("ha", item: UInt64(item))
            run.play(2)
        }
        #expect(run.finals.compactMap { $0.string("text") } == ["You said ha.\n\nBye", "You said ha.\n\nBye"])
    }

    @Test("A program that dies is told with what it said, and started again")
    func death() throws {
        let run = try start("read line; if [ \"$line\" = die ]; then echo oh no >&2; exit 3; fi; echo Fine.; echo")
        run.say("die", item: 1)
        run.play(0.1)
        #expect(run.failures.first?.string("reason") == "the command ended with 3: oh no")
        #expect(run.state?.string("state") == "error" && run.state?.string("error") == "No answer")
        run.say("live", item: 2)
        run.play(2)
        // That one ends after its reply; the next item is given to another.
        run.say("again", item: 3)
        run.play(2)
        #expect(run.finals.compactMap { $0.string("text") } == ["Fine.", "Fine."])
        #expect(run.capture.counts["restarted"] == 1)
        #expect(run.state?.string("state") == "idle")
        #expect(run.capture.health.last == .ok)
    }

    @Test("A program that hangs is ended after its time, with all that it started, and retry asks again")
    func hang() throws {
        let file = scratch.file("once")
        let run = try start(
            "read line; if [ ! -e \(file) ]; then touch \(file); sleep 1000; fi; echo \"Now $line.\"; echo", limit: 2)
        run.say("hello", item: 1)
        run.play(0.1)
        #expect(run.failures.first?.string("reason")?.contains("no answer within 2.0 s") == true)
        try run.node.perform("retry")
        run.play(2)
        #expect(run.finals.compactMap { $0.string("text") } == ["Now hello."])
    }

    @Test("What it writes of an interrupted reply is skipped", .timeLimit(.minutes(2)))
    func skipped() async throws {
        // The rest of the first reply comes only when the second item was read.
        let run = try start(
            "read a; echo 'Begun. '; read b; echo late; echo; echo \"To $b.\"; echo; read c", offline: false)
        run.say("one", item: 1)
        try await run.until("the first sentence") { !$0.messages.isEmpty }
        run.say("two", item: 2)
        try await run.until("the second reply") { $0.messages.contains { $0.message.plainText == "To two." } }
        #expect(run.sent.map(\.text) == ["Begun.", "", "To two."])
        #expect(run.finals.first?.string("text") == "Begun.")
    }

    @Test("T3: An urgent stop of a program that says nothing leaves it idle", .timeLimit(.minutes(2)))
    func interrupt() async throws {
        let run = try start("read line; sleep 1000", offline: false)
        run.say("one", item: 1)
        try await run.until("thinking") { $0.events("agent.state").last?.string("state") == "thinking" }
        try run.node.perform("interrupt")
        #expect(run.state?.string("state") == "idle")
        #expect(run.finals.first?.bool("interrupted") == true && run.finals.first?.string("text") == "")
    }

    @Test("What is no text, has no end, or is nothing is told")
    func nonsense() throws {
        let binary = try start("printf '\\377\\n\\n'", perTurn: true)
        binary.say("x", item: 1)
        #expect(binary.failures.first?.string("reason") == "the command writes something that is no text")
        let endless = try start("yes 'More and more.'", perTurn: true)
        endless.say("x", item: 1)
        #expect(endless.failures.first?.string("reason") == "the answer is longer than 100000 bytes")
        let empty = try start("cat > /dev/null", perTurn: true)
        empty.say("x", item: 1)
        #expect(empty.failures.first?.string("reason") == "the answer was empty")
    }

    @Test("A program that is not there is refused")
    func missing() throws {
        for command in [SettingValue.list([.string("no-such-program-at-all")]), .string("")] {
            let error = try #require(throws: NodeError.self) {
                _ = try AgentRun(["backend": .string("command"), "command": command])
            }
            #expect(error.key == "command")
        }
    }
}
