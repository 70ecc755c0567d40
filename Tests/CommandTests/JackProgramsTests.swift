// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// Programs that know nothing of voicegraph, on both sides of it.
@Suite("Unmodified JACK programs", .timeLimit(.minutes(3)))
struct JackProgramsTests {
    private static let signal: [Float] = {
        var random = TestRandom(seed: 48)
        return (0..<48_000).map { _ in random.sample() * 0.4 + 0.5 }
    }()

    @Test("`ecasound` plays, jack-record hears the same samples")
    func ecasoundToRecord() async throws {
        let server = try await Jackd.start(block: 1024)
        let folder = FileManager.default.temporaryDirectory.appending(path: "voicegraph-programs-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let graph = """
            [graph]
            name = "wire"
            links = ["in -> out"]
            [node.in]
            type = "input"
            [node.out]
            type = "output"
            channels = 1
            """
        try graph.write(to: folder.appending(path: "wire.conf"), atomically: true, encoding: .utf8)
        try Self.signal.withUnsafeBytes { Data($0) }.write(to: folder.appending(path: "signal.raw"))

        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let voicegraph = URL(filePath: own).deletingLastPathComponent().appending(path: "voicegraph").path
        let host = try start([voicegraph, "run", "wire.conf", "--server", server.name], folder, server)
        defer { end(host) }
        try await lists(server, "wire:out_1")
        let recorder = try start(
            ["jack-record", "-b", "65536", "-n", "1", "-p", "wire:out_%d", "heard.wav"], folder, server)
        defer { end(recorder) }
        try await lists(server, "wire:out_1\n   jack-record")
        let player = try start(
            ["ecasound", "-q", "-f:f32_le,1,48000", "-i", "signal.raw", "-o", "jack,wire"], folder, server)
        defer { end(player) }
        // It has played when it is there and has left again.
        try await lists(server, "ecasound")
        try await eventually("ecasound has played", seconds: 60) { !player.isRunning }
        let heard = folder.appending(path: "heard.wav")
        try await eventually("all is recorded", seconds: 60) {
            (try? samples(heard))?.split(separator: 0).contains { $0.count >= Self.signal.count } ?? false
        }
        #expect(try samples(heard).split(separator: 0).map(Array.init) == [Self.signal])
        end(recorder)
        end(host)
        server.stop()
    }

    private func start(_ arguments: [String], _ folder: URL, _ server: Jackd) throws -> Process {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        process.currentDirectoryURL = folder
        var environment = ProcessInfo.processInfo.environment
        environment["LD_PRELOAD"] = nil
        environment["JACK_DEFAULT_SERVER"] = server.name
        environment["JACK_NO_START_SERVER"] = "1"
        process.environment = environment
        for stream in [FileHandle.nullDevice] {
            process.standardInput = stream
            process.standardOutput = stream
            process.standardError = stream
        }
        try process.run()
        return process
    }

    private func end(_ process: Process) {
        guard process.isRunning else { return }
        process.interrupt()
        process.waitUntilExit()
    }

    private func lists(_ server: Jackd, _ text: String) async throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while try await !server.tool("jack_lsp", "-c").contains(text) {
            try #require(ContinuousClock.now < deadline, "jack_lsp does not show \(text)")
        }
    }

    /// The data of a mono float WAV file that may still be growing.
    private func samples(_ file: URL) throws -> [Float] {
        let data = try Data(contentsOf: file)
        guard let chunk = data.range(of: Data("data".utf8)) else { return [] }
        let bytes = data[min(chunk.upperBound + 4, data.endIndex)...]
        return bytes.withUnsafeBytes { raw in
            (0..<raw.count / 4).map { raw.loadUnaligned(fromByteOffset: $0 * 4, as: Float.self) }
        }
    }
}
