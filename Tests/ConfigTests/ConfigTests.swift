// SPDX-License-Identifier: Apache-2.0
import Config
import GraphFile
import NodeKit
import TestSupport

@Suite struct ConfigFileTests {
    @Test("A chain is read with the place of each name") func chain() {
        let (graph, diagnostics) = ConfigFile.load(
            text: """
                [graph]
                name = "voice"
                links = ["mic -> gain.in -> out", { from = "a.x", to = "b", gain_db = -20 }]
                [node.mic]
                type = "input"
                channels = 2
                """, file: "f.conf")
        #expect(diagnostics.isEmpty)
        #expect(graph?.name == "voice")
        #expect(
            graph?.links.map { "\($0.from) -> \($0.to) \($0.gainDB)" } == [
                "mic -> gain.in 0.0", "gain.in -> out 0.0", "a.x -> b -20.0",
            ])
        #expect(graph?.links[0].to.location == SourceLocation(file: "f.conf", line: 3, column: 18, length: 7))
        #expect(graph?.links[0].location == SourceLocation(file: "f.conf", line: 3, column: 11, length: 14))
        #expect(graph?.nodes.map(\.name) == ["mic"])
        let channels = graph?.nodes.first?.entries["channels"]
        #expect(channels?.value == .integer(2))
        #expect(channels?.keyLocation == SourceLocation(file: "f.conf", line: 6, column: 1, length: 8))
        #expect(channels?.valueLocation == SourceLocation(file: "f.conf", line: 6, column: 12, length: 1))
    }

    @Test("Nodes and keys keep the order of the file") func order() {
        let (graph, _) = ConfigFile.load(text: "[node.z]\ntype='t'\nq=1\nb=2\na=3\n[node.a]\ntype='t'\n")
        #expect(graph?.nodes.map(\.name) == ["z", "a"])
        #expect(graph?.nodes.first?.keys == ["q", "b", "a"])
    }

    @Test("Tables and lists keep the places of what is in them") func places() {
        let (graph, _) = ConfigFile.load(
            text: "[node.fx]\ntype = 'lv2'\nparams = { gain = 1.5, mode = 'x' }\n[node.fx.more]\nlist = [1,  2]\n",
            file: "f")
        let entries = graph?.nodes.first?.entries
        #expect(entries?["params"]?.value == .table(["gain": .number(1.5), "mode": .string("x")]))
        #expect(entries?["params"]?.inner["mode"]?.keyLocation.column == 24)
        #expect(
            entries?["more"]?.inner["list"]?.inner["1"]?.valueLocation == SourceLocation(file: "f", line: 5, column: 13)
        )
    }

    /// Each way to write a string, with the place where "wrong" must be found in it.
    @Test(
        "Names in strings are pointed at, however they are written",
        arguments: [
            ("\"mic -> wrong\"", 1, 17), ("'mic -> wrong'", 1, 17), ("\"m\\u00EFc -> wrong\"", 1, 22),
            ("\"\\tmic -> wrong\"", 1, 19), ("\"\"\"mic -> wrong\"\"\"", 1, 19),
            ("\"\"\"\nmic ->\n  wrong\"\"\"", 3, 3),
            ("'''\r\nmic ->\r\n wrong'''", 3, 2), ("\"\"\"mic -> \\\n   wrong\"\"\"", 2, 4),
            ("\"ü€😀 -> wrong\"", 1, 23),
            ("\"${M} -> wrong\"", 1, 18), ("\"a$$ -> b\", \"${M}${M} -> wrong\"", 1, 34),
        ])
    func namesInStrings(_ text: String, _ line: Int, _ column: Int) {
        let (graph, _) = ConfigFile.load(text: "links = [" + text + "]\n", environment: ["M": "microphone"])
        #expect(graph?.isPartial == true)  // links belong into [graph]; the next line has them there
        let nested = ConfigFile.load(text: "graph.links=[" + text + "]\n", file: "f", environment: ["M": "microphone"])
            .0
        let place = nested?.links.last?.to.location
        #expect(place?.line == line)
        #expect(place?.column == (line == 1 ? column + 5 : column))
        #expect(place?.length == 5)
    }

    @Test("Every line of text may end in carriage return") func carriageReturns() {
        let (graph, diagnostics) = ConfigFile.load(text: "[node.a]\r\ntype = 'x'\r\n[graph]\r\nlinks = ['a ->']\r\n")
        #expect(graph?.nodes.count == 1)
        #expect(diagnostics.map(\.location.line) == [4])
    }

    @Test("A byte order mark moves nothing") func byteOrderMark() {
        let (_, diagnostics) = ConfigFile.load(text: "\u{FEFF}[graph]\nnam = 1\n")
        #expect(diagnostics.map(\.location.column) == [1])
        #expect(diagnostics.map(\.location.line) == [2])
    }

    @Test("Variables and defaults are resolved") func variables() {
        let (graph, diagnostics) = ConfigFile.load(
            text: "[node.a]\ntype='t'\nx='${A}/${B:-b c}/${E:-e}/${E}/$$/$x'\n", environment: ["A": "a\"", "E": ""])
        #expect(diagnostics.isEmpty)
        #expect(graph?.nodes.first?.entries["x"]?.value == .string("a\"/b c/e//$/$x"))
    }

    @Test(
        "Broken links give one reason and no crash",
        arguments: ["", "a", "->", " -> ", "a->b->", "a -> b.c.d", "a -> .b", "a b -> c", "a -> b,c"])
    func brokenLinks(_ text: String) {
        let (links, diagnostics) = LinkDescription.parse(text)
        #expect(!diagnostics.isEmpty)
        #expect(links.count <= 1)
    }

    @Test("Links need no blanks") func blanks() {
        let (links, diagnostics) = LinkDescription.parse("a->b-c->d.e")
        #expect(diagnostics.isEmpty)
        #expect(links.map { "\($0.from) \($0.to)" } == ["a b-c", "b-c d.e"])
    }

    @Test("Endless nesting is refused") func nesting() {
        for text in [
            "a = " + String(repeating: "[", count: 100_000), "a = " + String(repeating: "{a=", count: 100_000),
            String(repeating: "a.", count: 100_000) + "a = 1", "[" + String(repeating: "a.", count: 100_000) + "a]",
        ] {
            let (graph, diagnostics) = ConfigFile.load(text: text)
            #expect(graph == nil)
            #expect(diagnostics.count == 1)
            #expect(diagnostics.first?.message.contains("more than 32") == true)
        }
    }

    @Test("A graph that is far larger than any is refused before it is looked at, by its size and by what is in it")
    func largeGraphs() throws {
        let (graph, diagnostics) = ConfigFile.load(text: [UInt8](repeating: UInt8(ascii: "#"), count: (4 << 20) + 1))
        #expect(graph == nil)
        #expect(diagnostics.map(\.message) == ["the file is larger than 4 MiB"])
        // Each would be a mistake of its own.
        let keys = "[node.a]\ntype = \"tone\"\n" + (0..<250_000).map { "k\($0)=1\n" }.joined()
        let many = ConfigFile.load(text: keys)
        #expect(many.0 == nil)
        #expect(
            many.1.map(\.message) == ["there are more than 250000 keys and values in the file and those before it"])
        // What is included counts, too.
        let scratch = try Scratch()
        let comments = String(repeating: "#" + String(repeating: "x", count: 1022) + "\n", count: 1500)
        for name in ["a", "b", "c"] { _ = try scratch.write("\(name).conf", comments) }
        let path = try scratch.write("all.conf", "include = [\"a.conf\", \"b.conf\", \"c.conf\"]\n")
        let included = ConfigFile.load(path: path)
        #expect(included.0 == nil)
        #expect(included.1.map(\.message) == ["the file and those before it are larger than 4 MiB"])
        #expect(included.1.first?.location.file.hasSuffix("c.conf") == true)
    }

    @Test("Files that cannot be read say so") func unreadable() {
        #expect(
            ConfigFile.load(path: "/no/such/file").1.map(\.message) == [
                "cannot read '/no/such/file': no such file or directory"
            ])
        #expect(ConfigFile.load(path: "/").1.map(\.message) == ["cannot read '/': it is a folder"])
        #expect(ConfigFile.load(path: "").1.map(\.message) == ["cannot read '': the name is empty"])
    }

    @Test("Devices are not included") func devices() {
        let (graph, diagnostics) = ConfigFile.load(text: "include = '/dev/zero'")
        #expect(graph == nil)
        #expect(diagnostics.map(\.message) == ["cannot include '/dev/zero': it is not an ordinary file"])
    }
}

