// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import TestSupport
import VoiceGraph

@Suite struct NodeTypesTests {
    /// The sources, of which this file is one.
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Sources/VoiceGraph/Types")

    private static let programs = URL(fileURLWithPath: Program.voicegraph).deletingLastPathComponent().path

    /// How something is laid out does not count.
    private func words(_ text: String) -> String { text.filter { !$0.isWhitespace && $0 != "," } }

    @Test("The Swift types of nodes are what the types of nodes declare") func sources() throws {
        let registry = NodeRegistry(search: PluginSearch(folders: [.init(Self.programs, onlyPrefixed: true)]))
        let made = NodeTypeSources(catalog: registry.fullCatalog()).files
        #expect(made.count == 7)
        if ProcessInfo.processInfo.environment["VOICEGRAPH_WRITE_TYPES"] != nil {
            try FileManager.default.createDirectory(at: Self.folder, withIntermediateDirectories: true)
            for (name, text) in made {
                try text.write(to: Self.folder.appending(path: name), atomically: true, encoding: .utf8)
            }
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(Set(files) == Set(made.keys))
        for (name, text) in made {
            let read = try String(contentsOf: Self.folder.appending(path: name), encoding: .utf8)
            #expect(
                words(read) == words(text),
                "\(name) is old: run this test with VOICEGRAPH_WRITE_TYPES=1, then make format")
        }
    }
}
