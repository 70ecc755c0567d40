// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import TestSupport
import VoiceGraph

@Suite(.timeLimit(.minutes(5))) struct ExampleTests {
    @Test("The program that the README shows is compiled here, and plays") func readme() async throws {
        let scratch = try Scratch()
        let driver = DriverRequest(kind: .dummy)
        // README
        let graph = Graph("voice") {
            let mic = Input("mic")
            mic => Gain("level", gainDB: -6) => Tap("tap") => Output("out")
            mic => Record("take", path: "take.flac")
        }
        let host = Host()
        // README
        var placed = graph
        placed.description.baseFolder = scratch.path
        try await host.load(placed)
        try await host.run(driver)
        var frames = 0
        for await audio in host.audio(of: "tap") {
            frames += audio.channels[0].count
            if frames > 10_000 { break }
        }
        await host.stop()
        let shown = try String(contentsOfFile: packageRoot + "/README.md", encoding: .utf8)
        let own = try String(contentsOfFile: #filePath, encoding: .utf8)
        let lines = own.components(separatedBy: "// README\n")[1].split(separator: "\n").dropLast()
        for line in lines { #expect(shown.contains(line.dropFirst(8)), "README.md does not show\n\(line)") }
    }
}
