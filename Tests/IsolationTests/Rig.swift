// SPDX-License-Identifier: Apache-2.0
import CNode
import Drivers
import Foundation
import Glibc
import Graph
import NodeKit
import Realtime
import Synchronization
import TestSupport

@testable import Host
@testable import Isolation

/// Times for tests: a block is waited for so long that only a fault makes it late, and faults are seen soon.
func testPolicy(_ change: (inout IsolationPolicy) -> Void = { _ in }) -> IsolationPolicy {
    // A sanitizer loaded into the tests is not meant for the child.
    var policy = IsolationPolicy(
        command: ["/usr/bin/env", "-u", "LD_PRELOAD", Program.voicegraph, "isolated-child"])
    policy.blockShare = 100
    policy.hangTime = 0.05
    policy.patience = 5
    policy.saveInterval = 0.01
    policy.settling = 0.02
    policy.firstPause = 0.01
    policy.longestPause = 0.05
    policy.memory = 512 << 20
    change(&policy)
    return policy
}

/// The fixture `unruly`, compiled once.
final class Unruly: Sendable {
    static let shared = Unruly()
    private let made: Result<Scratch, any Error>

    private init() {
        made = Result {
            let scratch = try Scratch()
            let compiler = Process()
            compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            compiler.arguments = [
                "cc", "-std=c11", "-O1", "-fPIC", "-shared", "-I\(packageRoot)/Sources/CNode/include",
                "\(packageRoot)/Tests/Fixtures/plugins/unruly.c", "-o", scratch.file("libvg-unruly.so"),
            ]
            try compiler.run()
            compiler.waitUntilExit()
            guard compiler.terminationStatus == 0 else { throw NodeError("the fixture cannot be compiled") }
            // What lives as long as the process is not freed at its end.
            atexit { if let folder = try? Unruly.shared.folder { try? FileManager.default.removeItem(atPath: folder) } }
            return scratch
        }
    }

    /// Where it is.
    var folder: String { get throws { try made.get().path } }

    /// A registry that finds the fixture.
    func registry(_ policy: IsolationPolicy = testPolicy()) throws -> NodeRegistry {
        let isolation = Isolation()
        isolation.use(policy)
        return NodeRegistry(
            search: PluginSearch(folders: [.init(try made.get().path)]), isolation: isolation)
    }
}

/// A live driver whose cycles the test calls: nothing is late because the machine is busy.
final class HandDriver: Driver, @unchecked Sendable {
    // Sendable: one thread at a time calls it.
    let info: DriverInfo
    private var ports: [String: UnsafeMutableBufferPointer<Float>] = [:]
    /// What MIDI ports bring in the next cycle, and what they got in the last one.
    var events: [String: [[UInt8]]] = [:]
    private var names: [String] = []
    private var engine: AudioEngine?
    private var clock: UInt64 = 0
    private(set) var status = DriverStatus()

    init(rate: Double = 48_000, block: Int = 256) { info = DriverInfo(kind: .dummy, rate: rate, block: block) }

    deinit { for port in ports.values { port.deallocate() } }

    func register(_ wanted: [ExternalPort]) throws(DriverError) -> [UnsafeMutableRawPointer?] {
        names = wanted.map(\.name)
        return wanted.map { port in
            if ports[port.name] == nil {
                let buffer = UnsafeMutableBufferPointer<Float>.allocate(capacity: info.block)
                buffer.initialize(repeating: 0)
                ports[port.name] = buffer
            }
            return UnsafeMutableRawPointer(ports[port.name]!.baseAddress!)
        }
    }
    func retire(_ unwanted: [ExternalPort]) {}
    func start(_ engine: AudioEngine, onEvent: @escaping @Sendable (DriverEvent) -> Void) throws(DriverError) {
        self.engine = engine
    }
    func stop() { engine = nil }

    func buffer(of port: String) -> UnsafeMutableBufferPointer<Float>? { ports[port] }

    /// One cycle.
    func process() {
        guard let engine else { return }
        let schedule = engine.begin()
        for port in 0..<schedule.externalCount {
            guard schedule.isMIDI(port) else {
                schedule.bind(port, schedule.handle(port)!.assumingMemoryBound(to: Float.self))
                continue
            }
            let midi = schedule.midi(port)
            guard schedule.isCapture(port) else { continue }
            midi.pointee.count = 0
            midi.pointee.used = 0
            for event in events[names[port]] ?? [] { _ = vg_midi_write(midi, 0, event, UInt32(event.count)) }
        }
        vg_realtime_enter()
        engine.run(schedule, frames: info.block, clock: clock, flags: 0, transport: vg_transport())
        vg_realtime_exit()
        events = [:]
        for port in 0..<schedule.externalCount where schedule.isMIDI(port) && !schedule.isCapture(port) {
            let midi = schedule.midi(port)
            events[names[port]] = (0..<Int(midi.pointee.count)).map { place in
                let event = midi.pointee.events[place]
                return Array(UnsafeBufferPointer(start: midi.pointee.bytes + Int(event.offset), count: Int(event.size)))
            }
        }
        clock += UInt64(info.block)
        status.cycles += 1
    }
}

