// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

@Suite("Architecture") struct ArchitectureTests {
    let sources = sourceFiles(["Sources", "Plugins"])

    @Test("Every import is one that the table allows")
    func imports() {
        let swift = sources.filter(\.isSwift)
        #expect(swift.count > 20)
        for violation in swift.flatMap(importViolations) { Issue.record("\(violation)") }
    }

    @Test("Every folder of sources in Swift is in the table")
    func folders() {
        let layers = Set(sources.filter(\.isSwift).map(\.layer))
        #expect(layers.subtracting(allowedImports.keys).isEmpty)
    }

    @Test("DESIGN.md has the table of folders, as it stands beside the rules")
    func table() throws {
        let text = try String(contentsOf: packageRoot.appending(path: "DESIGN.md"), encoding: .utf8)
        let found = try #require(text.firstMatch(of: /<!-- imports: begin -->\n((?:.|\n)*)<!-- imports: end -->/)).1
        #expect(found == folderTable[...], "write this between the marks:\n\(folderTable)")
    }

    @Test("Every source file names its licence on the first line")
    func licences() {
        let files = sources + sourceFiles(["Tests"])
        for violation in files.flatMap(licenceViolations) { Issue.record("\(violation)") }
    }

    @Test("Every function of the audio path is checked by the compiler")
    func audioPath() {
        let files = sources.filter(\.isSwift)
        #expect(files.count { $0.text.contains("static func process(_ state: inout ") } > 20)
        for violation in files.flatMap(audioPathViolations) { Issue.record("\(violation)") }
    }

    @Test("No audio half of a node has a pointer")
    func pointers() {
        let files = sources.filter(\.isSwift)
        for violation in files.flatMap(pointerViolations) { Issue.record("\(violation)") }
    }

    @Test("No node is known by the name of its type or of an event outside of the folders of nodes")
    func nodeNames() {
        let names = NodeNames(sources)
        #expect(names.types.count > 30 && names.events.contains("speech.started"))
        let others = sources.filter(\.isSwift) + sourceFiles(["Sources/Server/Page"], suffixes: [".js"])
        for violation in others.flatMap(names.violations) { Issue.record("\(violation)") }
    }

    @Test("Every test's name is a sentence")
    func testNames() {
        let files = sourceFiles(["Tests"], suffixes: [".swift"])
        #expect(files.count > 50)
        for violation in files.flatMap(testNameViolations) { Issue.record("\(violation)") }
    }

    @Test("Every plugin's folder has a README")
    func readmes() throws {
        let plugins = packageRoot.appending(path: "Plugins")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: plugins.path)) ?? []
        for name in names where !name.hasPrefix(".") {
            var isFolder: ObjCBool = false
            let path = plugins.appending(path: name).path
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else {
                continue
            }
            #expect(FileManager.default.fileExists(atPath: path + "/README.md"), "Plugins/\(name) has no README.md")
        }
    }
}

@Suite("Architecture rules") struct RuleTests {
    @Test(
        "An import outside the table is found, however it is written",
        arguments: [
            ("Sources/Realtime/A.swift", "import NodeKit"),
            ("Sources/NodeKit/A.swift", "import Graph"),
            ("Sources/Graph/A.swift", "import Nodes"),
            ("Sources/Graph/A.swift", "import Foundation"),
            ("Sources/Drivers/A.swift", "import FoundationEssentials"),
            ("Sources/voicegraph/A.swift", "import Foundation"),
            ("Sources/Graph/A.swift", "@_exported import Host"),
            ("Sources/Graph/A.swift", "@testable import Host"),
            ("Sources/Host/A.swift", "@_exported import Graph"), ("Sources/Picture/A.swift", "import Host"),
            ("Sources/Control/A.swift", "import LV2"), ("Sources/System/A.swift", "import Realtime"),
            ("Sources/Graph/A.swift", "  private import Host"),
            ("Sources/Graph/A.swift", "import struct Host.Event"),
            ("Sources/Graph/A.swift", "@preconcurrency public import class Host.Host"),
            ("Sources/Graph/A.swift", "import Host // why not"),
            ("Sources/Picture/A.swift", "import Terminal"),
            ("Sources/Unknown/A.swift", "import Host"),
            ("Plugins/Echo/A.swift", "import Host"),
            ("Plugins/Echo/A.swift", "import CJack"), ("Plugins/Agent/A.swift", "import FoundationNetworking"),
        ])
    func foundImports(path: String, line: String) {
        let file = SourceFile(path: path, text: "// SPDX-License-Identifier: Apache-2.0\n\(line)\n")
        #expect(importViolations(file).count == 1)
        #expect(importViolations(file).allSatisfy { $0.hasPrefix("\(path):2: ") })
    }

