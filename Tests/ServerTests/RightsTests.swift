// SPDX-License-Identifier: Apache-2.0
import Glibc
import GraphFile
import NodeKit
import TestSupport
import Testing

@testable import API
@testable import Server

/// What each right allows.
@Suite(.serialized, .timeLimit(.minutes(5))) struct RightsTests {
    private static let body = ["Content-Type: application/json"]

    @Test("Each call is answered from its right on, by HTTP and by the WebSocket") func calls() async throws {
        let serving = try await Serving()
        for right in Right.allCases {
            let socket = try await LiveSocket(serving, as: right)
            #expect(try socket.call("{\"id\":1,\"call\":\"events\"}")["right"] as? String == right.rawValue)
            for call in CallTable(WebServer.ownCalls(Tokens(), try Look(WebDescription()))).calls {
                let answer =
                    call.isChange
                    ? try serving.ask("POST /api/\(call.name)", Self.body, body: "{\"no\":1}", as: right)
                    : try serving.ask("GET /api/\(call.name)?no=1", as: right)
                // Those who may ask are told what is wrong with what they ask.
                #expect(answer.status == (right >= call.right ? 400 : 403), "\(right) \(call.name): \(answer)")
                let told = try socket.call("{\"id\":2,\"call\":\"\(call.name)\",\"no\":1}")
                let message = (told["error"] as? [String: Any])?["message"] as? String ?? ""
                #expect(
                    message.contains("may not ask for this") == (right < call.right), "\(right) \(call.name): \(told)")
            }
        }
        #expect(try serving.ask("GET /api/takes/1/audio", as: .visitor).status == 403)
        #expect(try serving.ask("GET /api/takes/1/audio", as: .operator).status == 404)
        await serving.end()
    }

    @Test("Visitors see what plays and not how it is set, and do nothing but talk") func visitors() async throws {
        let graph = Serving.graph.replacing(
            "[node.gain]", with: "[node.hold]\ntype = \"switch\"\n[node.gain]")
        let serving = try await Serving(graph: graph)
        let nodes = try serving.ask("GET /api/nodes", as: .visitor)
        #expect(nodes.status == 200 && nodes.body.contains("\"gain\"") && nodes.body.contains("\"wires\""))
        #expect(!nodes.body.contains("settings") && !nodes.body.contains("parameters"), "\(nodes)")
        #expect(try serving.ask("GET /api/nodes", as: .operator).body.contains("parameters"))
        let declared = try serving.ask("GET /api/declared", as: .visitor).json
        #expect((declared["settings"] as? [Any])?.isEmpty == true && (declared["events"] as? [Any])?.isEmpty == true)
        #expect((try serving.ask("GET /api/actions", as: .visitor).json["actions"] as? [Any])?.isEmpty == true)
        let press = "{\"node\":\"hold\",\"action\":\"press\"}"
        #expect(
            try serving.ask("POST /api/do", Self.body, body: press, as: .visitor).body.contains("may not do 'press'"))
        #expect(try serving.ask("POST /api/do", Self.body, body: press, as: .operator).status == 200)
        await serving.end()
    }

    @Test("The file says which actions may be done over the network") func actions() async throws {
        var web = WebDescription()
        web.actions = ["hold.re*", "other.*"]
        let graph = Serving.graph.replacing("[node.gain]", with: "[node.hold]\ntype = \"switch\"\n[node.gain]")
        let serving = try await Serving(web, graph: graph)
        func done(_ action: String, _ right: Right) throws -> Bool {
            let body = "{\"node\":\"hold\",\"action\":\"\(action)\"}"
            return try serving.ask("POST /api/do", Self.body, body: body, as: right).status == 200
        }
        #expect(try done("release", .operator) && done("release", .owner))
        #expect(try !done("press", .operator) && !done("press", .owner))
        await serving.end()
    }

    @Test("What a variable holds is shown to nobody who looks") func variables() async throws {
        setenv("VG_RIGHTS_SECRET", "s3cr3t", 1)
        let graph = Serving.graph.replacing(
            "type = \"output\"", with: "type = \"output\"\nconnect = [\"a${VG_RIGHTS_SECRET}:b\", \"c\"]")
        let serving = try await Serving(graph: graph)
        for call in ["nodes", "file", "declared", "status"] {
            let answer = try serving.ask("GET /api/\(call)")
            #expect(answer.status == 200 && !answer.body.contains("s3cr3t"), "\(call): \(answer)")
        }
        #expect(try serving.ask("GET /api/nodes").body.contains("a${VG_RIGHTS_SECRET}:b"))
        await serving.end()
    }

    @Test("Another file than the graph's own is loaded over the network only where the graph's file trusts it")
    func reload() async throws {
        let serving = try await Serving()
        let secret = try serving.scratch.write("secret.txt", "key = 'hunter2'\n")
        for path in ["/etc/passwd", secret, "secret.txt", "graph.conf", "../x"] {
            let answer = try serving.ask("POST /api/reload", Self.body, body: "{\"path\":\"\(path)\"}")
            #expect(answer.status == 400 && answer.body.contains("trust = true"), "\(path): \(answer)")
            #expect(!answer.body.contains("hunter2") && !answer.body.contains("root:"), "\(answer)")
        }
        #expect(try serving.ask("POST /api/reload", Self.body, body: "{}").status == 200)
        await serving.end()
        var web = WebDescription()
        web.isTrusted = true
        let trusting = try await Serving(web)
        let other = try trusting.scratch.write("other.conf", Serving.graph)
        #expect(try trusting.ask("POST /api/reload", Self.body, body: "{\"path\":\"\(other)\"}").status == 200)
        await trusting.end()
    }

    @Test("A path leads out of the graph's folder or not, whatever way it is written") func reach() throws {
        let scratch = try Scratch()
        for folder in ["graph", "graph/in", "graphs"] { mkdir(scratch.file(folder), 0o700) }
        symlink("/etc", scratch.file("graph/out"))
        symlink(scratch.file("graph/in"), scratch.file("graph/within"))
        let check = ReachCheck(folder: scratch.file("graph"))
        func refuses(_ value: SettingValue, _ setting: Setting, isNode: Bool = true) -> Bool {
            (try? check.check(["x": value], against: [setting], isNode: isNode)) == nil
        }
        let file = Setting("x", VG_SET_STRING, "", names: .file)
        let own = scratch.file("graph")
        for inside in [
            "a.wav", "in/a.wav", "new/deep/a.wav", "in/../a.wav", "./a", "within/a", "\(own)/a", "%H/{date}.wav", "..a",
        ] {
            #expect(!refuses(.string(inside), file), "\(inside)")
        }
        for outside in [
            "/etc/passwd", "/", "..", "../a", "in/../../a", "new/../../a", "new/../a", "out/passwd", "out/new", "~/a",
            "~",
            "\(own)s/a", "\(own)/../graphs/a", "/dev/stdout", "within/../../../a",
        ] {
            #expect(refuses(.string(outside), file), "\(outside)")
            #expect(refuses(.list([.string("a"), .string(outside)]), file), "\(outside)")
            #expect(
                refuses(.table(["k": .string(outside)]), Setting("x", VG_SET_TABLE, "", names: .file)), "\(outside)")
        }
        #expect(refuses(.integer(1), Setting("x", VG_SET_INTEGER, "", names: .file)), "a descriptor")
        for reach in [Setting.Reach.program, .variable, .address] {
            #expect(refuses(.string("a"), Setting("x", VG_SET_STRINGS, "", names: reach)))
            #expect(!refuses(.string(""), Setting("x", VG_SET_STRINGS, "", names: reach)))
        }
        // What a type does not say of its settings is guessed; what people type is not.
        let plain = Setting("x", VG_SET_STRING, "")
        #expect(refuses(.string("/etc/passwd"), plain) && refuses(.string("a/../../b"), plain))
        #expect(!refuses(.string("/help"), plain, isNode: false) && !refuses(.string("and so on ..."), plain))
        #expect(!refuses(.string("/x"), Setting("x", VG_SET_STRING, "", choices: ["/x"])))
        // A graph that is of no file has no folder.
        #expect(throws: Fault.self) {
            try ReachCheck(folder: nil).check(["x": .string("a.wav")], against: [file], isNode: true)
        }
    }
}
