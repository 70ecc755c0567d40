// SPDX-License-Identifier: Apache-2.0
import Config
import Graph
import LV2
import NodeKit
import Synchronization

/// Where the graph's time stands, for whoever publishes.
final class GraphTime: Sendable {
    let position = Atomic<UInt64>(0)
    let rate = Atomic<UInt64>(Double(48_000).bitPattern)

    /// Seconds since the start.
    var now: Double {
        Double(position.load(ordering: .relaxed)) / Double(bitPattern: rate.load(ordering: .relaxed))
    }
}

/// A graph that was read, checked and built, with a bus that its nodes publish to; it does not play yet.
public struct PreparedGraph: Sendable {
    /// What the file says.
    public var description: GraphDescription
    /// The checked graph.
    public var graph: ResolvedGraph
    /// Nodes that were left out, with the reason.
    public var degraded: [String: String]
    /// Where everything will be published.
    public let bus: EventBus
    let router: MessageRouter
    let time: GraphTime

    /// Reads and builds a file for a bus. The graph is nil if there is any error among the diagnostics. `change` may
    /// alter what the file says before it is built. [control]
    public static func load(
        path: String, overrides: [String] = [], registry: NodeRegistry, bus: EventBus = EventBus(),
        change: (inout GraphDescription) throws(HostError) -> Void = { (_: inout GraphDescription) throws(HostError) in
        }
    ) throws(HostError) -> (PreparedGraph?, [Diagnostic]) {
        var (read, diagnostics) = ConfigFile.load(path: path, overrides: overrides)
        guard var description = read.take() else { return (nil, diagnostics) }
        try change(&description)
        let router = MessageRouter()
        let time = GraphTime()
        let built = build(description, registry: registry, bus: bus, router: router, time: time)
        diagnostics += built.diagnostics
        guard let graph = built.graph, !diagnostics.contains(where: { $0.severity == .error }) else {
            return (nil, diagnostics)
        }
        return (
            PreparedGraph(
                description: description, graph: graph, degraded: built.degraded, bus: bus, router: router, time: time),
            diagnostics
        )
    }

    /// Checks and builds a description; nodes that play already, by name, go on where they can. [control]
    static func build(
        _ description: GraphDescription, registry: NodeRegistry, playing: [String: ResolvedGraph.Node] = [:],
        bus: EventBus, router: MessageRouter, time: GraphTime
    ) -> BuildResult {
        PluginScan.shared.prepare(description.untrustedPlugins)
        let faults = description.overwriteFaults()
        var result = GraphBuilder.build(description, catalog: registry.catalog(for: description), playing: playing) {
            services($0, bus, router, time)
        }
        result.diagnostics += faults
        if !faults.isEmpty { result.graph = nil }
        return result
    }
}

extension GraphDescription {
    /// The LV2 plugins that nodes want to run in this process and that are not trusted, as the file names them.
    fileprivate var untrustedPlugins: [String] {
        nodes.compactMap { node in
            let isolate = node.entries["isolate"]?.value ?? .bool(false)
            guard node.type == "lv2", node.entries["trust"]?.value != .bool(true), isolate == .bool(false),
                case .string(let plugin)? = node.entries["plugin"]?.value
            else { return nil }
            return plugin
        }
    }
}

/// What the host does for one node.
private func services(_ name: String, _ bus: EventBus, _ router: MessageRouter, _ time: GraphTime) -> NodeServices {
    NodeServices(
        log: { level, text in
            let levels = [
                VG_LOG_DEBUG.rawValue: "debug", VG_LOG_WARNING.rawValue: "warning", VG_LOG_ERROR.rawValue: "error",
            ]
            bus.publish(
                .event(
                    Event(
                        "log", node: name, time: time.now,
                        fields: ["text": .string(text), "level": .string(levels[level.rawValue] ?? "info")])))
        },
        publish: { event in bus.publish(published(event.pointee, name, time)) },
        send: { router.send(from: name, port: $0, $1) })
}

/// Copies a C event.
private func published(_ event: vg_event, _ node: String, _ time: GraphTime) -> Published {
    let rate = Double(bitPattern: time.rate.load(ordering: .relaxed))
    if let levels = event.levels?.pointee {
        let count = Int(levels.channels)
        return .levels(
            LevelFrame(
                node: node, time: Double(levels.position) / rate,
                peak: Array(UnsafeBufferPointer(start: levels.peak, count: count)),
                rms: Array(UnsafeBufferPointer(start: levels.rms, count: count)), orb: levels.orb))
    }
    if let audio = event.audio?.pointee {
        let channels = (0..<Int(audio.channels)).map {
            Array(UnsafeBufferPointer(start: audio.samples[$0], count: Int(audio.frames)))
        }
        return .audio(AudioFrame(node: node, position: audio.position, rate: audio.rate, channels: channels))
    }
    var fields: [String: SettingValue] = [:]
    for entry in UnsafeBufferPointer(start: event.fields, count: event.fields == nil ? 0 : Int(event.field_count)) {
        if let key = entry.key { fields[String(cString: key)] = SettingValue(entry.value) }
    }
    return .event(
        Event(event.name.map { String(cString: $0) } ?? "", node: node, time: time.now, fields: fields))
}
