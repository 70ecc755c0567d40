// SPDX-License-Identifier: Apache-2.0
import Foundation
import GraphFile
import NodeKit
import Server
import Synchronization
import System
import TestSupport
import Testing

@testable import RemoteGraph

/// How a conversation is opened, lost and closed.
@MainActor @Suite(.serialized, .timeLimit(.minutes(5))) struct ConversationStateTests {
    private let scratch: Scratch
    private let host = Host()
    init() throws { scratch = try Scratch() }

    private var graph: Graph {
        get throws {
            let rules = try scratch.write("short.rules", "*\n    Yes.\n")
            return Graph {
                Agent("agent", rules: rules) => TTS("voice", engine: .espeakNg) => Output("out", channels: 1)
                Input("mic") => Tap("tap")
            }
        }
    }

    private func play(_ graph: Graph) async throws {
        try await host.load(graph)
        try await host.run(DriverRequest(kind: .dummy))
    }

    private func serve() throws -> WebServer {
        var web = WebDescription()
        web.listen = "0"
        return try WebServer(host, web)
    }

    @Test("It is initialized, starts from collapsed alone, shows a picture or what was said, and ends") func states()
        async throws
    {
        try await play(graph)
        let model = ConversationModel(host)
        #expect(model.state == .idle)
        await model.start()
        #expect(model.state == .idle)
        model.showTranscript(true)
        #expect(model.state == .idle)
        await model.initialize()
        #expect(model.state == .collapsed)
        await model.initialize()
        try await model.mute(true)
        await model.start()
        #expect(model.state == .expanded && model.status == .waiting && !model.isMuted)
        #expect(await host.description?.nodes.first { $0.name == "mic" }?.mute == false)
        model.showTranscript(true)
        #expect(model.state == .transcript)
        model.showTranscript(false)
        #expect(model.state == .expanded)
        try await model.send("hello")
        try await until("it is answered") { model.items.last?.text == "Yes." && model.items.last?.isFinal == true }
        try await model.end()
        #expect(model.state == .collapsed && model.items.isEmpty)
        await model.start(asTranscript: true)
        #expect(model.state == .transcript)
        await host.close()
        try await until("its end is told") { model.state == .error }
        #expect(model.failure?.kind == "connection" && model.failure?.message == "Connection lost")
    }

    @Test("A connection that is lost is told, and retry connects again") func lost() async throws {
        try await play(graph)
        let served = Lock<WebServer?>(try serve())
        let model = ConversationModel { () async throws -> any GraphHost in
            guard let server = served.withLock({ $0 }) else { throw Fault("nobody is there") }
            return try await RemoteHost.connect(url: server.link(.visitor))
        }
        let early = await #expect(throws: Fault.self) { try await model.send("too early") }
        #expect(early?.hint == "initialize it first")
        await model.initialize()
        #expect(model.state == .collapsed, "\(String(describing: model.failure))")
        await model.start()
        #expect(model.state == .expanded)
        try await model.send("hello")
        try await until("it is answered") { model.items.last?.text == "Yes." && model.items.last?.isFinal == true }
        try await model.end()
        // Visitors may not open the microphone of the machine.
        try await host.setMuted("mic", true)
        await model.start()
        #expect(model.state == .error && model.failure?.kind == "connection")
        #expect(model.failure?.message.contains("visitors may not") == true)
        try await model.retry()
        #expect(model.state == .collapsed && model.failure == nil)
        served.withLock { $0 }?.close()
        served.withLock { $0 = nil }
        try await until("it is lost") { model.state == .error }
        #expect(model.failure?.message == "Connection lost" && model.status == .error)
        try await model.retry()
        #expect(model.state == .error && model.failure?.kind == "initialization")
        #expect(model.failure?.message == "nobody is there")
        let again = try serve()
        served.withLock { $0 = again }
        try await model.retry()
        #expect(model.state == .collapsed)
        again.close()
        await host.close()
    }

    @Test("Ending while it starts leaves it collapsed; a graph in which nobody answers cannot be initialized")
    func early() async throws {
        try await play(graph)
        let model = ConversationModel(host)
        await model.initialize()
        async let started: Void = model.start()
        try await until("it starts") { model.state == .connecting || model.state == .expanded }
        try await model.end()
        await started
        #expect(model.state == .collapsed)
        try await host.remove("agent")
        let other = ConversationModel(host)
        await other.initialize()
        #expect(other.state == .error && other.failure?.kind == "initialization")
        #expect(other.failure?.message == "no node answers" && other.failure?.reason == "add a node that does")
        #expect(other.status == .error)
        try await host.undo()
        try await other.retry()
        #expect(other.state == .collapsed && other.status == .idle)
        await host.close()
    }

    @Test("An error of who answers is shown until it is over") func failing() async throws {
        try await play(
            Graph {
                Agent(
                    "agent", backend: .openai, url: "http://127.0.0.1:1/v1", model: "none", retries: 0)
                    => TTS("voice", engine: .espeakNg) => Output("out", channels: 1)
            })
        let model = ConversationModel(host)
        await model.initialize()
        await model.start(asTranscript: true)
        #expect(model.state == .transcript)
        try await model.send("hello")
        try await until("it fails") { model.state == .error }
        #expect(model.failure?.kind == "connection" && model.failure?.message.isEmpty == false)
        try await model.end()
        #expect(model.state == .collapsed)
        await host.close()
    }
}
