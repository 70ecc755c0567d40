// SPDX-License-Identifier: Apache-2.0
import API
import Control
import Foundation
import GraphFile
import NodeKit
import Server
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

/// How a host elsewhere is reached.
enum Way: CaseIterable {
    case socket, web
}

/// A host behind a socket or an address, as another process has it.
@MainActor @Suite(.serialized, .timeLimit(.minutes(5))) struct RemoteTests {
    private let scratch: Scratch
    private let host = Host()
    init() throws { scratch = try Scratch() }

    private func play(_ graph: Graph, _ way: Way) async throws -> (remote: RemoteHost, end: () -> Void) {
        var graph = graph
        graph.description.baseFolder = scratch.path
        try await host.load(graph)
        try await host.run(DriverRequest(kind: .dummy, client: "there"))
        switch way {
        case .socket:
            let folder = ControlFolder(path: scratch.file("control"))
            let server = try ControlServer(host, client: "there", folder: folder)
            let remote = try await Host.aside {
                try RemoteHost(
                    SocketWire(ControlClient("there", folder: folder), ControlClient("there", folder: folder)))
            }
            return (remote, { server.close() })
        case .web:
            let server = try serve()
            return (try await RemoteHost.connect(url: server.link(.operator)), { server.close() })
        }
    }

    private func serve() throws -> WebServer {
        var web = WebDescription()
        web.listen = "0"
        return try WebServer(host, web)
    }

    @Test(
        "The models of a voice, a recorder, levels and a graph do the same for a host elsewhere",
        arguments: Way.allCases)
    func models(_ way: Way) async throws {
        let (remote, end) = try await play(
            Graph {
                let voice = TTS("voice", engine: .espeakNg)
                voice => Meter("level") => Output("out", channels: 1)
                voice => Record("take", path: "take.wav", autostart: false)
            }, way)
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
        end()
        await host.stop()
    }

    @Test("What a node tells that was added later is known by what it declares", arguments: Way.allCases)
    func later(_ way: Way) async throws {
        let (remote, end) = try await play(Graph { Input("mic") => Output("out", channels: 1) }, way)
        let transcript = TranscriptModel(remote)
        try host.register(Late.self)
        try await host.add(NodeDescription(name: "teller", type: "late-teller", entries: [:]))
        try await remote.perform("tell", on: "teller")
        try await until("it is told") { transcript.items.map(\.text) == ["hello"] }
        end()
        await host.stop()
    }

    @Test("The end of a host elsewhere ends what follows it, and is told to who asks", arguments: Way.allCases)
    func end(_ way: Way) async throws {
        let (remote, end) = try await play(Graph { Input("mic") => Output("out", channels: 1) }, way)
        let subscription = remote.subscribe(.lossless)
        #expect(remote.isConnected)
        end()
        while await subscription.next() != nil {}
        #expect(!remote.isConnected)
        let gone = await #expect(throws: Fault.self) { _ = try await remote.look() }
        #expect(
            way == .socket
                ? gone?.message == "the host 'there' has ended"
                : gone?.message.hasPrefix("cannot reach http://") == true,
            "\(gone.map { "\($0)" } ?? "")")
        let nobody = await #expect(throws: Fault.self) { _ = try await RemoteHost.connect("nobody-there") }
        #expect(nobody?.message == "no host 'nobody-there' is running")
        await host.stop()
    }

    @Test("Whoever has no token, another one, or that of a visitor is told so; an address that is none, too")
    func refusals() async throws {
        try await host.load(Graph { Input("mic") => Gain("low") => Output("out", channels: 1) })
        try await host.run(DriverRequest(kind: .dummy))
        let server = try serve()
        func fault(_ url: String, token: String? = nil) async -> String {
            do { _ = try await RemoteHost.connect(url: url, token: token) } catch { return "\(error)" }
            return "connected"
        }
        #expect(await fault(server.url).contains("no token"))
        #expect(await fault(server.url, token: "a b").contains("that is no token"))
        #expect(await fault(server.url, token: "0123456789abcdef").contains("token"))
        #expect(await fault("kiosk:8765", token: "x").contains("'kiosk:8765' is no address of HTTP"))
        #expect(await fault("ftp://kiosk", token: "x").contains("is no address of HTTP"))
        #expect(await fault("http://127.0.0.1:1/?token=x").contains("cannot reach http://127.0.0.1:1:"))
        #expect(await fault("http://nobody.invalid/?token=x").contains("cannot reach http://nobody.invalid:"))
        let page = try PlainServer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
        #expect(await fault(page.url, token: "x").contains("answers 200, which is nothing of a host"))
        let moved = try PlainServer("HTTP/1.1 301 Moved\r\nLocation: http://x.invalid/\r\nContent-Length: 0\r\n\r\n")
        #expect(await fault(moved.url, token: "x").contains("it sends on to another address"))
        // Visitors follow, and turn nothing.
        let visitor = try await RemoteHost.connect(url: server.link(.visitor))
        let refused = await #expect(throws: Fault.self) { try await visitor.set("low", "gain_db", to: -6) }
        #expect(refused?.message.contains("visitors may not") == true)
        let owner = try await RemoteHost.connect(
            url: server.url, token: String(server.link(.owner).split(separator: "=")[1]))
        try await owner.set("low", "gain_db", to: -6)
        #expect(try await owner.look()?.nodes.first { $0.name == "low" }?.parameters["gain_db"] == -6)
        server.close()
        await host.stop()
    }
}

/// Answers each connection with the same.
private final class PlainServer: Sendable {
    let url: String
    private let listener: Int32

    init(_ answer: String) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(listener, pointer, length) == 0 && listen(listener, 8) == 0
                    && getsockname(listener, pointer, &length) == 0
            }
        }
        try #require(port)
        url = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
        Thread.detachNewThread {
            while case let client = accept(listener, nil, nil), client >= 0 {
                var request = [UInt8](repeating: 0, count: 4096)
                _ = recv(client, &request, request.count, 0)
                _ = answer.withCString { send(client, $0, strlen($0), Int32(MSG_NOSIGNAL)) }
                close(client)
            }
        }
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }
}
