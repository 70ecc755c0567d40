// SPDX-License-Identifier: Apache-2.0
import Config
import Foundation
import Graph
import Host
import NodeKit
import NodeTrials
import TestSupport

@Suite struct TemplateTests {
    // Not `run`, which keeps the thread that it is called on: other tests need it meanwhile.
    private func finished(_ arguments: [String], environment: [String: String] = [:]) async throws {
        let result = try await runTool(arguments, environment: environment, seconds: 500)
        try #require(result.status == 0, "\(arguments): \(result.output)")
    }

    @Test(
        "A new plugin builds beside an installed voicegraph, without a network, and runs in a graph",
        .timeLimit(.minutes(10)))
    func newPlugin() async throws {
        let scratch = try Scratch()
        let prefix = scratch.file("prefix")
        let built = URL(fileURLWithPath: Program.voicegraph).deletingLastPathComponent().path
        try await finished([packageRoot + "/scripts/install", prefix, built])
        for language in ["swift", "c"] { try await newPlugin(language: language, prefix: prefix) }
    }

    private func newPlugin(language: String, prefix: String) async throws {
        let scratch = try Scratch()
        let package = scratch.file("package")
        try await finished(
            [prefix + "/bin/voicegraph", "plugin", "new", "my-effect", "--language", language, "--path", package])
        // Whoever would fetch something fails.
        let git = scratch.file("bin/git")
        try FileManager.default.createDirectory(atPath: scratch.file("bin"), withIntermediateDirectories: true)
        try "#!/bin/sh\nexit 1\n".write(toFile: git, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: git)
        let path = scratch.file("bin") + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "")
        try await finished(
            language == "swift"
                ? ["swift", "test", "--package-path", package, "--disable-automatic-resolution"]
                : ["make", "-C", package, "CFLAGS=-Wall -Wextra -Werror"],
            environment: ["PATH": path])
        let folder = language == "swift" ? package + "/.build/debug" : package
        // What is not optimized may lock at its first call.
        let looks = language == "swift" ? NodeCheck.Subject.allCases.filter { $0 != .realtime } : []
        try await finished(
            [prefix + "/bin/voicegraph", "plugin", "check", folder + "/libvg-my-effect.so", "--strict"]
                + looks.flatMap { ["--only", $0.rawValue] })
        let registry = NodeRegistry(search: PluginSearch(folders: [.init(folder)]))
        let (description, diagnostics) = ConfigFile.load(path: package + "/example.conf")
        #expect(diagnostics.isEmpty)
        let catalog = registry.catalog(for: try #require(description))
        #expect(GraphBuilder.build(description!, catalog: catalog).diagnostics.isEmpty)
        let node = try NodeHarness(try #require(catalog.types["my-effect"], "\(registry.failures)").type)
        node.set("amount_db", 20)
        let input = noise(1000)
        let output = node.run(1000, inputs: [input])[0]
        #expect(zip(input, output).allSatisfy { abs($0 * 0.1 - $1) < 1e-6 })
        // Its action, its event and its series.
        #expect(try node.perform("reset") == ["amount_db": .number(6)])
        #expect(node.capture.events.map(\.name) == ["reset"])
        let later = node.run(2000, inputs: [noise(2000)])[0]
        #expect(abs(later[1999] - noise(2000)[1999] * 0.5012) < 1e-4)
        #expect(node.capture.frames.contains { ($0.rows[0]?.first ?? 0) > 0.4 })
        try await readme(of: package, built: folder, scratch)
    }

    /// Runs the example, and does to it what the README of the plugin says.
    private func readme(of package: String, built: String, _ scratch: Scratch) async throws {
        let environment = ["XDG_RUNTIME_DIR": scratch.path]
        let run = try Program(
            [
                Program.voicegraph, "run", package + "/example.conf", "--plugin-path", built, "--driver", "dummy",
                "--json",
            ],
            environment: environment)
        try await run.wait("it plays") { !$0.lines.isEmpty }
        let calls = try String(contentsOfFile: package + "/README.md", encoding: .utf8).split(separator: "\n").map {
            $0.split(separator: " ").map(String.init)
        }.filter { $0.starts(with: ["voicegraph", "ctl"]) && $0 != ["voicegraph", "ctl", "events"] }
        #expect(calls.count == 2)
        for call in calls { try await finished([Program.voicegraph] + call.dropFirst(), environment: environment) }
        try await run.wait("its event") { $0.lines.contains { $0.contains("\"event\":\"reset\"") } }
        run.signal(SIGTERM)
        #expect(try await run.end() == 0)
    }

    @Test("A program that depends on the host as the README shows it fetches swift-collections and nothing else")
    func dependent() async throws {
        let readme = try String(contentsOfFile: packageRoot + "/README.md", encoding: .utf8)
        let shown = try #require(readme.components(separatedBy: "```").first { $0.contains("traits: []") })
        let scratch = try Scratch()
        let lines = shown.drop { $0 != "\n" }.replacing("../voicegraph", with: packageRoot)
        try "// swift-tools-version: 6.2\nimport PackageDescription\nlet package = Package(name: \"player\",\(lines))\n"
            .write(toFile: scratch.file("Package.swift"), atomically: true, encoding: .utf8)
        try FileManager.default.createDirectory(
            atPath: scratch.file("Sources/player"), withIntermediateDirectories: true)
        try "import Host\n".write(toFile: scratch.file("Sources/player/main.swift"), atomically: true, encoding: .utf8)
        try await finished(["swift", "package", "--package-path", scratch.path, "resolve"])
        let fetched = try FileManager.default.contentsOfDirectory(atPath: scratch.file(".build/checkouts"))
        #expect(fetched == ["swift-collections"])
    }
}
