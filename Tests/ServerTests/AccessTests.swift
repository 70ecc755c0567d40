// SPDX-License-Identifier: Apache-2.0
import API
import Foundation
import Glibc
import GraphFile
import Host
import NIOHTTP1
import NodeKit
import TestSupport
import Testing

@testable import Server

/// Who may ask for what.
@Suite struct AccessTests {
    private static let tokens = Tokens()

    private func access(origins: [String] = [], names: [String] = [], port: Int = 8765) -> Access {
        var web = WebDescription()
        (web.origins, web.names) = (origins, names)
        return Access(web, addresses: ["localhost", "127.0.0.1", "::1"], port: port, tokens: Self.tokens)
    }

    private func status(_ access: Access, _ headers: HTTPHeaders) -> UInt? {
        do throws(Access.Refusal) {
            _ = try access.check(headers)
            return nil
        } catch { return error.status.code }
    }

    @Test("Only the names of this machine, at this port, are answered to") func hosts() {
        let access = access(names: ["voice.example.org"])
        for host in ["127.0.0.1:8765", "localhost:8765", "LOCALHOST:8765", "[::1]:8765", "voice.example.org"] {
            #expect(status(access, ["Host": host]) == nil, "\(host)")
        }
        for host in [
            "127.0.0.1", "127.0.0.1:80", "evil.example", "evil.example:8765", "localhost.evil.example:8765",
            "127.0.0.1:8765.evil.example", "[::1]", "voice.example.org.evil.example",
        ] {
            #expect(status(access, ["Host": host]) == 421, "\(host)")
        }
        #expect(status(access, [:]) == 400)
        #expect(status(access, ["Host": ""]) == 400)
        #expect(status(access, HTTPHeaders([("Host", "localhost:8765"), ("Host", "evil.example")])) == 400)
        #expect(status(self.access(port: 80), ["Host": "localhost"]) == nil)
    }

    @Test("Pages of ours and those that are named may ask, and no others") func origins() throws {
        let access = access(origins: ["https://page.example"], names: ["voice.example.org"])
        func origin(_ text: String, host: String = "127.0.0.1:8765") -> UInt? {
            status(access, ["Host": host, "Origin": text])
        }
        #expect(origin("http://127.0.0.1:8765") == nil)
        #expect(origin("http://localhost:8765") == nil)
        #expect(origin("https://page.example") == nil)
        #expect(origin("https://voice.example.org", host: "voice.example.org") == nil)
        for page in [
            "null", "http://127.0.0.1:8766", "https://127.0.0.1:8765", "http://page.example",
            "https://page.example.evil", "https://evil.example", "https://voice.example.org",
        ] {
            #expect(origin(page) == 403, "\(page)")
        }
        #expect(
            try access.check(["Host": "localhost:8765", "Origin": "https://page.example"])
                == .listed("https://page.example"))
        // What a browser tells who gives no origin.
        #expect(status(access, ["Host": "localhost:8765", "Sec-Fetch-Site": "cross-site"]) == 403)
        #expect(status(access, ["Host": "localhost:8765", "Sec-Fetch-Site": "same-site"]) == 403)
        #expect(status(access, ["Host": "localhost:8765", "Sec-Fetch-Site": "same-origin"]) == nil)
        #expect(
            status(
                access, ["Host": "localhost:8765", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"])
                == nil)
    }

    @Test("A token is known by its header or its protocol, and says the right; there are no cookies") func tokens() {
        let access = access(origins: ["https://page.example"])
        func right(_ headers: HTTPHeaders) -> Right? { access.caller(headers)?.right }
        for wanted in Right.allCases {
            let text = Self.tokens[wanted].text
            #expect(right(["Authorization": "Bearer \(text)"]) == wanted)
            #expect(right(["Authorization": "bearer \(text)"]) == wanted)
            #expect(right(["Sec-WebSocket-Protocol": "voicegraph, token.\(text)"]) == wanted)
            #expect(right(["Cookie": "voicegraph-8765=\(text)"]) == nil)
            #expect(right(["Authorization": "Bearer \(text.dropLast())0x"]) == nil)
            #expect(right(["Authorization": "Basic \(text)"]) == nil)
        }
        #expect(right(["Authorization": "Bearer "]) == nil && right([:]) == nil)
        #expect(right(["Authorization": "Bearer \(Self.tokens.download.text)"]) == nil, "it is for downloads alone")
        #expect(Set(Right.allCases.map { Self.tokens[$0].text }).count == 3 && Self.tokens[.visitor].text.count == 32)
        #expect(Right.visitor < .operator && Right.operator < .owner)
    }

