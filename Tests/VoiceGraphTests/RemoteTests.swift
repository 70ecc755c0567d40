// SPDX-License-Identifier: Apache-2.0
import Control
import Foundation
import NodeKit
import Testing
import TestSupport
@testable import RemoteGraph

/// Sent by a node that is added later.
private final class Late: Node {
    static let calls: NodeCalls = [.perform]
    static let descriptor = NodeDescriptor(
        "late-teller", "for tests", actions: [Action("tell", "tells")],
        events: [
            EventType(
                "late.text", "of an item",
                fields: [Field("item", VG_INTEGER, "which"), Field("text", VG_STRING, "it")],
                role: .text(.whole))
        ])
    private let host: NodeHost
    init(settings: Settings, host: NodeHost) throws(NodeError) { self.host = host }
    func prepare(_ preparation: Preparation) throws(NodeError) -> NoProcessor { NoProcessor() }
    func perform(_ action: String, _ arguments: Settings, _ call: ActionCall) throws(NodeError) {
        host.publish("late.text", [("item", .integer(1)), ("text", "hello")])
    }
}

/// A host behind a socket, as another process has it.
@MainActor @Suite(.serialized, .timeLimit(.minutes(5))) struct RemoteTests {
    private let scratch: Scratch
    private let host = Host()
    init() throws { scratch = try Scratch() }

    private func play(_ graph: Graph) async throws -> (RemoteHost, ControlServer) {
        var graph = graph
        graph.description.baseFolder = scratch.path
        try await host.load(graph)
        try await host.run(DriverRequest(kind: .dummy))
        let folder = ControlFolder(path: scratch.file("control"))
        let server = try ControlServer(host, client: "there", folder: folder)
        let remote = try await Host.aside {
            try RemoteHost(ControlClient("there", folder: folder), ControlClient("there", folder: folder))
        }
        return (remote, server)
    }

    /// Waits until something holds of a model.
    private func until(_ what: Comment, _ holds: () throws -> Bool) async throws {
        for _ in 0..<30_000 {
            if try holds() { return }
            try await Task.sleep(for: .milliseconds(1))
        }
        Issue.record(what)
    }

    @Test("The models of a voice, a recorder, levels and a graph do the same for a host elsewhere") func models()
        async throws
    {
        let (remote, server) = try await play(
            Graph {
                let voice = TTS("voice", engine: .espeakNg)
                voice => Meter("level") => Output("out", channels: 1)
                voice => Record("take", path: "take.wav", autostart: false)
            })
        let (speech, recorder) = (SpeechModel(remote), RecorderModel(remote))
        let (levels, graph) = (LevelsModel(remote), GraphModel(remote))
        try await until("the graph is told") { graph.nodes.map(\.name) == ["voice", "level", "out", "take"] }
        #expect(graph.state == "running" && graph.links.map(\.from) == ["voice", "level", "voice"])
        let audio = try await recorder.start()
        try await until("it records") { recorder.state == .recording }
        try await speech.speak("Hello there, this is elsewhere.")
        try await until("it is heard") { speech.isSpeaking && speech.level > 0.2 && speech.word != nil }
        try await until("its level is told") { (levels.levels["level"]?.peak.first ?? -200) > -40 }
        try await until("it is said") { !speech.isSpeaking }
        let recording = try await recorder.finish()
        #expect(recording.frames > 24_000 && recording.path.hasSuffix("take.wav"))
        try await until("it is finished") { recorder.state == .finished && recorder.last == recording }
        // Audio stays there, but its end comes.
        for await _ in audio { Issue.record("audio came") }
        try await remote.setMuted("voice", true)
        try await until("it is muted") { graph.nodes.first?.isMuted == true }
        let refused = await #expect(throws: Fault.self) { try await remote.perform("dance", on: "voice") }
        #expect(refused?.message.contains("no action 'dance'") == true, "\(refused.map { "\($0)" } ?? "")")
        let unknown = await #expect(throws: Fault.self) { try await remote.set("nobody", "gain_db", to: 1) }
        #expect(unknown?.message.contains("no node 'nobody'") == true)
        server.close()
        await host.stop()
    }

    @Test("What a node tells that was added later is known by what it declares") func later() async throws {
        let (remote, server) = try await play(Graph { Input("mic") => Output("out", channels: 1) })
        let transcript = TranscriptModel(remote)
        try host.register(Late.self)
        try await host.add(NodeDescription(name: "teller", type: "late-teller", entries: [:]))
        try await remote.perform("tell", on: "teller")
        try await until("it is told") { transcript.items.map(\.text) == ["hello"] }
        server.close()
        await host.stop()
    }

    @Test("The end of a host elsewhere ends what follows it, and is told to who asks") func end() async throws {
        let (remote, server) = try await play(Graph { Input("mic") => Output("out", channels: 1) })
        let subscription = remote.subscribe(.lossless)
        #expect(remote.isConnected)
        server.close()
        while await subscription.next() != nil {}
        #expect(!remote.isConnected)
        let gone = await #expect(throws: Fault.self) { _ = try await remote.look() }
        #expect(gone?.message == "the host 'there' has ended")
        let nobody = await #expect(throws: Fault.self) { _ = try await RemoteHost.connect("nobody-there") }
        #expect(nobody?.message == "no host 'nobody-there' is running")
        await host.stop()
    }
}