/// A graph with isolated nodes that is played by hand.
final class IsolatedRun {
    let registry: NodeRegistry
    let graph: RunningGraph
    let published: Subscription
    private let hand: HandDriver?
    private let offline: OfflineDriver?
    private let block: Int
    private(set) var heard: [String: [Float]] = [:]
    private(set) var events: [Event] = []
    /// What came out of `notes_1` since this was emptied.
    var notes: [[UInt8]] = []
    /// What goes into `in_1`: all of it this value.
    var input: Float = 0.25

    init(
        _ text: String, policy: IsolationPolicy = testPolicy(), offline isOffline: Bool = false, block: Int = 256
    ) throws {
        registry = try Unruly.shared.registry(policy)
        self.block = block
        let scratch = try Scratch()
        let path = try scratch.write("graph.conf", text)
        let (loaded, diagnostics) = try PreparedGraph.load(path: path, registry: registry)
        let ready = try #require(loaded, "\(DiagnosticFormat(color: false).text(diagnostics))")
        published = ready.bus.subscribe(.lossless)
        let driver: any Driver =
            isOffline ? OfflineDriver(rate: 48_000, maxBlock: block) : HandDriver(block: block)
        hand = driver as? HandDriver
        offline = driver as? OfflineDriver
        graph = try RunningGraph.start(ready, on: driver)
    }

    deinit { graph.stop() }

    func buffer(_ port: String) -> UnsafeMutableBufferPointer<Float>? {
        hand?.buffer(of: port) ?? offline?.buffer(of: port)
    }

    /// Plays blocks, and pumps after each.
    func play(blocks: Int = 1) {
        for _ in 0..<blocks {
            if let input = buffer("in_1") { for frame in 0..<block { input[frame] = self.input } }
            // Live, nobody waits.
            if offline != nil { graph.wait(frames: block) }
            hand?.process()
            notes += hand?.events["notes_1"] ?? []
            offline?.process(frames: block)
            graph.pump()
            for name in ["out_1", "other_1"] {
                if let output = buffer(name) { heard[name, default: []] += output.prefix(block) }
            }
        }
        while let item = published.poll() { if case .event(let event) = item { events.append(event) } }
    }

    /// Plays until something holds; throws when it never does.
    func play(_ what: String, seconds: Double = 20, until condition: () -> Bool) throws {
        let end = ContinuousClock.now + .seconds(seconds)
        while !condition() {
            guard ContinuousClock.now < end else {
                throw NodeError("within \(seconds) s: \(what); events: \(events.map(\.name))")
            }
            play()
            usleep(500)
        }
    }

    func all(_ name: String, _ node: String? = nil) -> [Event] {
        events.filter { $0.name == name && (node == nil || $0.node == node) }
    }

    /// Asks `unruly` who it is.
    func who(_ node: String) throws -> Event {
        let before = all("who", node).count
        try graph.send(.text("who"), to: node, port: "do")
        try play("\(node) says who it is") { all("who", node).count > before }
        return all("who", node).last!
    }

    /// Plays a block with these events at `keys_1`.
    func play(_ events: [[UInt8]]) {
        hand?.events["keys_1"] = events
        play()
    }

    func tell(_ node: String, _ text: String) throws { try graph.send(.text(text), to: node, port: "do") }

    /// Whether a state with this number is kept for a node.
    func keeps(_ number: String) -> Bool {
        registry.isolator.instances.contains { instance in
            instance.state.map { contents($0 + "/remembered") == number + "\n" } == true
        }
    }

    var children: [Isolator.Child] { registry.isolator.children }
    var lastBlock: ArraySlice<Float> { heard["out_1"]?.suffix(block) ?? [] }
}

extension Event {
    func text(_ key: String) -> String? { if case .string(let text) = fields[key] { text } else { nil } }
    func integer(_ key: String) -> Int? { if case .integer(let value) = fields[key] { Int(value) } else { nil } }
}

/// The largest difference between two samples in a row.
func largestStep(_ signal: some Collection<Float>) -> Float {
    zip(signal, signal.dropFirst()).reduce(0) { max($0, abs($1.1 - $1.0)) }
}

/// The children of this process that hold isolated nodes, spare ones included, of any state.
func isolatedProcesses() -> [pid_t] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.compactMap { name in
        guard let process = pid_t(name),
            let status = try? String(contentsOfFile: "/proc/\(name)/stat", encoding: .utf8),
            let rest = status.split(separator: ")").last?.split(separator: " "), rest.count > 1,
            pid_t(rest[1]) == getpid(),
            let line = try? String(contentsOfFile: "/proc/\(name)/cmdline", encoding: .utf8)
        else { return nil }
        // A zombie has no command line left.
        return line.contains("isolated-child") || line.isEmpty ? process : nil
    }
}

/// One isolated `unruly` between an input and an output, and a tone beside it.
func unrulyGraph(_ settings: String = "isolate = true", gain: Float = 2) -> String {
    """
    [graph]
    links = ["in -> odd -> out", "tone -> other"]
    [node.in]
    type = "input"
    [node.odd]
    type = "unruly"
    gain = \(gain)
    \(settings)
    [node.out]
    type = "output"
    channels = 1
    [node.tone]
    type = "tone"
    frequency = 331
    [node.other]
    type = "output"
    channels = 1

    """
}
