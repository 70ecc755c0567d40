// SPDX-License-Identifier: Apache-2.0
import Config
import Drivers
import Foundation
import Graph
import Host
import NodeKit
import TestSupport

@testable import Archive

/// Nodes that recognize and record, played offline.
@Suite(.timeLimit(.minutes(2))) struct RealNodesTests {
    @Test("What transcribe and record tell of a voice is kept where the file says keep, and nothing of the others")
    func voice() async throws {
        let scratch = try Scratch()
        let voice = scratch.file("voice.wav")
        try await runTool(["flite", "-voice", "kal16", "-t", "good morning to you all", voice])
        let file = try scratch.write(
            "talk.conf",
            """
            [graph]
            name = "talk"
            links = ["voice -> ear", "voice -> other", "voice -> tape"]
            [node.voice]
            type = "file"
            path = "\(voice)"
            [node.ear]
            type = "transcribe"
            engine = "command"
            command = "cat > /dev/null; echo good morning"
            keep = true
            speaker = "Anna"
            [node.other]
            type = "transcribe"
            engine = "command"
            command = "cat > /dev/null; echo secret"
            [node.tape]
            type = "record"
            path = "take.wav"
            keep = true
            """)
        let folder = URL(filePath: Program.voicegraph).deletingLastPathComponent().path
        let bus = EventBus()
        let (ready, diagnostics) = try PreparedGraph.load(
            path: file, registry: NodeRegistry(search: PluginSearch(folders: [.init(folder)])), bus: bus)
        let prepared = try #require(ready, "\(DiagnosticFormat(color: false).text(diagnostics))")
        let path = scratch.file("archive.sqlite")
        let writer = ArchiveWriter(
            bus.subscribe(.lossless, where: ArchiveWriter.wants), session: .init(graph: "talk", file: file), path: path
        ) { bus.tell($0, $1) }
        let driver = OfflineDriver(rate: 16_000, maxBlock: 512)
        let graph = try RunningGraph.start(prepared, on: driver)
        var blocks = 0
        while !graph.isIdle || blocks < 100 {
            graph.wait(frames: 512)
            driver.process(frames: 512)
            graph.pump()
            blocks += 1
        }
        graph.stop()
        let outcome = writer.finish()
        #expect(outcome == ArchiveWriter.Outcome(lost: 0, reason: "", session: 1))
        let archive = try #require(try Archive.open(path))
        let items = try archive.items()
        #expect(items.map(\.text) == ["good morning"])
        #expect(items.map(\.speaker) == ["Anna"])
        #expect(items.map(\.state) == [.whole])
        let item = try #require(items.first)
        #expect(item.start >= 0 && item.end > item.start + 0.3)
        let takes = try archive.takes()
        #expect(takes.map(\.path) == [scratch.file("take.wav")])
        #expect(takes.map(\.state) == [.whole])
        #expect(takes.first?.frames == Int64(blocks * 512))
        #expect(takes.first?.rate == 16_000)
        #expect(takes.first.map { FileManager.default.fileExists(atPath: $0.file) } == true)
    }
}
