// SPDX-License-Identifier: Apache-2.0
import Config
import Foundation
import Graph
import Host
import NodeKit
import TestSupport

@Suite struct TemplateTests {
    @Test(
        "A new plugin builds, and runs in a graph", .timeLimit(.minutes(5)), arguments: PluginTemplate.Language.allCases
    )
    func newPlugin(language: PluginTemplate.Language) async throws {
        let scratch = try Scratch()
        let template = PluginTemplate(
            name: "my-effect", language: language, source: packageRoot,
            include: packageRoot + "/Sources/CNode/include")
        for file in template.files {
            let url = URL(fileURLWithPath: scratch.file(file.path))
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try file.text.write(to: url, atomically: true, encoding: .utf8)
        }
        let build =
            switch language {
            case .swift: ["swift", "build", "--package-path", scratch.path]
            case .c: ["make", "-C", scratch.path, "CFLAGS=-Wall -Wextra -Werror"]
            }
        // Not `run`, which keeps the thread that it is called on: other tests need it meanwhile.
        let result = try await runTool(build, seconds: 280)
        try #require(result.status == 0, "\(result.output)")
        let folder = language == .swift ? scratch.file(".build/debug") : scratch.path
        let registry = NodeRegistry(search: PluginSearch(folders: [.init(folder)]))
        let (description, diagnostics) = ConfigFile.load(path: scratch.file("example.conf"))
        #expect(diagnostics.isEmpty)
        let catalog = registry.catalog(for: try #require(description))
        #expect(GraphBuilder.build(description!, catalog: catalog).diagnostics.isEmpty)
        let node = try NodeHarness(try #require(catalog.types["my-effect"], "\(registry.failures)").type)
        node.set("amount_db", 20)
        let input = noise(1000)
        let output = node.run(1000, inputs: [input])[0]
        #expect(zip(input, output).allSatisfy { abs($0 * 0.1 - $1) < 1e-6 })
    }
}
