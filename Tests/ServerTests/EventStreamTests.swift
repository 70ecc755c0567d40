// SPDX-License-Identifier: Apache-2.0
import API
import Foundation
import TestSupport
import Testing

@testable import Server

/// An answer that goes on: its lines, as they come in chunks (RFC 9112, 7.1).
private final class Lines {
    let client: RawClient
    let head: String
    private var input: [UInt8] = []
    private var lines: [String] = []
    private var rest: [UInt8] = []
    private(set) var hasEnded = false

    init(_ serving: Serving, _ query: String = "", as right: Right = .owner) throws {
        client = try serving.connect()
        client.send(
            "GET /api/events\(query) HTTP/1.1\r\nHost: 127.0.0.1:\(serving.port)\r\n"
                + "Authorization: Bearer \(serving.token(right))\r\n\r\n")
        while input.firstRange(of: Array("\r\n\r\n".utf8)) == nil {
            let more = client.some()
            try #require(!more.isEmpty, "closed: \(String(decoding: input, as: UTF8.self))")
            input += more
        }
        let end = input.firstRange(of: Array("\r\n\r\n".utf8))!
        head = String(decoding: input[..<end.lowerBound], as: UTF8.self)
        input.removeSubrange(..<end.upperBound)
    }

    /// The next line; nil: it has ended.
    func next() throws -> String? {
        while lines.isEmpty, !hasEnded {
            guard let mark = input.firstRange(of: [13, 10]),
                case let size = try #require(Int(String(decoding: input[..<mark.lowerBound], as: UTF8.self), radix: 16)),
                input.count >= mark.upperBound + size + 2
            else {
                let more = client.some()
                if more.isEmpty { hasEnded = true }
                input += more
                continue
            }
            if size == 0 { hasEnded = true }
            rest += input[mark.upperBound..<(mark.upperBound + size)]
            input.removeSubrange(..<(mark.upperBound + size + 2))
            while let end = rest.firstIndex(of: 10) {
                lines.append(String(decoding: rest[..<end], as: UTF8.self))
                rest.removeSubrange(...end)
            }
        }
        return lines.isEmpty ? nil : lines.removeFirst()
    }

    /// The next line that is JSON.
    func event() throws -> [String: Any]? {
        while let line = try next() {
            if line.isEmpty { continue }
            return try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
        }
        return nil
    }

    /// The first event of a name.
    func event(_ name: String) throws -> [String: Any]? {
        while let event = try event() { if event["event"] as? String == name { return event } }
        return nil
    }
}

/// What happens, as whoever asks by HTTP is told it.
@Suite(.serialized, .timeLimit(.minutes(5))) struct EventStreamTests {
    @Test("Events, levels and the status come as lines until the host ends") func stream() async throws {
        let serving = try await Serving()
        let lines = try Lines(serving)
        #expect(lines.head.hasPrefix("HTTP/1.1 200 ") && lines.head.contains("application/jsonl"), "\(lines.head)")
        let begin = try #require(try lines.event())
        #expect(begin["ok"] as? Bool == true && begin["right"] as? String == "owner", "\(begin)")
        let series = try #require(try lines.event("series"))
        #expect(series["node"] as? String == "meter", "\(series)")
        #expect(try lines.event("status") != nil)
        try await serving.host.set("gain", "gain_db", to: -6)
        let told = try #require(try lines.event("parameter.changed"))
        #expect(told["node"] as? String == "gain" && told["number"] is Int, "\(told)")
        await serving.end()
        while try lines.next() != nil {}
        #expect(lines.hasEnded)
    }

    @Test("Only what was asked for comes, from where a client was before") func resumed() async throws {
        let serving = try await Serving()
        let before = try Lines(serving, "?only=parameter.changed")
        let begin = try #require(try before.event())
        try await serving.host.set("gain", "gain_db", to: -6)
        let first = try #require(try before.event())
        #expect(first["event"] as? String == "parameter.changed")
        // Changes that follow at once are told as one.
        for value: Float in [-7, -8] {
            try await serving.host.set("gain", "gain_db", to: value)
            #expect(try before.event()?["value"] as? Double == Double(value))
        }
        let run = try #require(begin["run"] as? String)
        let number = try #require(first["number"] as? Int)
        let after = try Lines(serving, "?only=parameter.changed,node.switched&run=\(run)&since=\(number)")
        #expect(try after.event()?["resumed"] as? Bool == true)
        #expect(try after.event()?["value"] as? Double == -7)
        #expect(try after.event()?["value"] as? Double == -8)
        await serving.end()
    }

    @Test("Visitors are told what is for them") func visitors() async throws {
        let serving = try await Serving()
        let lines = try Lines(serving, as: .visitor)
        #expect(try lines.event()?["right"] as? String == "visitor")
        try await serving.host.set("gain", "gain_db", to: -6)
        await serving.end()
        while let event = try lines.event() {
            let name = event["event"] as? String
            #expect(name != "parameter.changed" && name != "status", "\(event)")
        }
    }

    @Test("What is wrong with the request is told, and as many are told as there may be WebSockets") func refusals()
        async throws
    {
        let serving = try await Serving()
        #expect(try serving.ask("GET /api/events", knowing: false).status == 401)
        let wrong = try serving.ask("GET /api/events?sinse=3")
        #expect(wrong.status == 400 && wrong.body.contains("'since'"), "\(wrong)")
        #expect(try serving.ask("GET /api/events?since=many").status == 400)
        #expect(try serving.ask("POST /api/events", ["Content-Type: application/json"], body: "{}").status == 405)
        #expect(try serving.ask("GET /api/openapi.json").body.contains("\"/api/events\""))
        var all: [Lines] = []
        for _ in 0..<Limits.socketsOfOne { all.append(try Lines(serving, "?only=nothing")) }
        let refused = try serving.ask("GET /api/events")
        #expect(refused.status == 429 && refused.head.contains("Retry-After"), "\(refused)")
        // A place becomes free when its client leaves.
        all.removeLast(20)
        var status = 0
        for _ in 0..<3000 where status != 200 {
            let client = try serving.connect()
            client.send(
                "GET /api/events?only=nothing HTTP/1.1\r\nHost: 127.0.0.1:\(serving.port)\r\n"
                    + "Authorization: Bearer \(serving.token)\r\n\r\n")
            status = RawClient.Answer(String(decoding: client.some(), as: UTF8.self)).status
            if status != 200 { try await Task.sleep(for: .milliseconds(10)) }
        }
        #expect(status == 200)
        await serving.end()
    }
}
