// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// The README's graphs and commands, as a reader would type them.
@Suite("README")
struct ReadmeTests {
    private struct Block {
        var language: String
        var text: String
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized

    private func blocks() throws -> [Block] {
        let text = try String(contentsOf: Self.root.appending(path: "README.md"), encoding: .utf8)
        return text.components(separatedBy: "\n```").dropFirst().enumerated().compactMap { index, part in
            guard index % 2 == 0, let end = part.firstIndex(of: "\n") else { return nil }
            return Block(language: String(part[..<end]), text: String(part[part.index(after: end)...]))
        }
    }

    @Test("Every command in it succeeds, on the graphs shown in it", .timeLimit(.minutes(3)))
    func commands() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "voicegraph-readme-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: folder) }
        let environment = ["XDG_RUNTIME_DIR": folder.path, "XDG_DATA_HOME": folder.path + "/data"]
        try FileManager.default.createSymbolicLink(
            at: folder.appending(path: "config"), withDestinationURL: Self.root.appending(path: "config"))
        var commands = 0
        for block in try blocks() {
            if block.language == "toml" {
                let name = try #require(
                    block.text.split(separator: "\n").first?.dropFirst(2), "a name on the first line")
                try block.text.write(to: folder.appending(path: name), atomically: true, encoding: .utf8)
            } else if block.language == "sh" {
                var playing: Program?
                for line in block.text.split(separator: "\n") {
                    var command = String(line)
                    if command.hasSuffix(" --watch") {
                        // It plays while the rest of the block is typed.
                        playing = try Program(
                            ["bash", "-c", "exec \(command) --driver dummy --json"],
                            environment: environment, folder: folder.path)
                        try await playing?.wait("it plays") { $0.output.contains("\"event\":\"series\"") }
                        commands += 1
                        continue
                    }
                    // The usual port may be somebody's.
                    if command.hasSuffix(" --web") { command += " 0" }
                    if command.hasPrefix("voicegraph run") {
                        // The reader's own server or ours, and for ever: here always ours, and briefly.
                        command += " --driver dummy" + (command.contains("--until-idle") ? "" : " --duration 0.3")
                    }
                    let result = try await runTool(
                        ["bash", "-c", "cd '\(folder.path)' && \(command)"], environment: environment, seconds: 60)
                    #expect(result.status == 0, "\(command)\n\(result.output)")
                    commands += 1
                }
                playing?.signal(SIGINT)
                if let playing { #expect(try await playing.end() == 0, "\(playing.errors)") }
            }
        }
        #expect(commands >= 10)
    }

    @Test("Every file and target it names exists")
    func names() throws {
        let text = try String(contentsOf: Self.root.appending(path: "README.md"), encoding: .utf8)
        for match in text.matches(of: /\]\(([^)]+)\)/) where !match.1.hasPrefix("http") {
            if match.1.hasPrefix("#") {
                // A section, by its heading in small letters and with hyphens.
                let headings = text.matches(of: /\n#+ ([^\n]+)/).map {
                    $0.1.lowercased().filter { $0.isLetter || $0.isNumber || $0 == " " }.replacing(" ", with: "-")
                }
                #expect(headings.contains(String(match.1.dropFirst())), "\(match.1)")
                continue
            }
            #expect(
                FileManager.default.fileExists(atPath: Self.root.appending(path: String(match.1)).path), "\(match.1)")
        }
        let targets = try String(contentsOf: Self.root.appending(path: "Makefile"), encoding: .utf8)
        for match in text.matches(of: /make ([a-z0-9-]+)/) {
            #expect(targets.contains("\n\(match.1):"), "make \(match.1)")
        }
    }
}