    @Test("Tokens that are kept stay what they are; a file that others read, or that is none, is refused")
    func keptTokens() throws {
        let scratch = try Scratch()
        let path = scratch.file("tokens")
        let first = try Tokens(keptIn: path)
        #expect(try permissions(path) == 0o600)
        let again = try Tokens(keptIn: path)
        #expect(Right.allCases.allSatisfy { first[$0] == again[$0] })
        // One of the user's own choice; the others are made.
        try "# mine\nvisitor let-everybody-in-here".write(toFile: path, atomically: false, encoding: .utf8)
        let chosen = try Tokens(keptIn: path)
        #expect(chosen[.visitor].text == "let-everybody-in-here" && chosen[.owner] != first[.owner])
        #expect(try Tokens(keptIn: path)[.owner] == chosen[.owner])
        for wrong in [
            "visitor short", "guest 0123456789abcdef", "visitor", "owner \(chosen[.visitor].text) x",
            "visitor 0123456789abcdef\nowner 0123456789abcdef", "visitor 0123456789/bcdef?&",
        ] {
            try wrong.write(toFile: path, atomically: false, encoding: .utf8)
            #expect(throws: Fault.self, "\(wrong)") { try Tokens(keptIn: path) }
            #expect(try String(contentsOfFile: path, encoding: .utf8) == wrong)
        }
        chmod(path, 0o640)
        #expect(throws: Fault.self) { try Tokens(keptIn: path) }
        #expect(throws: Fault.self) { try Tokens(keptIn: scratch.path) }
        #expect(throws: Fault.self) { try Tokens(keptIn: scratch.file("no/such")) }
    }

    private func permissions(_ path: String) throws -> mode_t {
        var about = stat()
        try #require(stat(path, &about) == 0)
        return about.st_mode & 0o777
    }

    @Test("An address to listen at is read, and nonsense is an error that says how") func addresses() throws {
        func pair(_ text: String) throws -> String {
            let address = try #require(ListenAddress(text))
            return "\(address.host) \(address.port) \(address.isLoopback)"
        }
        #expect(try pair("127.0.0.1:8765") == "127.0.0.1 8765 true")
        #expect(try pair("0") == "127.0.0.1 0 true")
        #expect(try pair(":9000") == "127.0.0.1 9000 true")
        #expect(try pair("[::1]:80") == "::1 80 true")
        #expect(try pair("[::]:80") == ":: 80 false")
        #expect(try pair("localhost") == "localhost 8765 true")
        #expect(try pair("0.0.0.0:1") == "0.0.0.0 1 false")
        #expect(try pair("127.0.0.1.evil.example:1") == "127.0.0.1.evil.example 1 false")
        for text in ["", "localhost:", "localhost:99999", "a b:1", "::1", "http://x:1", "[::1", "x:-1", "99999"] {
            #expect(ListenAddress(text) == nil, "\(text)")
        }
    }

    @Test("What is reachable from elsewhere is not listened at by mistake") func remote() throws {
        var web = WebDescription()
        web.listen = "0.0.0.0:0"
        let error = #expect(throws: Fault.self) { try WebServer(Host(), web) }
        #expect(error?.hint.contains("--web-remote") == true)
        web.allowsRemote = true
        let server = try WebServer(Host(), web)
        #expect(server.isRemote && !server.url.contains("0.0.0.0"))
        server.close()
    }
}
