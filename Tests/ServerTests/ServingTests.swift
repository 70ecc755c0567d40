// SPDX-License-Identifier: Apache-2.0
import API
import Foundation
import Glibc
import GraphFile
import Host
import NodeKit
import TestSupport
import Testing

@testable import Server

/// What is asked by HTTP, and what comes of it.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ServingTests {
    @Test("Looks are asked by GET, and changes made by POST") func calls() async throws {
        let serving = try await Serving()
        let nodes = try serving.ask("GET /api/nodes")
        #expect(nodes.status == 200 && nodes.json["graph"] as? String == "served", "\(nodes)")
        let set = try serving.ask(
            "POST /api/set", ["Content-Type: application/json"],
            body: "{\"node\":\"gain\",\"parameter\":\"gain_db\",\"value\":-6.5}")
        #expect(set.status == 200 && set.json["value"] as? Double == -6.5, "\(set)")
        let get = try serving.ask("GET /api/get?node=gain&parameter=gain_db")
        #expect(get.json["value"] as? Double == -6.5, "\(get)")
        let layout = try serving.ask("GET /api/layout").json
        #expect((layout["links"] as? [Any])?.count == 4 && (layout["nodes"] as? [Any])?.count == 4, "\(layout)")
        let declared = try serving.ask("GET /api/declared?node=meter")
        #expect(declared.body.contains("\"series_rate\""), "\(declared)")
        let streams = try serving.ask("GET /api/streams")
        #expect((streams.json["streams"] as? [Any])?.isEmpty == true, "\(streams)")
        let status = try #require(try serving.ask("GET /api/status").json["status"] as? [String: Any])
        #expect(status["client"] as? String == "served")
        await serving.end()
    }

    @Test("Of however many recordings each is listed, and the newest 200 can be drawn") func recordings() async throws {
        let bus = EventBus()
        let recordings = Recordings(bus.subscribe(.lossless))
        let fields = [Field("path", VG_STRING, ""), Field("outline", VG_LIST, "")]
        let type = EventType("made", "", fields: fields, role: .take(.whole))
        for number in 1...450 {
            let told: [String: SettingValue] = [
                "path": .string("/nowhere/\(number).wav"), "outline": .list([.number(1)]),
            ]
            bus.publish(.event(Event(type, node: "take", fields: told)))
            if number.isMultiple(of: 50) { #expect(recordings.file(Int64(number)) == "/nowhere/\(number).wav") }
        }
        let answer = try await recordings.call(Host(), [:], by: Caller(.operator))
        guard case .list(let listed)? = answer.first(where: { $0.0 == "recordings" })?.1 else {
            return #expect(Bool(false), "\(answer)")
        }
        let drawn = listed.map { if case .table(let fields) = $0 { fields["outline"] != nil } else { false } }
        #expect(drawn == [Bool](repeating: false, count: 250) + [Bool](repeating: true, count: 200))
    }

    @Test("What is wrong with a request is told, by its number and in words") func mistakes() async throws {
        let serving = try await Serving()
        func status(_ line: String, _ headers: [String] = [], body: String = "", knowing: Bool = true) throws -> Int {
            let answer = try serving.ask(line, headers, body: body, knowing: knowing)
            let error = answer.json["error"] as? [String: Any]
            #expect(error?["message"] as? String != nil && error?["hint"] as? String != nil, "\(line): \(answer)")
            return answer.status
        }
        let json = ["Content-Type: application/json"]
        #expect(try status("GET /api/nodes", knowing: false) == 401)
        #expect(try status("POST /api/set", json, body: "{}", knowing: false) == 401)
        #expect(try status("GET /", ["Content-Length: 500000"], knowing: false) == 401)
        #expect(try status("GET /api/nope") == 404)
        #expect(try status("GET /nope") == 404)
        #expect(try status("POST /api/nodes") == 405)
        #expect(try status("GET /api/set?node=gain&parameter=gain_db&value=1") == 405)
        #expect(try status("POST /api/set", json, body: "{\"node\":\"gain\"}") == 400)
        #expect(try status("POST /api/set", json, body: "[1]") == 400)
        #expect(try status("POST /api/set", json, body: "{") == 400)
        #expect(try status("POST /api/set", ["Content-Type: text/plain"], body: "{}") == 415)
        #expect(try status("POST /api/set", ["Content-Type: application/x-www-form-urlencoded"], body: "a=b") == 415)
        #expect(try status("GET /api/get?node=gain&node=gain") == 400)
        #expect(try status("GET /api/get?node=nope") == 400)
        #expect(try status("GET /api/live") == 426)
        #expect(try status("GET /api/takes/x/audio") == 404)
        #expect(try status("GET /api/takes/7/audio") == 404)
        #expect(try status("GET /" + String(repeating: "a", count: 5000)) == 414)
        #expect(try status("POST /api/set", json + ["Content-Length: 2000000"]) == 413)
        #expect(try status("GET /", ["Origin: https://evil.example"]) == 403)
        let preflight = try serving.ask("OPTIONS /api/set", knowing: false)
        #expect(preflight.status == 204 && !preflight.head.contains("Access-Control"), "\(preflight)")
        await serving.end()
    }

    @Test("A link shows the page without a cookie, and one of another run shows none") func link() async throws {
        let serving = try await Serving()
        let first = try serving.ask("GET /?token=\(serving.token)&view=nodes", knowing: false)
        #expect(first.status == 200 && !first.head.contains("Set-Cookie"), "\(first)")
        let cookie = "voicegraph-\(serving.port)=\(serving.token)"
        #expect(try serving.ask("GET /api/nodes", ["Cookie: \(cookie)"], knowing: false).status == 401)
        #expect(try serving.ask("GET /?token=" + String(repeating: "0", count: 32), knowing: false).status == 403)
        let page = try serving.ask("GET /", knowing: false)
        #expect(page.status == 200 && page.head.contains("Content-Security-Policy: default-src 'none'; "))
        #expect(!page.body.contains(serving.token))
        let zipped = try serving.ask("HEAD /voice-graph.js", ["Accept-Encoding: br, gzip"], knowing: false)
        #expect(zipped.head.contains("Content-Encoding: gzip\r\n"), "\(zipped)")
        let plain = try serving.ask("HEAD /voice-graph.js", ["Accept-Encoding: gzip;q=0"], knowing: false)
        #expect(!plain.head.contains("Content-Encoding"))
        let head = try serving.ask("HEAD /", knowing: false)
        #expect(head.status == 200 && head.body.isEmpty && head.head.contains("Content-Length: "))
        await serving.end()
    }

    @Test("Whoever may only look changes nothing") func readOnly() async throws {
        var web = WebDescription()
        web.isReadOnly = true
        let serving = try await Serving(web)
        let answer = try serving.ask(
            "POST /api/set", ["Content-Type: application/json"],
            body: "{\"node\":\"gain\",\"parameter\":\"gain_db\",\"value\":-6}")
        #expect(answer.status == 403 && answer.body.contains("read_only"), "\(answer)")
        #expect(try serving.ask("GET /api/get?node=gain&parameter=gain_db").json["value"] as? Int == 0)
        #expect(!(try serving.ask("GET /api/openapi.json").body.contains("/api/set")))
        await serving.end()
    }

    @Test("Pages that are named may read, with the token") func elsewhere() async throws {
        var web = WebDescription()
        web.origins = ["https://page.example"]
        let serving = try await Serving(web)
        let origin = ["Origin: https://page.example"]
        let preflight = try serving.ask("OPTIONS /api/nodes", origin, knowing: false)
        #expect(preflight.status == 204 && preflight.head.contains("Access-Control-Allow-Headers: authorization"))
        let answer = try serving.ask("GET /api/nodes", origin)
        #expect(answer.status == 200 && answer.head.contains("Access-Control-Allow-Origin: https://page.example\r\n"))
        let cookie = "Cookie: voicegraph-\(serving.port)=\(serving.token)"
        #expect(try serving.ask("GET /api/nodes", origin + [cookie], knowing: false).status == 401)
        await serving.end()
    }

    @Test("A take is sent whole, or the part that is asked for") func takes() async throws {
        let scratch = try Scratch()
        let text = String((0..<100_000).map { Character(UnicodeScalar(UInt8(97 + $0 % 26))) })
        let path = try scratch.write("take.flac", text)
        let serving = try await Serving(takes: [7: path, 8: path + ".gone"])
        let whole = try serving.ask("GET /api/takes/7/audio")
        #expect(whole.status == 200 && whole.body == text && whole.head.contains("Content-Type: audio/flac"))
        let part = try serving.ask("GET /api/takes/7/audio", ["Range: bytes=26-51"])
        #expect(part.status == 206 && part.body == "abcdefghijklmnopqrstuvwxyz", "\(part.head)")
        #expect(part.head.contains("Content-Range: bytes 26-51/100000"))
        #expect(try serving.ask("GET /api/takes/8/audio").status == 404)
        #expect(try serving.ask("GET /api/takes/7/audio", knowing: false).status == 401)
        // A player sends no header: it has a ticket, which is good for nothing else.
        let ticket = try #require(try serving.ask("GET /api/ticket").json["ticket"] as? String)
        func status(_ target: String, _ headers: [String] = []) throws -> Int {
            try serving.ask("GET \(target)?ticket=\(ticket)", headers, knowing: false).status
        }
        #expect(try status("/api/takes/7/audio") == 200)
        #expect(try status("/api/takes") == 401 && status("/api/nodes") == 401 && status("/api/live") == 401)
        #expect(try status("/api/nodes", ["Authorization: Bearer \(ticket)"]) == 401)
        #expect(try serving.ask("GET /api/takes/7/audio?ticket=\(serving.token)", knowing: false).status == 401)
        await serving.end()
    }

    @Test(
        "What is downloaded has a name to be saved as, whatever is in it",
        arguments: [
            ("take.flac", "take.flac", "take.flac"), ("a b.wav", "a_b.wav", "a%20b.wav"),
            ("Über \"x\";\r\ny.wav", "_ber__x____y.wav", "%C3%9Cber%20%22x%22%3B%0D%0Ay.wav"),
            ("天気.srt", "__.srt", "%E5%A4%A9%E6%B0%97.srt"),
        ]) func names(_ name: String, _ plain: String, _ encoded: String)
    {
        #expect(Response.disposition(name) == "attachment; filename=\"\(plain)\"; filename*=UTF-8''\(encoded)")
    }

    @Test("A transcript is sent in the format that is asked for, to whoever knows the token") func transcripts()
        async throws
    {
        var kept = KeptFiles()
        kept.transcript = { id, format throws(Fault) in
            guard id == 3, format == "srt" else { return nil }
            return ("talk.srt", "words")
        }
        let serving = try await Serving(kept: kept)
        let found = try serving.ask("GET /api/transcripts/3.srt")
        #expect(found.status == 200 && found.body == "words" && found.head.contains("filename=\"talk.srt\""))
        for path in ["3.doc", "3", "4.srt", "-3.srt", "x.srt", "3.srt.srt", ""] {
            #expect(try serving.ask("GET /api/transcripts/\(path)").status == 404, "\(path)")
        }
        #expect(try serving.ask("POST /api/transcripts/3.srt").status == 405)
        #expect(try serving.ask("GET /api/transcripts/3.srt", knowing: false).status == 401)
        await serving.end()
    }
}