@Suite struct OverrideTests {
    private let text = "[node.a]\ntype = 't'\nx = 1\nparams = { p = 1, q = 2 }\n"

    private func load(_ overrides: String...) -> (NodeDescription?, [Diagnostic]) {
        let (graph, diagnostics) = ConfigFile.load(text: text, overrides: overrides)
        return (graph?.nodes.first, diagnostics)
    }

    @Test("Values are read as TOML, or else as text") func overrideValues() {
        let (node, diagnostics) = load(
            "node.a.x=2.5", "node.a.flag=true", "node.a.text=Hello there", "node.a.quoted=\"2\"",
            "node.a.list=[1, 'a']",
            "node.a.equals=a=b", "node.a.empty=", "node.a.date=2024-01-31", "node.a.lines=1\nnode = 2")
        #expect(diagnostics.isEmpty)
        let values = node?.entries.mapValues(\.value)
        #expect(values?["x"] == .number(2.5))
        #expect(values?["flag"] == .bool(true))
        #expect(values?["text"] == .string("Hello there"))
        #expect(values?["quoted"] == .string("2"))
        #expect(values?["list"] == .list([.integer(1), .string("a")]))
        #expect(values?["equals"] == .string("a=b"))
        #expect(values?["empty"] == .string(""))
        #expect(values?["date"] == .string("2024-01-31"))
        #expect(values?["lines"] == .string("1\nnode = 2"))
        #expect(node?.keys.prefix(3) == ["x", "params", "flag"])
    }

