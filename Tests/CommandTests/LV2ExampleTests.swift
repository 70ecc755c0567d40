// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// The LV2 plugin in Swift, built by its script, in another host and in ours.
@Suite(.timeLimit(.minutes(3)))
final class LV2ExampleTests {
    private let folder = NSTemporaryDirectory() + "voicegraph-example-\(UUID().uuidString)"
    private var environment: [String: String] { ["LV2_PATH": folder, "XDG_CACHE_HOME": folder + "/cache"] }

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func run(_ arguments: [String]) async throws -> String {
        let result = try await runTool(arguments, environment: environment)
        #expect(result.status == 0, "\(arguments.joined(separator: " ")): \(result.output)")
        return result.output
    }

    @Test("`lv2apply` and voicegraph load it and play the same samples")
    func playsTheSameEverywhere() async throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().path
        let command = try commandPath()
        _ = try await run([root + "/scripts/lv2-example", folder])
        let needed = try await run(["readelf", "-d", folder + "/warmth.lv2/warmth.so"]).split(separator: "\n")
            .filter { $0.contains("NEEDED") }
        #expect(needed.allSatisfy { $0.contains("libc.so") || $0.contains("libm.so") }, "the C library is enough")
        let exported = try await run(["nm", "-D", "--defined-only", folder + "/warmth.lv2/warmth.so"])
        #expect(exported.split(separator: "\n").count == 1 && exported.contains(" T lv2_descriptor"))

        try """
        [graph]
        links = ["tone -> out"]
        [node.tone]
        type = "tone"
        wave = "noise"
        [node.out]
        type = "output"
        channels = 1
        """.write(toFile: folder + "/noise.conf", atomically: true, encoding: .utf8)
        let noise = folder + "/noise.wav"
        _ = try await run([command, "render", folder + "/noise.conf", "-o", noise, "--duration", "0.25"])
        try """
        [graph]
        links = ["mic -> warm -> out"]
        [node.mic]
        type = "input"
        [node.warm]
        type = "lv2"
        plugin = "Warmth"
        params = { drive = "Hot", level = -9 }
        [node.out]
        type = "output"
        channels = 1
        """.write(toFile: folder + "/warm.conf", atomically: true, encoding: .utf8)
        let (theirs, ours) = (folder + "/theirs.wav", folder + "/ours.wav")
        _ = try await run([
            "lv2apply", "-i", noise, "-o", theirs, "-c", "drive", "30", "-c", "level", "-9",
            "urn:voicegraph:lv2:warmth",
        ])
        _ = try await run([
            command, "render", folder + "/warm.conf", "-o", ours, "--input", "mic=\(noise)", "--block", "100",
            "--duration", "0.25",
        ])
        _ = try await run(["sndfile-cmp", theirs, ours])
        // Not because both are silent or untouched.
        let changed = try await runTool(["sndfile-cmp", noise, ours])
        #expect(changed.status != 0)
        #expect(try await run(["sndfile-info", ours]).contains("12000"))
    }
}
