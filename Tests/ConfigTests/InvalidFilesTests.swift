// SPDX-License-Identifier: Apache-2.0
import Config
import Foundation
import Graph
import Host
import TestSupport

/// The files of config/invalid: each says in its first lines what is to be said about it.
@Suite struct InvalidFilesTests {
    static let folder =
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "config/invalid").path + "/"
    static let files = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
        .filter { $0.hasSuffix(".conf") }.sorted()

    @Test("There are many distinct mistakes") func distinctMistakes() throws {
        let messages = try Set(Self.files.flatMap { try Self.expected($0).prefix(1) })
        #expect(Self.files.count >= 60)
        // The place is part of the expectation: without it no two files may be about the same.
        #expect(Set(messages.map { $0.drop { $0.isNumber || $0 == ":" } }).count >= Self.files.count - 2)
    }

    @Test("Every mistake has its place and its words", arguments: files)
    func everyMistake(_ file: String) throws {
        let expected = try Self.expected(file)
        try #require(!expected.isEmpty, "\(file) does not say what is expected")
        let path = Self.folder + file
        var (description, diagnostics) = ConfigFile.load(path: path, environment: [:])
        if let description {
            let catalog = NodeRegistry(search: PluginSearch(folders: [])).catalog(for: description)
            diagnostics += GraphBuilder.build(description, catalog: catalog).diagnostics
        }
        // A file that expects no hint may have any.
        let wantsHints = expected.contains { $0.hasPrefix("hint: ") }
        let found = DiagnosticFormat.sorted(diagnostics).flatMap { diagnostic -> [String] in
            let place = diagnostic.location
            let name = place.file == path ? "" : place.file + ":"
            let line = "\(name)\(place.line):\(place.column): \(diagnostic.severity): \(diagnostic.message)"
            let hint = diagnostic.hint.isEmpty || !wantsHints ? [] : ["hint: " + diagnostic.hint]
            return ([line] + hint).map { $0.replacingOccurrences(of: Self.folder, with: "") }
        }
        #expect(found == expected)
    }

    private static func expected(_ file: String) throws -> [String] {
        let beside = folder + file.dropLast(".conf".count) + ".expect"
        let source = FileManager.default.fileExists(atPath: beside) ? beside : folder + file
        let text = String(decoding: try Data(contentsOf: URL(filePath: source)), as: UTF8.self)
        return text.split(separator: "\n").prefix { $0.hasPrefix("# expect: ") || $0.hasPrefix("# hint: ") }
            .map { $0.hasPrefix("# expect: ") ? String($0.dropFirst("# expect: ".count)) : String($0.dropFirst(2)) }
    }
}