    @Test("One value in a table can be set") func oneInATable() {
        let (node, _) = load("node.a.params.p=-3", "node.a.new.deep.er=1")
        #expect(node?.entries["params"]?.value == .table(["p": .integer(-3), "q": .integer(2)]))
        #expect(node?.entries["params"]?.inner["q"]?.valueLocation.line == 4)
        #expect(node?.entries["new"]?.value == .table(["deep": .table(["er": .integer(1)])]))
    }

    @Test("`type` and `required` can be set") func typeAndRequired() {
        let (node, diagnostics) = load("node.a.type=tone", "node.a.required=true")
        #expect(diagnostics.isEmpty)
        #expect(node?.type == "tone")
        #expect(node?.required == true)
    }

    @Test(
        "Faults name the override",
        arguments: [
            ("node.b.x=1", "unknown node 'b'"), ("x", "an override without '='"),
            ("=", "an override must name a setting of a node or the driver"),
            ("node.a=1", "an override must name a setting of a node or the driver"),
            ("node.a..=1", "an override must name a setting of a node or the driver"),
            ("driver.kind=alas", "there is no driver 'alas'"), ("driver.rate=9", "'rate' cannot be 9"),
            ("driver.rats=9", "unknown key 'rats'"), ("driver.server=-x", "'server' must be a name, not '-x'"),
            ("driver.kind.x=1", "an override must name a setting of a node or the driver"),
            ("node.a.type=1", "'type' must be a string"),
            ("node.a.required=maybe", "'required' must be true or false, not a string"),
        ])
    func faultyOverrides(_ override: String, _ message: String) {
        let (_, diagnostics) = load(override)
        #expect(diagnostics.map(\.message) == [message])
        #expect(diagnostics.first?.location.file == "--set \(override)")
        #expect(DiagnosticFormat().text(diagnostics).hasPrefix("--set \(override): error: \(message)\n"))
    }

    @Test("What is overridden needs no variable of the file, at any depth, in includes and outside of nodes")
    func overriddenVariables() {
        let text = """
            [driver]
            rate = "${UNSET_RATE}"
            [node.a]
            type = "${UNSET_TYPE}"
            level_db = "${UNSET_LEVEL}"
            params = { x = "${UNSET_X}", y = 2 }
            other = "${UNSET_OTHER}"
            """
        let all = [
            "driver.rate=44100", "node.a.type=tone", "node.a.level_db=-20", "node.a.params.x=1", "node.a.other=text",
        ]
        let (read, faults) = ConfigFile.load(text: text, overrides: all, environment: [:])
        #expect(faults.isEmpty, "\(faults)")
        let node = read?.nodes.first
        #expect(read?.driver.rate == 44_100 && node?.type == "tone" && node?.entries["other"]?.value == .string("text"))
        #expect(node?.entries["params"]?.value == .table(["x": .integer(1), "y": .integer(2)]))
        // One that is not overridden is told as before.
        let (_, rest) = ConfigFile.load(text: text, overrides: Array(all.dropLast()), environment: [:])
        #expect(rest.map(\.message) == ["the environment variable 'UNSET_OTHER' is not set"])
        let (_, alike) = ConfigFile.load(
            text: text, overrides: all.dropLast() + ["node.a.others=text"], environment: [:])
        #expect(alike.map(\.message) == ["the environment variable 'UNSET_OTHER' is not set"])
    }

    @Test(
        "What is written otherwise is answered with how to write it",
        arguments: [
            ("[node.my mic]\ntype='t'\n", "a table's name has no blanks: 'node.my mic'", "write [node.my_mic]"),
            ("// nothing\n[node.a]\ntype='t'\n", "'//' begins no comment", "comments begin with #"),
        ])
    func otherWays(text: String, message: String, hint: String) {
        let (_, diagnostics) = ConfigFile.load(text: text)
        #expect(diagnostics.map(\.message) == [message])
        #expect(diagnostics.first?.hint == hint)
    }
}
