// SPDX-License-Identifier: Apache-2.0
import Config
import Drivers
import Foundation
import Glibc
import Host
import NodeKit
import TestSupport

@testable import Archive

/// A voice that two nodes listen to and one records, of which one of the listeners and the recorder say keep.
private func talk(_ voice: String, looping: Bool = false) -> String {
    """
    [graph]
    name = "talk"
    links = ["voice -> ear", "voice -> other", "voice -> tape"]
    [node.voice]
    type = "file"
    path = "\(voice)"
    loop = \(looping)
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
    """
}

/// A graph from a file and the plugins beside the command, on a driver, with a writer of what it says is to be kept.
private func start(
    _ file: String, archive path: String, on driver: any Driver
) throws -> (graph: RunningGraph, writer: ArchiveWriter) {
    let folder = URL(filePath: Program.voicegraph).deletingLastPathComponent().path
    let bus = EventBus()
    let (ready, diagnostics) = try PreparedGraph.load(
        path: file, registry: NodeRegistry(search: PluginSearch(folders: [.init(folder)])), bus: bus)
    let prepared = try #require(ready, "\(DiagnosticFormat(color: false).text(diagnostics))")
    let writer = ArchiveWriter(
        bus.subscribe(.lossless, where: ArchiveWriter.wants), session: .init(graph: "talk", file: file), path: path
    ) { bus.tell($0, $1) }
    return (try RunningGraph.start(prepared, on: driver), writer)
}

/// Nodes that recognize and record, played offline and by a timer.
@Suite(.timeLimit(.minutes(3))) struct RealNodesTests {
    private let scratch: Scratch
    private let voice: String
    private let path: String

    init() throws {
        scratch = try Scratch()
        voice = scratch.file("voice.wav")
        path = scratch.file("archive.sqlite")
    }

    /// With a pause behind it, in which an item ends.
    private func speak() async throws {
        try await runTool(["flite", "-voice", "kal16", "-t", "good morning to you all", scratch.file("said.wav")])
        try await runTool(["sox", scratch.file("said.wav"), voice, "pad", "0", "1.5"])
    }

    @Test("What transcribe and record tell of a voice is kept where the file says keep, and nothing of the others")
    func kept() async throws {
        try await speak()
        let file = try scratch.write("talk.conf", talk(voice))
        let driver = OfflineDriver(rate: 16_000, maxBlock: 512)
        let (graph, writer) = try start(file, archive: path, on: driver)
        var blocks = 0
        while !graph.isIdle || blocks < 100 {
            graph.wait(frames: 512)
            driver.process(frames: 512)
            graph.pump()
            blocks += 1
        }
        graph.stop()
        #expect(writer.finish() == ArchiveWriter.Outcome(lost: 0, reason: "", session: 1))
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

    @Test("V3: a process that plays is killed: what it told is there, and the take that it recorded is found and plays")
    func killed() async throws {
        try await speak()
        let file = try scratch.write("talk.conf", talk(voice, looping: true))
        await #expect(processExitsWith: .signal(SIGKILL)) { [file = file as String, path = path as String] in
            let (graph, _) = try start(
                file, archive: path, on: TimerDriver(name: "talk", rate: 48_000, block: 256))
            graph.startPumping()
            try await eventually("something was said") {
                guard let archive = try Archive.open(path) else { return false }
                return try archive.items().contains { $0.state == .whole } && archive.takes().count == 1
            }
            kill(getpid(), SIGKILL)
        }
        let next = Telling(path)
        next.text(1, "later")
        next.end()
        let archive = try #require(try Archive.open(path))
        #expect(try archive.sessions().map(\.ended) == [.crashed, .ended])
        #expect(try archive.items(.init(sessions: [1])).first?.text == "good morning")
        let take = try #require(try archive.takes().first)
        #expect(take.state == .cut)
        #expect(take.file == scratch.file("take.part.wav"))
        #expect(try SoundFile(take.file).samples[0].count > 0)
    }
}
