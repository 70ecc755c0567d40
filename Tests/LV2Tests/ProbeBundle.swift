// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import LV2

/// The bundle of plugins that tell what their host does, built once with the C compiler.
enum ProbeBundle {
    static let probe = "urn:voicegraph:test:probe"

    /// The folder of the built bundle, which the shared world then knows.
    static func load() throws -> String { try built.get() }

    private static let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("voicegraph-\(UUID().uuidString)")

    private static let built = Result {
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Fixtures/lv2/probe.lv2")
        let bundle = folder.appendingPathComponent("probe.lv2")
        atexit { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            at: source.appendingPathComponent("manifest.ttl"), to: bundle.appendingPathComponent("manifest.ttl"))
        let compiler = Process()
        compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        compiler.arguments = [
            "clang", "-shared", "-fPIC", "-o", bundle.appendingPathComponent("probe.so").path,
            source.appendingPathComponent("probe.c").path,
        ]
        // A sanitizer that is preloaded into the tests is not meant for the compiler.
        compiler.environment = ProcessInfo.processInfo.environment.filter { $0.key != "LD_PRELOAD" }
        try compiler.run()
        compiler.waitUntilExit()
        try #require(compiler.terminationStatus == 0, "the C compiler failed")
        World.shared.add(bundle: bundle.path)
        return bundle.path
    }
}
