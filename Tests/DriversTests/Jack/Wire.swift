// SPDX-License-Identifier: Apache-2.0
import Graph
import NodeKit
import Nodes
import Synchronization
import TestSupport

@testable import Drivers

/// Keeps what a driver told.
final class EventLog: Sendable {
    private let events = Mutex<[DriverEvent]>([])

    var all: [DriverEvent] { events.withLock { $0 } }
    func append(_ event: DriverEvent) { events.withLock { $0.append(event) } }
}

/// A running graph that is a plain wire: `mic -> speakers`, channel by channel, or all of them into the first.
final class Wire: Sendable {
    let driver: any Driver
    let events = EventLog()
    nonisolated(unsafe) private(set) var handles: [UnsafeMutableRawPointer?] = []
    private let engine = Engine()

    convenience init(
        name: String = "wire", server: Jackd, channels: Int, from sources: [String] = [], to sinks: [String] = []
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

    deinit { stop() }

    func stop() { driver.stop() }
}

/// Noise without a zero in it.
func noise(_ frames: Int, seed: UInt64) -> [Float] {
    var random = TestRandom(seed: seed)
    return (0..<frames).map { _ in random.sample() * 0.5 + 0.501 }
}

/// Plays noise into the first channel of `wire` from one JACK client and compares what another gets from it.
func expectExact(
    _ wire: Wire, _ server: Jackd, seed: UInt64, sourceLocation: Testing.SourceLocation = #_sourceLocation
) async throws {
    let signal = noise(20_000, seed: seed)
    let client = wire.driver.info.client
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
    try await eventually("the signal has passed") { recorder.recordedFrames > played + 4 * wire.driver.info.block }
    player.close()
    recorder.close()
    let heard = recorder.recording(0)
    let start = try #require(heard.firstIndex { $0 != 0 }, "silence came", sourceLocation: sourceLocation)
    let difference = signal.indices.first { start + $0 >= heard.count || heard[start + $0] != signal[$0] }
    #expect(difference == nil, "the signal changed at this frame", sourceLocation: sourceLocation)
    let rest = heard[min(start + signal.count, heard.count)...].contains { $0 != 0 }
    #expect(!rest, "something came after the signal", sourceLocation: sourceLocation)
}
