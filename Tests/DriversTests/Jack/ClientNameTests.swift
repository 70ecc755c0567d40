// SPDX-License-Identifier: Apache-2.0
import CJack
import TestSupport

@testable import Drivers

@Suite("Names of clients", .timeLimit(.minutes(5))) struct ClientNameTests {
    @Test("A name is made what JACK allows") func allowed() {
        #expect(ClientName.allowed("my: graph") == "my- graph")
        #expect(ClientName.allowed("") == "voicegraph")
        #expect(ClientName.allowed(String(repeating: "ä", count: 64)).utf8.count <= 62)
    }

    @Test("No client is named like a running server") func beside() {
        #expect(ClientName.beside(["default"], "graph") == "graph")
        #expect(ClientName.beside(["default", "default-01"], "default") == "default-02")
        // The names of their files are what counts.
        #expect(ClientName.beside(["a_b"], "a/b") == "a/b-01")
        let long = String(repeating: "x", count: 62)
        #expect(ClientName.beside([long], long) == String(repeating: "x", count: 59) + "-01")
    }

    @Test("A client that wants its server's name leaves the server to be found") func serverStaysReachable()
        async throws
    {
        let server = try await Jackd.start()
        defer { server.stop() }
        let client = try JackLibrary.open(name: server.name, server: server.name)
        defer { JackLibrary.close(client) }
        #expect(String(cString: jack_get_client_name(client)) == server.name + "-01")
        let other = try JackLibrary.open(name: "other", server: server.name)
        JackLibrary.close(other)
        #expect(throws: JackLibrary.OpenError.self) {
            try JackLibrary.open(name: server.name, server: server.name, exactName: true)
        }
    }

    @Test("Clients are opened one after the other") func oneAtATime() {
        let first = JackOpening()
        // Nobody waits for ever.
        let second = JackOpening()
        #expect(first.isGranted && !second.isGranted)
        first.end()
        let third = JackOpening()
        #expect(third.isGranted)
        for opening in [second, third] { opening.end() }
    }
}
