// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The broken LV2 bundles of the fixtures, with their code built by the C compiler, once per process.
public enum BrokenBundles {
    /// The folder they lie in.
    public static func folder() throws -> String { try built.get() }

    /// The URI of the plugin that breaks in this way.
    public static func uri(_ fault: String) -> String { "urn:voicegraph:broken:\(fault)" }

    private static let target = NSTemporaryDirectory() + "voicegraph-broken-\(UUID().uuidString)"

    private static let built = Result { () -> String in
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Fixtures/lv2/broken")
        atexit { try? FileManager.default.removeItem(atPath: target) }
        try FileManager.default.copyItem(atPath: source.path, toPath: target)
        for bundle in try FileManager.default.contentsOfDirectory(atPath: target) {
            let name = target + "/" + bundle + "/" + (bundle as NSString).deletingPathExtension
            guard FileManager.default.fileExists(atPath: name + ".c") else { continue }
            let compiler = Process()
            compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            compiler.arguments = ["clang", "-shared", "-fPIC", "-o", name + ".so", name + ".c"]
            // A sanitizer that is preloaded into the tests is not meant for the compiler.
            compiler.environment = ProcessInfo.processInfo.environment.filter { $0.key != "LD_PRELOAD" }
            try compiler.run()
            compiler.waitUntilExit()
            guard compiler.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
        }
        return target
    }
}

/// The built program, beside the tests.
public func commandPath() throws -> String {
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return URL(fileURLWithPath: own).deletingLastPathComponent().appending(path: "voicegraph").path
}