    @Test(
        "An import of the table, of the system, or a word in a comment is not",
        arguments: [
            ("Sources/Graph/A.swift", "import NodeKit"), ("Sources/Graph/A.swift", "import Glibc"),
            ("Sources/Graph/A.swift", "/// Some import Host example"),
            ("Plugins/TTS/A.swift", "import CEspeak"),
            ("Sources/Graph/A.swift", "let important = 1"),
        ])
    func allowed(path: String, line: String) {
        #expect(importViolations(SourceFile(path: path, text: line)) == [])
    }

    @Test(
        "A wrong or missing licence is found",
        arguments: [
            ("Sources/A/A.swift", "import Glibc\n", false),
            ("Sources/A/A.swift", "// SPDX-License-Identifier: Apache-2.0\n", true),
            ("Sources/A/A.swift", "// SPDX-License-Identifier: MIT\n", false),
            ("Sources/A/A.swift", "//\n//\n// SPDX-License-Identifier: Apache-2.0\n", false),
            ("Plugins/TTS/A.swift", "// SPDX-License-Identifier: Apache-2.0\n", false),
            ("Plugins/TTS/A.swift", "// SPDX-License-Identifier: GPL-3.0-or-later\n", true),
            ("Plugins/TTSOther/A.swift", "// SPDX-License-Identifier: GPL-3.0-or-later\n", false),
        ])
    func licence(path: String, text: String, fine: Bool) {
        #expect(licenceViolations(SourceFile(path: path, text: text)).isEmpty == fine)
    }

    @Test(
        "A function of the audio path without the attribute is found",
        arguments: [
            ("@_noLocks\nprivate func gainProcess() {}", true),
            ("@_noLocks func gainProcess() {}", true),
            ("@_noLocks\n@inline(__always)\n// Why.\nfunc gainAbsorb() {}", true),
            ("private func gainProcess() {}", false),
            ("@_noLocks\nfunc other() {}\n\nfunc gainAbsorb() {}", false),
            ("func processAll() {}", true),
            ("static func process(_ state: inout Processor, _ block: borrowing Block) {}", false),
            ("private func tune(\n    _ state: inout State, _ block: borrowing Block\n) {}", false),
            ("static func process(_ block: borrowing Block)\n}\n\nextension Gain {", true),
            ("@_noLocks\nprivate func tune(_ block: borrowing Block) {}", true),
        ])
    func attribute(text: String, fine: Bool) {
        #expect(audioPathViolations(SourceFile(path: "Sources/Nodes/A.swift", text: text)).isEmpty == fine)
    }

    @Test(
        "A pointer in an audio half is found",
        arguments: [
            ("@_noLocks func gain(_ samples: UnsafePointer<Float>) {}", false),
            ("@_noLocks func gain() {}\nlet state = memory.assumingMemoryBound(to: Int.self)", false),
            ("@_noLocks func gain() {}\n@c(vg_plugin_entry) func entry() -> UnsafePointer<vg_plugin>? {", true),
            ("func publish(_ samples: UnsafePointer<Float>) {}", true),
        ])
    func pointer(text: String, fine: Bool) {
        let text = "import NodeKit\n" + text
        #expect(pointerViolations(SourceFile(path: "Plugins/A/A.swift", text: text)).isEmpty == fine)
        #expect(pointerViolations(SourceFile(path: "Sources/LV2/A.swift", text: text)).isEmpty)
    }

    @Test(
        "A test whose name is no sentence is found",
        arguments: [
            (#"@Test("Every file is read") func read() {}"#, true),
            ("@Test(\n\"`ls` lists all\", arguments: [1])\nfunc list(_ number: Int) {}", true),
            (#"@Test("13: A \"state\" is kept") func state() {}"#, true),
            ("@Test func everyFileIsRead() {}", false),
            ("@Test func `every file is read`() {}", false),
            ("@Test(arguments: [1]) func everyFileIsRead(_ number: Int) {}", false),
            (#"@Test("every file is read") func read() {}"#, false),
            (#"@Test("everyFileIsRead") func read() {}"#, false),
            (#"@Test("Every file is read.") func read() {}"#, false),
        ])
    func names(text: String, fine: Bool) {
        #expect(testNameViolations(SourceFile(path: "Tests/ATests/ATests.swift", text: text)).isEmpty == fine)
    }
}
