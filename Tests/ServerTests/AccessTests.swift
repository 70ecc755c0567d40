// SPDX-License-Identifier: Apache-2.0
import Graph
import Host
import NIOHTTP1
import Testing

@testable import Server

/// Who may ask for what.
@Suite struct AccessTests {
    private static let token = Token()

    private func access(origins: [String] = [], names: [String] = [], port: Int = 8765) -> Access {
        var web = WebDescription()
        (web.origins, web.names) = (origins, names)
        return Access(web, addresses: ["localhost", "127.0.0.1", "::1"], port: port, token: Self.token)
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

    @Test("The token is known by its header, its protocol or the cookie of our own pages") func tokens() {
        let access = access(origins: ["https://page.example"])
        let text = Self.token.text
        let elsewhere = Access.Origin.listed("https://page.example")
        #expect(access.isKnown(["Authorization": "Bearer \(text)"], .own))
        #expect(access.isKnown(["Authorization": "bearer \(text)"], elsewhere))
        #expect(access.isKnown(["Sec-WebSocket-Protocol": "voicegraph, token.\(text)"], elsewhere))
        #expect(access.isKnown(["Cookie": "other=1; voicegraph-8765=\(text)"], .own))
        #expect(!access.isKnown(["Cookie": "voicegraph-8765=\(text)"], elsewhere))
        #expect(!access.isKnown(["Cookie": "voicegraph-8766=\(text)"], .own))
        #expect(!access.isKnown(["Authorization": "Bearer \(text.dropLast())0x"], .own))
        #expect(!access.isKnown(["Authorization": "Bearer "], .own))
        #expect(!access.isKnown([:], .own))
        #expect(!Token().matches(text) && text.count == 32)
        #expect(access.setCookie([:]) == "voicegraph-8765=\(text); HttpOnly; SameSite=Strict; Path=/")
        #expect(access.setCookie(["X-Forwarded-Proto": "https"]).hasSuffix("; Secure"))
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
        let error = #expect(throws: HostError.self) { try WebServer(Host(), web) }
        #expect(error?.hint.contains("--web-remote") == true)
        web.allowsRemote = true
        let server = try WebServer(Host(), web)
        #expect(server.isRemote && !server.url.contains("0.0.0.0"))
        server.close()
    }
}
