// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// Runs the built program to its end.
private func finished(_ arguments: String...) throws -> (code: Int32, output: String, errors: String) {
    let process = Process()
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    process.executableURL = URL(fileURLWithPath: own).deletingLastPathComponent().appending(path: "voicegraph")
    process.arguments = arguments
    let output = Pipe()
    let errors = Pipe()
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    // Both are small enough to fit into their pipes.
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    let failure = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text, failure)
}

@Suite struct NodesCommandTests {
    @Test("`nodes` lists built-in types and plugins within 80 columns") func list() throws {
        let result = try finished("nodes")
        #expect(result.code == 0)
        for type in ["gain", "lv2", "tts", "agent", "file", "record", "denoise", "tremolo", "bitcrush"] {
            #expect(result.output.contains("\n  \(type) "))
        }
        // A plugin in a system folder that is left out, for one that lies here, is told with its whole path.
        let usable = result.output.components(separatedBy: "\nProblems\n")[0]
        let rows = usable.split(separator: "\n").filter { $0.hasPrefix(" ") }
        #expect(rows.allSatisfy { $0.count <= 80 })
    }

    @Test("`nodes` lists what cannot be used, with the reason") func unusable() throws {
        let folder = NSTemporaryDirectory() + "voicegraph-nodes-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try "nonsense".write(toFile: folder + "/libvg-broken.so", atomically: true, encoding: .utf8)
        let result = try finished("nodes", "--plugin-path", folder)
        #expect(result.code == 0)
        #expect(result.output.contains("Unavailable\n  broken "))
        #expect(result.output.contains("is not a shared object"))
        let described = try finished("describe", "broken", "--plugin-path", folder)
        #expect(described.code == 1 && described.errors.contains("node type broken is unavailable: libvg-broken.so is"))
        let json = try finished("nodes", "--json", "--plugin-path", folder)
        let lines = try json.output.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(lines.contains { $0["type"] as? String == "broken" && $0["available"] as? Bool == false })
    }

    @Test("`describe` shows parameters and settings, and suggests names") func describe() throws {
        let tremolo = try finished("describe", "tremolo")
        #expect(tremolo.output.contains("rate_hz  0.05 to 40 Hz, default 5, logarithmic\n"))
        #expect(tremolo.output.contains("depth    0 to 1, default 0.5               how far down"))
        let json = try finished("describe", "tts", "--json")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        #expect((object["settings"] as? [[String: Any]])?.contains { $0["key"] as? String == "voice" } == true)
        let lines = try finished("nodes", "--json").output.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        let mute = try #require(lines.first { $0["type"] as? String == "mute" })
        #expect((mute["parameters"] as? [[String: Any]])?.first?["flags"] as? [String] == ["toggle", "abrupt"])
        #expect((mute["settings"] as? [[String: Any]])?.first?["live"] as? Bool == false)
        let wrong = try finished("describe", "tremmolo")
        #expect(wrong.code == 1 && wrong.errors.contains("did you mean 'tremolo'?"))
    }

    @Test("`plugin new` refuses names that no file could use, and folders that are there") func refusedNames() throws {
        #expect(try finished("plugin", "new", "Bad Name").code == 64)
        #expect(try finished("plugin", "new", "gain").code == 64)
        let result = try finished("plugin", "new", "fine", "--path", NSTemporaryDirectory())
        #expect(result.code == 1 && result.errors.contains("is there already"))
    }

    @Test("`plugin new` writes a package", arguments: [("swift", "Sources/MyEcho/MyEcho.swift"), ("c", "my-echo.c")])
    func newPackage(language: String, source: String) throws {
        let folder = NSTemporaryDirectory() + "voicegraph-new-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let result = try finished("plugin", "new", "my-echo", "--language", language, "--path", folder)
        #expect(result.code == 0 && result.output.contains(source))
        for file in [source, "README.md", "example.conf"] {
            #expect(FileManager.default.fileExists(atPath: folder + "/" + file))
        }
        let text = try String(contentsOfFile: folder + "/" + source, encoding: .utf8)
        #expect(!text.contains("@NAME@") && !text.contains("@MODULE@") && !text.contains("@SYMBOL@"))
    }
}
