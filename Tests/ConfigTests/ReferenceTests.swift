// SPDX-License-Identifier: Apache-2.0
import Config
import Foundation
import Graph
import GraphFile
import Host
import NodeKit
import TestSupport

/// The reference of the graph file, held against its reader.
@Suite("The reference of the graph file") struct ReferenceTests {
    private func problems(_ text: String) -> [Diagnostic] {
        var (description, diagnostics) = ConfigFile.load(text: text, environment: [:])
        if let description {
            let catalog = NodeRegistry(search: PluginSearch(folders: [])).catalog(for: description)
            // A process of the suite may have been told how to isolate nodes, or not.
            diagnostics += GraphBuilder.build(description, catalog: catalog).diagnostics
                .filter { !$0.message.contains("cannot isolate nodes") }
        }
        return diagnostics
    }

    private let tables = [FileTables().file, .graph, .link] + FileTables.all.map { FileTable($0) }

    @Test("It says what every key is for") func keys() {
        for table in tables {
            #expect(!table.keys.isEmpty && table.settings.allSatisfy { !$0.doc.isEmpty }, "\(table.name)")
        }
    }

    @Test("The reader takes every key of it") func accepted() {
        for table in tables where table.name != "link" {
            for key in table.keys {
                let text = table.name == "file" ? "\(key) = 1\n" : "[\(table.name)]\n\(key) = []\n"
                let messages = ConfigFile.load(text: text, environment: [:]).1.map(\.message)
                #expect(!messages.contains { $0.hasPrefix("unknown key") || $0.contains("belongs to") }, "\(key)")
            }
        }
        for key in NodeDescription.commonKeys {
            let messages = problems("[node.a]\ntype = \"tone\"\n\(key) = []\n").map(\.message)
            #expect(!messages.contains { $0.contains("no setting or parameter") }, "\(key)")
        }
    }

    @Test("Every graph in it is fine, and every part of one is read") func examples() {
        for block in FileReference.sections().flatMap(\.blocks) {
            switch block {
            case .file(let text):
                // This program names no command that a node could be isolated with.
                let found = problems(text).filter { !$0.message.hasSuffix("this program cannot isolate nodes") }
                #expect(found == [], "\(text)")
            case .lines(let text) where text.contains("[") && !text.contains("include"):
                #expect(
                    problems(text + "\n[node.a]\ntype = \"tone\"\n").filter { $0.severity == .error } == [], "\(text)")
            default: continue
            }
        }
    }
}

/// Variables that stand for what is no text.
@Suite("Variables for numbers") struct VariableTests {
    private func load(_ line: String, _ environment: [String: String] = [:]) -> (GraphDescription?, [Diagnostic]) {
        var (graph, diagnostics) = ConfigFile.load(
            text: "[node.a]\ntype = \"tone\"\n\(line)\n", environment: environment)
        let catalog = NodeRegistry(search: PluginSearch(folders: [])).catalog(for: ["tone"])
        graph?.readVariables(catalog)
        if let graph { diagnostics += GraphBuilder.build(graph, catalog: catalog).diagnostics }
        return (graph, diagnostics.filter { $0.severity == .error })
    }

    @Test("One that is the whole string is what the key wants") func wanted() {
        let (graph, faults) = load(
            "level_db = \"${L:--6}\"\nmute = \"${M}\"\n[driver]\nrate = \"${R:-48000}\"", ["M": "true"])
        #expect(faults.isEmpty)
        #expect(graph?.nodes[0].entries["level_db"]?.value == .integer(-6))
        #expect(graph?.nodes[0].mute == true && graph?.driver.rate == 48_000)
    }

    @Test("One that is none is told with name and text; a part of a string is text") func refused() {
        let (_, faults) = load("level_db = \"${L}\"", ["L": "loud"])
        #expect(faults.map(\.message) == ["parameter 'level_db' must be a number, and ${L} is 'loud'"])
        #expect(faults.first?.location.line == 3)
        #expect(
            load("level_db = \"-${L}\"", ["L": "6"]).1.map(\.message) == [
                "parameter 'level_db' must be a number, not a string"
            ])
    }

    @Test("Where text is wanted it stays text") func text() {
        #expect(load("speaker = \"${S}\"", ["S": "7"]).0?.nodes[0].speaker == "7")
    }

    /// Follows what hints say to write, and sees that none takes back what another asked for.
    @Test(
        "Hints about quotes do not go in a circle",
        arguments: ["level_db", "wave", "repeat", "mute", "isolate", "tail", "speaker", "guard", "period"])
    func circles(_ key: String) {
        let values = [
            "1", "-6", ".5", "5.", "1.5", "007", "+.5", "true", "yes", "on", "nan", "inf", "1e3", "48k", "-6dB", "6 dB",
            "1,5",
            "\u{2212}6", "word", "\"1\"", "\".5\"", "\"5.\"", "\"true\"", "\"yes\"", "\"-6 dB\"", "\"1,5\"", "\"nan\"",
            "\"word\"", "\"\"", "null", "2024-01-31", "“word”", "[1]", "\"0x10\"", "\"1e999\"",
        ]
        for start in values {
            var (value, asked) = (start, Set<String>())
            for _ in 0..<6 {
                let hints = load("\(key) = \(value)").1.map(\.hint)
                // A leading zero may be left out, or be text: who wanted a number follows the first.
                func asks(_ hint: String) -> Bool {
                    hint.contains("quotes: ") && !hint.contains(", or write") || hint.hasPrefix("write it as ")
                }
                guard let hint = hints.first(where: asks) else {
                    break
                }
                asked.insert(hint.contains("without quotes") ? "without" : hint.contains("in quotes") ? "in" : "else")
                value = String(hint[(hint.range(of: "quotes: ") ?? hint.range(of: "write it as "))!.upperBound...])
            }
            #expect(!asked.isSuperset(of: ["in", "without"]), "\(key) = \(start)")
        }
    }
}
