// SPDX-License-Identifier: Apache-2.0
import GraphFile
import TestSupport

@testable import Config

/// What `[web]` says, and what goes before it.
@Suite("The web face in a file") struct WebTableTests {
    private func load(_ table: String, _ overrides: String...) -> (WebDescription?, [Diagnostic]) {
        let (description, diagnostics) = ConfigFile.load(
            text: "[node.a]\ntype = \"tone\"\n" + table, overrides: overrides, environment: [:])
        return (description?.web, diagnostics)
    }

    @Test("Without the table there is no page, and with it there is one") func presence() {
        #expect(load("").0 == nil)
        #expect(load("[web]\n").0 == WebDescription())
        #expect(load("", "web.listen=9000").0?.listen == "9000")
    }

    @Test("All its keys arrive, and the command line goes before them") func keys() {
        let (web, diagnostics) = load(
            """
            [web]
            listen = "0.0.0.0:80"
            origins = ["https://page.example", "http://localhost:3000"]
            names = ["voice.example"]
            read_only = true
            remote = true
            theme = "dark"
            logo = "a.svg"
            state = "expanded"
            [web.texts]
            start = "Ask me"
            """, "web.listen=[::1]:81")
        #expect(diagnostics.isEmpty)
        var expected = WebDescription()
        expected.listen = "[::1]:81"
        expected.origins = ["https://page.example", "http://localhost:3000"]
        (expected.names, expected.isReadOnly, expected.allowsRemote) = (["voice.example"], true, true)
        (expected.theme, expected.logo, expected.state) = ("dark", "a.svg", "expanded")
        expected.texts = ["start": "Ask me"]
        #expect(web == expected)
        // What is written of it reads as the same.
        var graph = GraphDescription()
        graph.web = web
        #expect(load(GraphText.write(graph)).0 == expected)
        #expect(load("[web]\nlisten = 9000").0?.listen == "9000")
    }

    @Test(
        "Every mistake in it is told",
        arguments: [
            ("listen = \"nowhere:\"", "'listen' must be an address"), ("listen = 70000", "'listen' must be an address"),
            ("origins = [\"https://a.example/path\"]", "'origins' must be a list of origins"),
            ("origins = [\"*\"]", "'origins' must be a list of origins"),
            ("origins = [3]", "'origins' must be a list of origins"),
            ("names = [\"a b\"]", "'names' must be a list of host names"),
            ("read_only = 1", "'read_only' must be true or false, not a whole number"),
            ("theme = \"drak\"", "'theme' must be \"light\", \"dark\" or \"system\", not 'drak'"),
            ("state = 1", "'state' must be \"collapsed\" or \"expanded\", not a whole number"),
            ("logo = \"\"", "'logo' must be the path of an image, not ''"),
            ("texts = \"x\"", "'texts' must be a table of texts"),
            ("texts = {start = 1}", "'start' of 'texts' must be a text"),
            ("port = 80", "unknown key 'port'"),
        ])
    func mistakes(_ line: String, _ message: String) {
        #expect(load("[web]\n" + line).1.map(\.message) == [message])
    }

    @Test("What is no table is told") func noTable() {
        #expect(
            ConfigFile.load(text: "web = true\n[node.a]\ntype = \"tone\"\n", overrides: [], environment: [:]).1
                .map(\.message) == ["'web' must be a table"])
    }
}
