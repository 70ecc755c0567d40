// SPDX-License-Identifier: Apache-2.0
import Config
import Foundation
import Graph
import GraphFile
import Host
import NodeKit
import TestSupport

@testable import Reference
@testable import voicegraph

/// A table that the program does not have: whoever adds one writes this, and a line in `FileTables.all`.
private struct OSCDescription: FileTableDescription {
    var isEnabled = false
    var port: Int?
    var peers: [String] = []

    static let table = "osc"
    static let doc = "who turns parameters over the network"
    static let otherNames = ["opensoundcontrol"]
    static let keys: [TableKey<OSCDescription>] = [
        TableKey("enabled", \.isEnabled, .flag(), "true: it listens"),
        TableKey(
            "port", \.port, .whole(in: 1...65535), "where it listens", default: "9000", otherNames: ["udp", "socket"]),
        TableKey(
            "peers", \.peers, .texts("addresses", hint: "as HOST:PORT") { ListenAddress($0) != nil }, "who is answered"),
    ]
}

/// What follows from the declared keys of a table.
@Suite("A table of declared keys") struct DeclaredTableTests {
    private let tables = FileTables(FileTables.all + [OSCDescription.self])
    private static let node = "[node.a]\ntype = \"tone\"\n"
    private static var catalog: NodeCatalog { NodeRegistry(search: PluginSearch(folders: [])).catalog(for: ["tone"]) }

    private func load(_ text: String, _ overrides: String...) -> (OSCDescription?, [Diagnostic]) {
        let (graph, faults) = ConfigFile.load(
            text: Self.node + text, overrides: overrides, environment: ["PORT": "9002"], tables: tables)
        return (graph?.tables[OSCDescription.self], faults)
    }

    @Test("It is read, with variables, and is known only where it is in the list") func reading() {
        var expected = OSCDescription()
        (expected.isEnabled, expected.port, expected.peers) = (true, 9002, ["10.0.0.2:9000"])
        let (read, faults) = load("[osc]\nenabled = true\nport = \"${PORT}\"\npeers = \"10.0.0.2:9000\"\n")
        #expect(read == expected && faults.isEmpty, "\(faults)")
        #expect(load("").0 == nil)
        let unknown = ConfigFile.load(text: Self.node + "[osc]\n", environment: [:]).1
        #expect(unknown.map(\.message) == ["unknown key 'osc'"])
    }

    @Test(
        "What is refused is told with its place and a hint",
        arguments: [
            ("[osc]\nenabled = 1", 4, 11, "'enabled' must be true or false, not a whole number", "write true"),
            ("[osc]\nport = 0", 4, 8, "'port' cannot be 0", "write a whole number from 1 to 65535"),
            ("[osc]\npeers = [1]", 4, 9, "'peers' must be a list of addresses", "as HOST:PORT"),
            ("[osc]\nUDP = 1", 4, 1, "unknown key 'UDP'", "did you mean 'port'?"),
            ("[osc]\nvoices = 1", 4, 1, "unknown key 'voices'", "here may stand enabled, port and peers"),
            (
                "[osc]\nrate = 1", 4, 1, "'rate' belongs to [driver], not to [osc]",
                "write it below a line with [driver]"
            ),
            (
                "[driver]\npeers = []", 4, 1, "'peers' belongs to [osc], not to [driver]",
                "write it below a line with [osc]"
            ), ("[opensoundcontrol]", 3, 2, "unknown key 'opensoundcontrol'", "did you mean 'osc'?"),
            (
                "[zebra]", 3, 2, "unknown key 'zebra'",
                "here may stand [graph], [node.NAME], [driver], [web], [osc] or include"
            ),
        ])
    func refusals(_ text: String, _ line: Int, _ column: Int, _ message: String, _ hint: String) {
        let faults = load(text).1
        #expect(faults.map(\.message) == [message] && faults.map(\.hint) == [hint], "\(faults)")
        #expect(faults.first?.location.line == line && faults.first?.location.column == column)
    }

    @Test("A key of it in a node is told to belong to it") func strayKey() throws {
        let (graph, _) = ConfigFile.load(text: Self.node + "peers = []\n", environment: [:], tables: tables)
        let faults = GraphBuilder.build(try #require(graph), catalog: Self.catalog).diagnostics
        #expect(faults.first?.message == "'peers' belongs to [osc], not to [node.a]", "\(faults)")
    }

    @Test("The command line goes before it, and is refused as the file is") func overrides() {
        let (read, faults) = load("[osc]\nport = 1\n", "osc.port=7", "osc.enabled=true")
        #expect(read?.port == 7 && read?.isEnabled == true && faults.isEmpty)
        let refused = load("", "osc.port=x", "osc.prt=1").1
        #expect(refused.map(\.message) == ["'port' cannot be 'x'", "unknown key 'prt'"])
        #expect(refused.first?.location.file == "--set osc.port=x")
    }

    @Test("It is written, and changed in a file whose other lines stay") func writing() throws {
        let scratch = try Scratch()
        let text = Self.node + "\n# Who may turn it.\n[osc]\nport = 1 # of ours\npeers = [\"a\"]\n"
        let path = try scratch.write("a.conf", text)
        var graph = try #require(ConfigFile.load(path: path, environment: [:], tables: tables).0)
        #expect(GraphText.text(of: graph).contains("\n[osc]\nport  = 1\npeers = [\"a\"]\n"))
        var table = try #require(graph.tables[OSCDescription.self])
        (table.port, table.isEnabled, table.peers) = (2, true, [])
        graph.tables[OSCDescription.self] = table
        let patched = GraphText.text(of: graph, from: path, environment: [:])
        #expect(patched.contains("# Who may turn it.\n[osc]\nport = 2 # of ours\nenabled = true\n"), "\(patched)")
        #expect(!patched.contains("peers"))
        let again = ConfigFile.load(text: patched, environment: [:], tables: tables).0
        #expect(again?.tables == graph.tables && again?.tables[OSCDescription.self] == table)
        // As it is without a word it is not written.
        graph.tables[OSCDescription.self] = OSCDescription()
        #expect(!GraphText.text(of: graph).contains("osc"))
    }

    @Test("The reference and the schema have it") func reference() throws {
        let printer = ReferencePrinter(catalog: Self.catalog, tables: tables)
        let text = printer.text(width: 200)
        for words in [
            "osc  table\n        who turns parameters over the network, see [osc]\n", "--set osc.key=value",
            "\n[osc]\n    enabled  boolean, default false\n        true: it listens\n",
            "    port  integer 1 to 65535, default 9000\n", "    peers  text or list of texts\n",
        ] { #expect(text.contains(words), "\(words)") }
        #expect(printer.manual("").contains("[OSC]"))
        let schema = try #require(JSONSerialization.jsonObject(with: Data(printer.schema().utf8)) as? [String: Any])
        let osc = ((schema["properties"] as? [String: Any])?["osc"] as? [String: Any])?["properties"] as? [String: Any]
        #expect(osc?.keys.sorted() == ["enabled", "peers", "port"])
        #expect((osc?["port"] as? [String: Any])?["default"] as? Int == 9000)
    }
}
