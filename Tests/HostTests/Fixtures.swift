// SPDX-License-Identifier: Apache-2.0
import Config
import Drivers
import GraphFile
import NodeKit
import Synchronization
import TestSupport

@testable import Host

@_noLocks
private func nothing(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {}

/// Sends on what it receives, with its name added, and publishes it; it can be told to fail.
final class Relay: Node {
    static let descriptor = NodeDescriptor(
        "relay", "for tests",
        ports: [
            Port(VG_MESSAGE_PORT, VG_INPUT, "text"), Port(VG_MESSAGE_PORT, VG_INPUT, "other"),
            Port(VG_MESSAGE_PORT, VG_OUTPUT, "unused"), Port(VG_MESSAGE_PORT, VG_OUTPUT, "answer"),
        ],
        settings: [
            Setting("burst", VG_SET_INTEGER, "messages that it sends when it is activated"),
            Setting("fails", VG_SET_BOOL, "whether it cannot be prepared"),
        ],
        events: [
            EventType(
                "received", "a message came",
                fields: [Field("text", VG_STRING, "it"), Field("port", VG_INTEGER, "where")]),
            EventType("burst", "messages were sent", fields: [Field("taken", VG_INTEGER, "those that were taken")]),
        ], process: nothing)

    private let host: NodeHost
    private let settings: Settings
    private var taken = 0

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        self.host = host
        self.settings = settings
    }

    func prepare(_ preparation: Preparation) throws(NodeError) -> NoProcessor {
        if settings.bool("fails") == true { throw NodeError("the device is on fire", hint: "put it out") }
        return NoProcessor()
    }

    func activate() {
        for number in 0..<(settings.integer("burst") ?? 0) {
            if host.send(.text("\(number)"), port: 1) { taken += 1 }
        }
        if settings.integer("burst") != nil { host.publish("burst", [("taken", .integer(Int64(taken)))]) }
    }

    func receive(_ message: Message, port: Int) {
        guard case .text(let text) = message.content else { return }
        host.publish("received", [("text", .string(text)), ("port", .integer(Int64(port)))])
        host.send(.text(text + ">" + host.nodeName), port: 1)
    }
}

/// The types of the host and of these tests.
let testRegistry = NodeRegistry(
    builtIn: NodeRegistry.ownTypes + [
        makeNodeType(Relay.self), makeNodeType(Broken.self), makeNodeType(Late.self), makeNodeType(Faulty.self),
        makeNodeType(Watch.self), makeNodeType(Agent.self), makeNodeType(Slow.self), makeNodeType(Caller.self),
        makeNodeType(Hanging.self), makeNodeType(Knob.self),
    ])

/// A prepared graph from text; its diagnostics fail the test if there is an error among them.
func prepared(
    _ text: String, in scratch: Scratch, registry: NodeRegistry = testRegistry,
    change: (inout GraphDescription) throws(Fault) -> Void = { (_: inout GraphDescription) throws(Fault) in }
) throws -> PreparedGraph {
    let path = try scratch.write("graph.conf", text)
    let (graph, diagnostics) = try PreparedGraph.load(path: path, registry: registry, change: change)
    return try #require(graph, "\(DiagnosticFormat(color: false).text(diagnostics))")
}

/// A graph that plays offline, with everything it publishes.
final class OfflineRun {
    let graph: RunningGraph
    let driver: OfflineDriver
    let published: Subscription
    /// Is given every block of "out_1".
    var heard: (UnsafeBufferPointer<Float>) -> Void = { _ in }

    init(_ text: String, rate: Double = 48_000, block: Int = 256) throws {
        let ready = try prepared(text, in: Scratch())
        published = ready.bus.subscribe(.lossless)
        driver = OfflineDriver(rate: rate, maxBlock: block)
        graph = try RunningGraph.start(ready, on: driver)
    }

    deinit { graph.stop() }

    /// Plays so many frames, and pumps after every block.
    func play(_ frames: Int) {
        var done = 0
        while done < frames {
            let count = min(driver.info.block, frames - done)
            graph.wait(frames: count)
            driver.process(frames: count)
            if let buffer = driver.buffer(of: "out_1") { heard(UnsafeBufferPointer(rebasing: buffer.prefix(count))) }
            graph.pump()
            done += count
        }
    }

    /// The events of one name since the last call of this or `levels`; others are forgotten.
    func events(_ name: String) -> [Event] {
        published.drain().compactMap { if case .event(let event) = $0, event.name == name { event } else { nil } }
    }

