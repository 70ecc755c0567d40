// SPDX-License-Identifier: Apache-2.0
import CNode
import Foundation
import Graph
import NodeKit
import System
import Testing

@testable import Isolation

/// An isolated `unruly` without a graph around it, and all that it tells its host.
final class LoneNode: Sendable {
    struct Told {
        var events: [(name: String, fields: [String: SettingValue], position: UInt64)] = []
        var frames: [(rows: [[Float]], position: UInt64)] = []
        var audio: [(samples: [Float], rate: Double, position: UInt64)] = []
        var health: [Health] = []
        var counters: [String: UInt64] = [:]
        var messages: [Message] = []
        var lines: [String] = []
        var outputLatency = 64
        var wanted: UInt64 = 5
    }

    let instance: NodeInstance
    let isolator: Isolator
    let told: Lock<Told>

    /// Made, prepared and active; nothing asks it for audio. Those that share an isolator and are a group share a process.
    init(
        _ policy: IsolationPolicy = testPolicy(), settings: [String: SettingValue] = [:], offline: Bool = false,
        groupOf other: LoneNode? = nil, isGroup: Bool = false
    ) throws {
        let isolation = Isolation()
        isolation.use(policy)
        isolator = other?.isolator ?? Isolator(isolation)
        let told = Lock(Told())
        self.told = told
        let (type, path) = try unrulyType()
        let isolated = try #require(isolator.isolated(type, path: path, isGroup: isGroup || other != nil))
        var services = NodeServices()
        services.graphName = "lone"
        services.folders.models = "/models of a test"
        services.outputLatency = { told.withLock(\.outputLatency) }
        services.wanted = { told.withLock(\.wanted) }
        services.log = { _, line in told.withLock { $0.lines.append(line) } }
        services.publish = { event in
            let fields = UnsafeBufferPointer(start: event.pointee.fields, count: Int(event.pointee.field_count))
            let pairs = fields.map { (String(cString: $0.key), SettingValue($0.value)) }
            let name = String(cString: event.pointee.name)
            told.withLock { $0.events.append((name, Dictionary(pairs) { $1 }, event.pointee.position)) }
        }
        services.publishFrame = { frame in
            let rows = UnsafeBufferPointer(start: frame.pointee.rows, count: Int(frame.pointee.row_count))
                .sorted { $0.series < $1.series }
                .map { Array(UnsafeBufferPointer(start: $0.values, count: Int($0.count))) }
            told.withLock { $0.frames.append((rows, frame.pointee.position)) }
        }
        services.publishAudio = { audio in
            let samples = UnsafeBufferPointer(start: audio.pointee.samples[0], count: Int(audio.pointee.frames))
            told.withLock { $0.audio.append((Array(samples), audio.pointee.rate, audio.pointee.position)) }
        }
        services.health = { health in told.withLock { $0.health.append(health) } }
        services.count = { counter, number in told.withLock { $0.counters[counter, default: 0] += number } }
        services.send = { _, message in
            told.withLock { $0.messages.append(message) }
            return true
        }
        instance = try NodeInstance(type: isolated, name: "odd", settings: Settings(settings), services: services)
        instance.isDriven = offline
        try instance.prepare(Preparation(rate: 48_000, maxBlock: 64, offline: offline))
        instance.activate()
    }

    deinit { instance.deactivate() }

    /// The process that has it.
    var process: Int32? { isolator.children.first { $0.nodes.contains("odd") }?.process }

    func tell(_ text: String) { instance.receive(.text(text), port: 0) }

    /// Does an action and waits for its end.
    func perform(_ action: String, _ arguments: [String: SettingValue] = [:]) throws -> [String: SettingValue] {
        try instance.performAndWait(action, arguments)
    }

    /// Begins an action; what comes of it is put into the result.
    func begin(_ action: String, _ arguments: [String: SettingValue] = [:]) -> Lock<ActionResult?> {
        let result = Lock<ActionResult?>(nil)
        instance.perform(action, arguments) { value in result.withLock { $0 = value } }
        return result
    }

    /// Changes a live setting and waits for that.
    func set(_ setting: String, _ value: String) throws {
        let result = Lock<NodeError??>(nil)
        instance.set(setting, to: .string(value)) { error in result.withLock { $0 = .some(error) } }
        try waitUntil("the setting is there") { result.withLock { $0 != nil } }
        if let error = result.withLock({ $0 }) ?? nil { throw error }
    }

    /// What it says of itself.
    func who() throws -> [String: SettingValue] {
        let before = events("who").count
        tell("who")
        try waitUntil("it says who it is") { events("who").count > before }
        return events("who").last?.fields ?? [:]
    }

    func events(_ name: String) -> [(name: String, fields: [String: SettingValue], position: UInt64)] {
        told.withLock { $0.events.filter { $0.name == name } }
    }

    /// Ends the process and waits until there is another.
    func crash() throws {
        let before = events("plugin.started").count
        kill(try #require(process), SIGKILL)
        try waitUntil("it is back") { events("plugin.started").count > before }
    }
}

/// Asks every few milliseconds until `condition` holds.
func waitUntil(_ what: @autoclosure () throws -> String, _ condition: () throws -> Bool) throws {
    let end = ContinuousClock.now + .seconds(60)
    while !(try condition()) {
        guard ContinuousClock.now < end else { throw NodeError("within 60 s: \(try what())") }
        usleep(2000)
    }
}
