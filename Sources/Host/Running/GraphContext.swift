// SPDX-License-Identifier: Apache-2.0
import Graph
import GraphFile
import NodeKit
import Synchronization

/// What the nodes of a graph share with the host, from before they are made until after the last one is gone.
final class GraphContext: Sendable {
    let bus: EventBus
    let router = MessageRouter()
    let calls = ActionRouter()
    let time = GraphTime()
    let reports: NodeReports
    /// Frames from a sample that leaves the graph until it is heard.
    let deviceLatency = Atomic<Int>(0)
    /// Frames from a node's output to the driver's ports, by the node's name.
    let pathLatencies = Lock<[String: Int]>([:])

    /// Who is heard in what is kept of nodes, by the node's name; of others nothing is kept.
    private let speakers = Lock<[String: String]>([:])

    init(_ bus: EventBus) {
        self.bus = bus
        reports = NodeReports(bus, time)
    }

    /// Publishes an event of the host's own, of a frame or of now. [any]
    func tell(
        _ kind: EventType, node: String? = nil, at position: UInt64? = nil, _ fields: [String: SettingValue] = [:]
    ) {
        bus.publish(.event(time.event(kind, node: node, at: position, fields: fields)))
    }

    /// From now on is kept what a description wants, and the last words of nodes that it has no more. [control]
    func keep(_ description: GraphDescription) {
        speakers.withLock { speakers in
            for node in description.nodes { speakers[node.name] = node.keep ? node.speaker : nil }
            if !description.archive { speakers = [:] }
        }
    }

    /// Says of an event that it is to be kept, if it is. [any]
    private func marked(_ event: Event, _ type: EventType) -> Event {
        guard let role = type.role, let node = event.node, let speaker = speakers.withLock({ $0[node] }) else {
            return event
        }
        var event = event
        event.keeping = Event.Keeping(role, speaker: speaker)
        return event
    }

    /// What the host does for one node. [control]
    func services(_ name: String, of type: NodeDeclarations, graph: String) -> NodeServices {
        var services = NodeServices()
        services.graphName = graph
        services.log = { [bus, time] level, text in
            let levels = [
                VG_LOG_DEBUG.rawValue: "debug", VG_LOG_WARNING.rawValue: "warning", VG_LOG_ERROR.rawValue: "error",
            ]
            bus.publish(
                .event(
                    time.event(
                        HostEvent.log, node: name,
                        fields: ["text": .string(text), "level": .string(levels[level.rawValue] ?? "info")])))
        }
        let declared = DeclaredEvents(type.events)
        services.publish = { [self, log = services.log] event in
            let event = event.pointee
            guard let (kind, fields) = declared.read(event, warn: { log?(VG_LOG_WARNING, $0) }) else { return }
            var told = time.event(
                kind, node: name, at: event.position == 0 ? nil : event.position, fields: fields)
            told.isSilent = event.isSilent
            bus.publish(.event(told.isSilent ? told : marked(told, kind)))
        }
        let series = type.series
        services.publishFrame = { [bus, time] frame in
            let frame = frame.pointee
            let rows = UnsafeBufferPointer(start: frame.rows, count: frame.rows == nil ? 0 : Int(frame.row_count))
                .filter { Int($0.series) < series.count }
                .map { row in
                    let count = row.values == nil ? 0 : Int(row.count)
                    return (
                        row: SeriesFrame.Row(
                            series[Int(row.series)].name, Array(UnsafeBufferPointer(start: row.values, count: count))),
                        isOnRequest: series[Int(row.series)].isOnRequest
                    )
                }
            let seconds = time.seconds(at: frame.position)
            let usual = rows.filter { !$0.isOnRequest }.map(\.row)
            if !usual.isEmpty { bus.publish(.frame(SeriesFrame(node: name, time: seconds, rows: usual))) }
            // Each by itself: those who have asked for one get that one.
            for asked in rows where asked.isOnRequest {
                bus.publish(.frame(SeriesFrame(node: name, time: seconds, rows: [asked.row]).onRequest))
            }
        }
        let names = series.map(\.name)
        let always = series.enumerated().reduce(UInt64(0)) {
            $1.offset < 64 && !$1.element.isOnRequest ? $0 | 1 << UInt64($1.offset) : $0
        }
        services.wanted = { [bus] in
            bus.wanted(names, of: name).prefix(64).enumerated().reduce(always) {
                $1.element ? $0 | 1 << UInt64($1.offset) : $0
            }
        }
        services.publishAudio = { [bus] audio in
            let audio = audio.pointee
            let channels = (0..<Int(audio.channels)).map {
                Array(UnsafeBufferPointer(start: audio.samples[$0], count: Int(audio.frames)))
            }
            bus.publish(
                .audio(
                    AudioFrame(
                        node: name, position: audio.position, rate: audio.rate, channels: channels,
                        frame: audio.ownFrame, hostTime: audio.hostTime == 0 ? nil : Double(audio.hostTime) * 1e-9)))
        }
        services.health = { [reports] in reports.set(name, $0) }
        services.count = { [reports] in reports.count(name, $0, $1) }
        services.send = { [router] in router.send(from: name, port: $0, $1) }
        services.actions = { [calls] in calls.actions(of: $0) }
        services.call = { [calls] node, action, arguments, seconds, done in
            calls.call(from: name, to: node, action, arguments, seconds: seconds, done: done)
        }
        services.outputLatency = { [self] in
            deviceLatency.load(ordering: .relaxed) + (pathLatencies.withLock { $0[name] } ?? 0)
        }
        return services
    }
}
