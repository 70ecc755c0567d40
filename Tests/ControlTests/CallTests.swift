// SPDX-License-Identifier: Apache-2.0
import API
import Foundation
import Glibc
import GraphFile
import TestSupport

@testable import Host

/// What clients ask of a run, and what they get.
@Suite(.serialized, .timeLimit(.minutes(5))) struct CallTests {
    @Test("A pipe in place of the graph file, or among what it includes, is refused and holds up nobody")
    func pipe() async throws {
        let run = try await Playing(toneGraph, "--watch")
        let client = try run.client()
        let pipe = run.scratch.file("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        let including = try run.scratch.write("including.conf", "include = \"pipe\"\n" + toneGraph)
        for path in [pipe, including, "/dev/zero"] {
            let answer = try client.call("{\"call\":\"reload\",\"path\":\"\(path)\"}")
            #expect(answer["ok"] as? Bool == false && "\(answer)".contains("it is not an ordinary file"), "\(answer)")
        }
        // Whoever watches, or reads again at a signal, meets it too.
        #expect(rename(pipe, run.graph) == 0)
        run.program.signal(SIGHUP)
        try await run.program.wait("it is refused") { $0.output.contains("ordinary file") }
        #expect(try client.call("{\"call\":\"mute\",\"node\":\"gain\"}")["ok"] as? Bool == true)
        try await run.end()
    }

    @Test("A refused file is answered with its faulty lines, which are told to nobody but its owner")
    func faultyLines() async throws {
        let run = try await Playing(toneGraph)
        let secret = try run.scratch.write("secret.conf", toneGraph + "[node.tts]\ntype = \"tts\"\nvoic = \"s3cret\"\n")
        let answer = try run.client().call("{\"call\":\"reload\",\"path\":\"\(secret)\"}")
        #expect("\(answer)".contains("s3cret"), "\(answer)")
        let place = SourceLocation(SourceText(file: "f", bytes: Array("s3cret".utf8)), line: 1, column: 1)
        let faults = [Diagnostic(.error, "no", at: place)]
        let call = HostCall("try", "", change: false, right: .visitor) { _, _ in throw InvalidGraph(diagnostics: faults)
        }
        for right in [Right.visitor, .operator, .owner] {
            let refused = await #expect(throws: CallError.self) { try await call(Host(), by: Caller(right)) }
            let refusal = try #require(refused)
            let told = refusal.diagnostics.contains { "\($0.fields)".contains("s3cret") }
            #expect(told == (right == .owner), "\(right)")
        }
        try await run.end()
    }

    @Test("Every call does what it says") func everyCall() async throws {
        let run = try await Playing()
        let client = try run.client()
        func ok(_ text: String) throws -> [String: Any] {
            let answer = try client.call(text)
            #expect(answer["ok"] as? Bool == true, "\(text): \(answer)")
            return answer
        }
        func changed(_ text: String) throws -> [String: Any] {
            try #require(try ok(text)["changed"] as? [String: Any])
        }
        #expect(try ok("{\"id\":7,\"call\":\"status\"}")["id"] as? Int == 7)
        #expect(try ok("{\"id\":\"x\",\"call\":\"status\"}")["id"] as? String == "x")
        #expect(
            try ok("{\"call\":\"set\",\"node\":\"gain\",\"parameter\":\"gain_db\",\"value\":-6.5}")["value"] as? Double
                == -6.5)
        #expect(try ok("{\"call\":\"get\",\"node\":\"gain\",\"parameter\":\"gain_db\"}")["value"] as? Double == -6.5)
        let parameters = try #require(
            try ok("{\"call\":\"get\",\"node\":\"gain\"}")["parameters"] as? [[String: Any]])
        #expect(parameters.first?["key"] as? String == "gain_db" && parameters.first?["maximum"] as? Int == 36)
        let added = try changed(
            "{\"call\":\"add\",\"node\":{\"name\":\"low\",\"type\":\"gain\",\"gain_db\":-20,\"mute\":true}}")
        #expect(added["added"] as? [String] == ["low"])
        #expect(
            try changed("{\"call\":\"link\",\"link\":\"tone -> low -> out\",\"gain_db\":-3}")["linked"] as? Int == 2)
        let nodes = try run.nodes()
        #expect(nodes.contains("{\"from\":\"low\",\"gain_db\":-3,\"to\":\"out\"}"))
        #expect(nodes.contains("\"gain_db\":-20"))
        #expect(
            try changed("{\"call\":\"mute\",\"node\":\"low\",\"on\":false}")["switched"] as? [String: String] == [
                "low": "unmuted"
            ])
        #expect(
            try changed("{\"call\":\"bypass\",\"node\":\"low\"}")["switched"] as? [String: String] == [
                "low": "bypassed"
            ])
        #expect(try run.nodes().contains("\"bypass\":true,\"kept\":false,\"mute\":false,\"name\":\"low\""))
        #expect(try changed("{\"call\":\"unlink\",\"link\":\"low -> out\"}")["unlinked"] as? Int == 1)
        #expect(try changed("{\"call\":\"remove\",\"node\":\"low\"}")["removed"] as? [String] == ["low"])
        // The file has the gain at 0 dB.
        #expect(try changed("{\"call\":\"reload\"}")["parameters"] as? Int == 1)
        #expect(try ok("{\"call\":\"get\",\"node\":\"gain\",\"parameter\":\"gain_db\"}")["value"] as? Int == 0)
        #expect(try ok("{\"call\":\"save\"}")["saved"] as? [String] == [])
        // How long an edit takes to be heard, and to be done, in its answer and in the status.
        let edit = try changed("{\"call\":\"mute\",\"node\":\"gain\"}")
        let (first, done) = (edit["first_block_ms"] as? Double ?? -1, edit["done_ms"] as? Double ?? -1)
        // How long is the fade's business, and the driver's: one that was late catches up.
        #expect(first > 0 && done >= first, "\(edit)")
        #expect(abs((edit["seconds"] as? Double ?? 0) * 1000 - done) < 0.01)
        let status = try #require(try ok("{\"call\":\"status\"}")["status"] as? [String: Any])
        let last = try #require(status["last_change"] as? [String: Any], "\(status)")
        #expect(last["first_block_ms"] as? Double == first && last["done_ms"] as? Double == done)
        try await eventually("times are there") {
            try (run.client().call("{\"call\":\"timings\"}")["timings"] as? [String: Any])?["gain"] != nil
        }
        try await run.end()
        #expect(run.program.lines.contains { $0.contains("\"event\":\"graph.changed\"") })
        #expect(run.program.lines.contains { $0.contains("\"first_block_ms\":\(EventJSON.number(first))") })
        #expect(!FileManager.default.fileExists(atPath: run.socket))
    }

    @Test("What one client turns is told to the others, with the name of the socket, and to those who come later")
    func turned() async throws {
        let run = try await Playing()
        let (client, other) = (try run.client(), try run.client())
        let events = "{\"call\":\"events\",\"only\":[\"parameter.changed\",\"node.switched\"]}"
        _ = try client.call(events)
        _ = try other.call("{\"call\":\"set\",\"node\":\"gain\",\"parameter\":\"gain_db\",\"value\":-6.5}")
        func turned(_ client: SocketClient) throws -> [String: Any] { try #require(try client.line()) }
        for reader in [client, try run.client()] {
            if reader !== client { _ = try reader.call(events) }
            let event = try turned(reader)
            #expect(event["event"] as? String == "parameter.changed" && event["node"] as? String == "gain")
            #expect(event["parameter"] as? String == "gain_db" && event["value"] as? Double == -6.5)
            #expect(event["by"] as? String == "control socket", "\(event)")
        }
        _ = try other.call("{\"call\":\"bypass\",\"node\":\"gain\"}")
        let event = try turned(client)
        #expect(event["event"] as? String == "node.switched" && event["bypass"] as? Bool == true)
        #expect(event["mute"] as? Bool == false && event["by"] as? String == "control socket", "\(event)")
        try await run.end()
    }

    @Test("What cannot be done is told and changes nothing") func refusedCalls() async throws {
        let run = try await Playing()
        let broken = try run.scratch.write("broken.conf", toneGraph + "[node.x]\ntype = \"gian\"\n")
        let before = try run.nodes()
        let client = try run.client()
        let set = "\"call\":\"set\",\"node\":\"gain\",\"parameter\":\"gain_db\""
        for (call, message, hint) in [
            ("[1]", "a call is an object, not a list", "for example"), ("{}", "'call' is missing", "for example"),
            ("{\"call\":3}", "'call' must be a text", ""), ("{\"id\":{},\"call\":\"status\"}", "'id' must be", ""),
            ("{\"call\":\"sett\"}", "no call 'sett'", "did you mean 'set'?"),
            ("{\"call\":\"sing\u{7}\"}", "this is not JSON", "one object a line"),
            ("{\"call\":\"status\",\"x\":1}", "takes no 'x'", "takes nothing"),
            ("{\(set),\"valeu\":1}", "takes no 'valeu'", "did you mean 'value'?"), ("{\(set)}", "needs 'value'", ""),
            ("{\(set),\"value\":1,\"valeu\":1}", "no 'valeu'", "did you mean 'value'?"),
            ("{\(set),\"value\":\"loud\"}", "must be a number, not a string", ""),
            ("{\(set),\"value\":36.1}", "is 36.1, outside its range", "-120 to 36 dB"),
            ("{\(set),\"value\":1e300}", "outside its range", ""), ("{\(set),\"value\":1e999}", "too large", ""),
            ("{\"call\":\"undo\"}", "nothing to take back", ""), ("{\"call\":\"redo\"}", "nothing to do again", ""),
            ("{\(set),\"value\":null}", "must not be null", ""),
            (
                "{\"call\":\"set\",\"node\":\"gian\",\"parameter\":\"gain_db\",\"value\":1}", "no node 'gian'",
                "nodes: tone"
            ),
            (
                "{\"call\":\"set\",\"node\":\"gain\",\"parameter\":\"x\",\"value\":1}", "no parameter 'x'",
                "it has: gain_db"
            ),
            (
                "{\"call\":\"set\",\"node\":\"meter\",\"parameter\":\"series_rate\",\"value\":25}",
                "no series 25 times",
                "use 60"
            ),
            ("{\"call\":\"get\",\"node\":\"nobody\"}", "no node 'nobody'", "nodes:"),
            ("{\"call\":\"say\",\"text\":\"x\"}", "no node speaks", "tts"),
            (
                "{\"call\":\"send\",\"node\":\"gain\",\"port\":\"text\",\"text\":\"x\"}", "no message input",
                "takes no messages"
            ),
            ("{\"call\":\"send\",\"node\":\"gain\",\"port\":\"text\"}", "a text or a number", "one of"),
            ("{\"call\":\"add\",\"node\":\"x\"}", "must be a table, not a string", ""),
            ("{\"call\":\"add\",\"node\":{\"name\":\"x\"}}", "no 'type'", ""),
            ("{\"call\":\"add\",\"node\":{\"name\":\"a b\",\"type\":\"gain\"}}", "cannot be a node's name", "letters"),
            ("{\"call\":\"add\",\"node\":{\"name\":\"tone\",\"type\":\"gain\"}}", "'tone' already", "another name"),
            ("{\"call\":\"add\",\"node\":{\"name\":\"x\",\"type\":\"gian\"}}", "'gian'", "gain"),
            ("{\"call\":\"add\",\"node\":{\"name\":\"x\",\"type\":\"gain\",\"gain_db\":99}}", "outside its range", ""),
            ("{\"call\":\"add\",\"node\":{\"name\":\"x\",\"type\":\"gain\",\"mute\":1}}", "must be true or false", ""),
            (
                "{\"call\":\"add\",\"node\":{\"name\":\"x\",\"type\":\"gain\",\"gain_db\":null}}", "must not be null",
                "leave it out"
            ),
            ("{\"call\":\"remove\",\"node\":\"x\"}", "no node 'x'", "nodes:"),
            ("{\"call\":\"link\",\"link\":\"tone -> gain\"}", "linked already", "unlink"),
            ("{\"call\":\"link\",\"link\":\"tone -> \"}", "", ""),
            ("{\"call\":\"link\",\"link\":\"tone -> nobody\"}", "nobody", ""),
            ("{\"call\":\"link\",\"link\":\"gain -> gain\"}", "", ""),
            ("{\"call\":\"unlink\",\"link\":\"tone -> out\"}", "no link tone -> out", "tone -> gain"),
            ("{\"call\":\"bypass\",\"node\":\"tone\"}", "cannot be bypassed", "mute it"),
            ("{\"call\":\"mute\",\"node\":\"gain\",\"on\":\"yes\"}", "must be true or false", ""),
            ("{\"call\":\"reload\",\"path\":\"/nowhere.conf\"}", "cannot read", ""),
            ("{\"call\":\"reload\",\"path\":\"\(broken)\"}", "broken.conf:14:8: ", "gain"),
            ("{\"call\":\"do\",\"node\":\"nobody\",\"action\":\"x\"}", "no node 'nobody'", "nodes:"),
            ("{\"call\":\"do\",\"node\":\"gain\",\"action\":\"x\"}", "no action 'x'", "no actions"),
            ("{\"call\":\"do\",\"node\":\"gain\"}", "'do' needs 'action'", ""),
            ("{\"call\":\"do\",\"node\":\"gain\",\"action\":3}", "must be a string", ""),
            ("{\"call\":\"do\",\"node\":\"gain\",\"action\":\"x\",\"arguments\":[null]}", "null", ""),
            ("{\"call\":\"do\",\"node\":\"gain\",\"action\":\"x\",\"arguments\":1}", "must be a table", ""),
            ("{\"call\":\"do\",\"node\":\"gain\",\"action\":\"x\",\"patience\":0}", "outside its range", ""),
            ("{\"call\":\"actions\",\"node\":\"nobody\"}", "no node 'nobody'", "nodes:"),
            ("{\(set),\"value\":1,\"at\":-1}", "outside its range", ""),
            ("{\"call\":\"events\",\"only\":3}", "must be a string or a list", ""),
        ] {
            let answer = try client.call(call)
            let error = try #require(answer["error"] as? [String: Any], "\(call): \(answer)")
            #expect(answer["ok"] as? Bool == false)
            let told = try #require(error["message"] as? String)
            #expect(!told.isEmpty && (message.isEmpty || told.contains(message)), "\(call): \(told)")
            let advice = try #require(error["hint"] as? String)
            #expect(!advice.isEmpty && (hint.isEmpty || advice.contains(hint)), "\(call): \(error)")
            #expect(error["diagnostics"] is [Any])
        }
        #expect(try run.nodes() == before)
        try await run.end()
        let names = try run.program.lines.map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        .compactMap { $0["event"] as? String }
        #expect(!names.contains("graph.changed"))
        #expect(names.last == "finished")
    }

    @Test("Bytes of any kind get an answer, and the next line is read all the same") func anyBytes() async throws {
        let run = try await Playing()
        let status = Array("{\"id\":9,\"call\":\"status\"}\n".utf8)
        for (bytes, message) in [
            (Array("{\"call\":\"st\n".utf8), "not JSON"), ([0, 10], "not JSON"), ([0xFF, 0xFE, 10], "not UTF-8"),
            (Array("{\"call\":\"stat\0us\"}\n".utf8), "control character"),
            (Array(String(repeating: "[", count: 500_000).utf8) + [10], "nested more than 32"),
            (Array(repeating: 120, count: 1 << 21) + [10], "longer than 1 MB"),
            (Array(repeating: 32, count: (1 << 20) + 1) + [10], "longer than 1 MB"),
        ] {
            let client = try run.client()
            client.send(bytes + status)
            let error = try #require(try client.line()?["error"] as? [String: Any])
            #expect((error["message"] as? String)?.contains(message) == true, "\(error)")
            #expect(try client.line()?["id"] as? Int == 9)
        }
        // Half a call and the end: an answer, and the end.
        let half = try run.client()
        half.send("{\"call\":\"status\"".utf8)
        shutdown(half.descriptor, Int32(SHUT_WR))
        #expect(try half.line()?["ok"] as? Bool == false)
        #expect(try half.line() == nil)
        // A whole one without the end of its line is done.
        let whole = try run.client()
        whole.send("\n \r\n{\"call\":\"status\"}".utf8)
        shutdown(whole.descriptor, Int32(SHUT_WR))
        #expect(try whole.line()?["ok"] as? Bool == true)
        #expect(try whole.line() == nil)
        // One that does not wait for its answer is heard.
        var hasty: SocketClient? = try run.client()
        hasty?.send("{\"call\":\"set\",\"node\":\"gain\",\"parameter\":\"gain_db\",\"value\":-3}\n".utf8)
        hasty = nil
        try await eventually("the gain is set") {
            try run.client().call("{\"call\":\"get\",\"node\":\"gain\",\"parameter\":\"gain_db\"}")["value"] as? Int
                == -3
        }
        // Many at once are answered in their order.
        let many = try run.client()
        many.send((0..<5000).flatMap { Array("{\"id\":\($0),\"call\":\"get\",\"node\":\"gain\"}\n".utf8) })
        for number in 0..<5000 {
            let line = try many.line()
            #expect(line?["id"] as? Int == number)
        }
        try await run.end()
    }
}
