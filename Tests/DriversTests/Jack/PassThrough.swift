// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import Nodes
import Realtime
import Synchronization
import TestSupport

@testable import Drivers
@testable import Graph
@testable import GraphFile

/// The built-in type called `name`, if there is one.
func builtInNodeType(_ name: String) -> UnsafePointer<vg_node_type>? {
    builtInNodeTypes.first { String(cString: $0.pointee.name) == name }
}

/// Keeps what a driver told.
final class EventLog: Sendable {
    private let events = Mutex<[DriverEvent]>([])

    var all: [DriverEvent] { events.withLock { $0 } }
    func append(_ event: DriverEvent) { events.withLock { $0.append(event) } }
}

/// A running graph that passes on what comes in: `mic -> speakers`, channel by channel, or all of them into the first.
final class PassThrough: Sendable {
    let driver: any Driver
    let events = EventLog()
    nonisolated(unsafe) private(set) var handles: [UnsafeMutableRawPointer?] = []
    let engine = Engine()

    convenience init(
        name: String = "through", server: Jackd, channels: Int, from sources: [String] = [], to sinks: [String] = []
    ) throws {
        try self.init(JackDriver(name: name, server: server.name), channels: channels, from: sources, to: sinks)
    }

    init(
        _ driver: any Driver, channels: Int, summed: Bool = false, from sources: [String] = [], to sinks: [String] = []
    ) throws {
        self.driver = driver
        func end(_ type: String, _ name: String, _ connect: [String]) throws -> ResolvedGraph.Node {
            let settings = ["channels": SettingValue.integer(Int64(channels))]
            let globs = Entry(.list(connect.map { .string($0) }))
            return ResolvedGraph.Node(
                instance: try NodeInstance(
                    type: try #require(builtInNodeType(type)), name: name, settings: Settings(settings)),
                description: NodeDescription(name: name, type: type, entries: ["connect": globs]))
        }
        let links = (0..<channels).map {
            ResolvedGraph.Link(
                fromNode: 0, fromPort: $0, toNode: 1, target: .port(summed ? 0 : $0), kind: VG_AUDIO_PORT)
        }
        let graph = ResolvedGraph(
            nodes: [try end("input", "mic", sources), try end("output", "speakers", sinks)], links: links)
        let schedule = try Compiler.compile(graph, rate: driver.info.rate, maxBlock: 8192)
        handles = try driver.register(schedule.externals)
        schedule.setHandles(handles)
        engine.publish(schedule)
        try driver.start(engine.audio, onEvent: { [events] in events.append($0) })
    }

    /// The first channel by two ways, each half as loud, which two threads may take: exactly what came in.
    init(halvesOn driver: any Driver) throws {
        self.driver = driver
        func make(_ name: String, _ type: UnsafePointer<vg_node_type>) throws -> ResolvedGraph.Node {
            let instance = try NodeInstance(type: type, name: name, settings: Settings([:]))
            try instance.prepare(Preparation(rate: driver.info.rate, maxBlock: 8192))
            return ResolvedGraph.Node(
                instance: instance, description: NodeDescription(name: name, type: instance.typeName))
        }
        func link(_ from: Int, _ port: Int, _ to: Int, _ target: Int) -> ResolvedGraph.Link {
            ResolvedGraph.Link(fromNode: from, fromPort: port, toNode: to, target: .port(target), kind: VG_AUDIO_PORT)
        }
        let half = makeNodeType(Half.self)
        let graph = ResolvedGraph(
            nodes: [
                try make("mic", try #require(builtInNodeType("input"))), try make("a", half), try make("b", half),
                try make("speakers", try #require(builtInNodeType("output"))),
            ], links: [link(0, 0, 1, 0), link(0, 0, 2, 0), link(1, 1, 3, 0), link(2, 1, 3, 0)])
        var sharers = Sharers(limit: 2)
        sharers.isForced = true
        let schedule = try Compiler.compile(graph, rate: driver.info.rate, maxBlock: 8192, sharers: sharers)
        schedule.forceSharing()
        handles = try driver.register(schedule.externals)
        schedule.setHandles(handles)
        engine.publish(schedule)
        driver.setHelpers(schedule.threads - 1)
        try driver.start(engine.audio, onEvent: { [events] in events.append($0) })
    }

    deinit { stop() }

    func stop() { driver.stop() }
}

/// Half as loud, and slow.
final class Half: Node {
    static let calls: NodeCalls = []
    static let descriptor = NodeDescriptor(
        "half", "half as loud", ports: Port.audio(VG_INPUT, channels: 1) + Port.audio(VG_OUTPUT, channels: 1),
        process: halfProcess)
    init(settings: Settings, host: NodeHost) throws(NodeError) {}
    func prepare(_ preparation: Preparation) throws(NodeError) -> UInt64 { 0 }
}

@_noLocks
private func halfProcess(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: NodeKit.Cycle) {
    for frame in 0..<cycle.frames { io.output(0)[frame] = io.input(0)[frame] * 0.5 }
    // Long enough for the other thread to come.
    let end = vg_nanoseconds() &+ 50_000
    while vg_nanoseconds() < end {}
}

/// The threads of this process that help an audio thread, by the kernel's numbers.
var helperThreads: [Int32] {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task"))?.compactMap(Int32.init).filter {
        (try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8))?.hasPrefix("vg-helper") == true
    } ?? []
}

/// Nanoseconds of processor time that a thread has had.
func processorTime(of thread: Int32) -> UInt64 {
    let text = (try? String(contentsOfFile: "/proc/self/task/\(thread)/schedstat", encoding: .utf8)) ?? ""
    return text.split(separator: " ").first.flatMap { UInt64($0) } ?? 0
}

/// Noise without a zero in it.
func noise(_ frames: Int, seed: UInt64) -> [Float] {
    var random = TestRandom(seed: seed)
    return (0..<frames).map { _ in random.sample() * 0.5 + 0.501 }
}

/// Plays noise into the first channel of `through` from one JACK client and compares what another gets from it.
func expectExact(
    _ through: PassThrough, _ server: Jackd, seed: UInt64, sourceLocation: Testing.SourceLocation = #_sourceLocation
) async throws {
    let signal = noise(20_000, seed: seed)
    let client = through.driver.info.client
    let player = try JackPeer("player", server: server, plays: [signal])
    let recorder = try JackPeer("recorder", server: server, inputs: 1, recordingFrames: 200_000)
    #expect(player.connect("\(player.name):out_1", "\(client):mic_1"), sourceLocation: sourceLocation)
    #expect(recorder.connect("\(client):speakers_1", "\(recorder.name):in_1"), sourceLocation: sourceLocation)
    // The server orders its graph anew some cycles after a connection; until then a block may be skipped.
    let before = recorder.cycles
    try await eventually("the graph is in order") { recorder.cycles > before + 8 }
    player.play()
    try await eventually("the signal is played") { player.hasPlayed }
    let played = recorder.recordedFrames
    // Every client adds at most one block.
    try await eventually("the signal has passed") { recorder.recordedFrames > played + 4 * through.driver.info.block }
    player.close()
    recorder.close()
    let heard = recorder.recording(0)
    let start = try #require(heard.firstIndex { $0 != 0 }, "silence came", sourceLocation: sourceLocation)
    let difference = signal.indices.first { start + $0 >= heard.count || heard[start + $0] != signal[$0] }
    #expect(difference == nil, "the signal changed at this frame", sourceLocation: sourceLocation)
    let rest = heard[min(start + signal.count, heard.count)...].contains { $0 != 0 }
    #expect(!rest, "something came after the signal", sourceLocation: sourceLocation)
}
