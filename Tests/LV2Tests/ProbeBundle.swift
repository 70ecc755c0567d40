// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import LV2

/// The bundles of plugins that tell what their host does, each built once with the C compiler.
enum ProbeBundle {
    static let probe = "urn:voicegraph:test:probe"
    static let begin = "urn:voicegraph:test:begin"

    /// The folder of the built bundle, which the shared world then knows.
    static func load() throws -> String { try built.get() }

    /// The same of the one that tells what it begins with.
    static func loadBegin() throws -> String { try begun.get() }

    private static let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("voicegraph-\(UUID().uuidString)")

    private static let built = Result { try build("probe") }
    private static let begun = Result { try build("begin") }

    private static func build(_ name: String) throws -> String {
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Fixtures/lv2/\(name).lv2")
        let bundle = folder.appendingPathComponent(name).appendingPathComponent("\(name).lv2")
        atexit { try? FileManager.default.removeItem(at: ProbeBundle.folder) }
        try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            at: source.appendingPathComponent("manifest.ttl"), to: bundle.appendingPathComponent("manifest.ttl"))
        let compiler = Process()
        compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        compiler.arguments = [
            "clang", "-shared", "-fPIC", "-o", bundle.appendingPathComponent("\(name).so").path,
            source.appendingPathComponent("\(name).c").path,
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