    /// The level frames since the last call of this or `events`.
    func levels(_ node: String) -> [SeriesFrame] {
        published.drain().compactMap { if case .frame(let frame) = $0, frame.node == node { frame } else { nil } }
    }
}

extension Event {
    /// A text field.
    func text(_ key: String) -> String? { if case .string(let text) = fields[key] { text } else { nil } }
    /// An integer field.
    func integer(_ key: String) -> Int? { if case .integer(let value) = fields[key] { Int(value) } else { nil } }
}

/// An effect that cannot be prepared.
final class Broken: Node {
    static let descriptor = NodeDescriptor(
        "broken-effect", "for tests", ports: Port.audio(VG_INPUT, channels: 1) + Port.audio(VG_OUTPUT, channels: 1),
        process: nothing)
    init(settings: Settings, host: NodeHost) throws(NodeError) {}
    func prepare(_ preparation: Preparation) throws(NodeError) -> NoProcessor {
        throw NodeError("the device is on fire", hint: "put it out")
    }
}

extension [[Float]] {
    /// The largest difference of two files' samples; infinite when they have not the same shape. To be used in place of
    /// `==`: of long arrays that differ, an expectation would look for the shortest way from one to the other.
    func differ(from other: [[Float]]) -> Float {
        count == other.count ? zip(self, other).map { Signal.difference($0, $1) }.max() ?? 0 : .infinity
    }
}

extension RunningGraph {
    /// Begins a change of the graph; what cannot be throws.
    func begin(resetting: Bool = false, _ change: (inout GraphDescription) throws -> Void) throws {
        var wanted = description
        try change(&wanted)
        let built = PreparedGraph.build(
            wanted, registry: testRegistry, playing: playing, context: context)
        guard let resolved = built.graph else { throw InvalidGraph(diagnostics: built.diagnostics) }
        let next = NextGraph(
            description: wanted, graph: resolved, degraded: built.degraded, values: resetting ? built.values : [],
            settings: built.settings)
        try prepareNew(next)
        try self.change(to: next)
        _ = apply(next.settings)
    }
}

extension OfflineRun {
    /// Changes the graph and plays until it has become what it is to be.
    func edit(resetting: Bool = false, _ change: (inout GraphDescription) throws -> Void) throws {
        try graph.begin(resetting: resetting, change)
        while graph.isChanging { play(driver.info.block) }
        // What is new is taken, and what is gone comes back.
        play(2 * driver.info.block)
    }
}

/// Looks for the largest step from one sample to the next, on the audio thread.
final class Watch: Node {
    static let descriptor = NodeDescriptor(
        "watch", "for tests", ports: Port.audio(VG_INPUT, channels: 1), process: watching)

    struct Seen: ~Copyable {
        let step = Atomic<UInt32>(0)
        let frames = Atomic<Int>(0)
        let loud = Atomic<UInt32>(0)
    }

    struct Processor: BitwiseCopyable {
        var seen: UnsafeMutablePointer<Seen>
        var last: Float = 0
    }

    /// Lives as long as the tests: there is one such node at a time.
    nonisolated(unsafe) static let seen: UnsafeMutablePointer<Seen> = {
        let seen = UnsafeMutablePointer<Seen>.allocate(capacity: 1)
        seen.initialize(to: Seen())
        return seen
    }()

    init(settings: Settings, host: NodeHost) throws(NodeError) {}
    func prepare(_ preparation: Preparation) throws(NodeError) -> Processor { Processor(seen: Self.seen) }
}

@_noLocks
private func watching(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let state = memory.assumingMemoryBound(to: Watch.Processor.self)
    let input = io.input(0)
    var (largest, loud): (Float, Float) = (0, 0)
    for frame in 0..<cycle.frames {
        largest = max(largest, abs(input[frame] - state.pointee.last))
        loud = max(loud, abs(input[frame]))
        state.pointee.last = input[frame]
    }
    // Bits of positive floats are in the order of their values.
    let seen = state.pointee.seen
    if largest.bitPattern > seen.pointee.step.load(ordering: .relaxed) {
        seen.pointee.step.store(largest.bitPattern, ordering: .relaxed)
    }
    if loud > 0.01 { seen.pointee.loud.add(1, ordering: .relaxed) }
    seen.pointee.frames.add(cycle.frames, ordering: .relaxed)
}
