// SPDX-License-Identifier: Apache-2.0
import Config
import Drivers
import Foundation
import Glibc
import NodeKit
import TestSupport

@testable import Host
@testable import Isolation

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
        readEvents()
    }

    private func readEvents() {
        while let item = published.poll() { if case .event(let event) = item { events.append(event) } }
    }

    /// Plays until something holds; throws when it never does.
    func play(_ what: String, seconds: Double = 60, until condition: () -> Bool) throws {
        let end = ContinuousClock.now + .seconds(seconds)
        while !condition() {
            guard ContinuousClock.now < end else {
                throw NodeError("within \(seconds) s: \(what); events: \(events.map(\.name))")
            }
            play()
            usleep(500)
        }
    }

    /// Waits without playing until something holds; throws when it never does.
    func wait(_ what: String, seconds: Double = 60, until condition: () -> Bool) throws {
        let end = ContinuousClock.now + .seconds(seconds)
        while !condition() {
            guard ContinuousClock.now < end else { throw NodeError("within \(seconds) s: \(what)") }
            graph.pump()
            readEvents()
            usleep(500)
        }
    }

    func all(_ name: String, _ node: String? = nil) -> [Event] {
        events.filter { $0.name == name && (node == nil || $0.node == node) }
    }

    /// Does an action, and plays until it has ended, or just waits for that.
    @discardableResult
    func perform(
        _ node: String, _ action: String, _ arguments: [String: SettingValue] = [:], patience: Double = 10,
        playing: Bool = true
    ) throws -> [String: SettingValue] {
        let answer = Lock<Result<[String: SettingValue], Fault>?>(nil)
        graph.perform(node, action, arguments, patience: patience) { result in answer.withLock { $0 = result } }
        let hasEnded = { answer.withLock { $0 != nil } }
        if playing {
            try play("'\(action)' ends", until: hasEnded)
        } else {
            try wait("'\(action)' ends", until: hasEnded)
        }
        return try answer.withLock { $0 }?.get() ?? [:]
    }

    func loadPreset(_ node: String, _ preset: String) throws {
        try perform(node, "preset", ["preset": .string(preset)])
    }

    func setProperty(_ node: String, _ key: String, to value: SettingValue) throws {
        try perform(node, "property", ["key": .string(key), "value": value])
    }

    /// What a property is told to be.
    func property(_ node: String, _ key: String) throws -> SettingValue? {
        try perform(node, "property", ["key": .string(key)])["value"]
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
