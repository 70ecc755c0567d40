// SPDX-License-Identifier: Apache-2.0
import CNode

/// The host as a node sees it. Every call may be made from any thread but the audio thread.
public struct NodeHost: @unchecked Sendable {
    // Sendable: the ABI promises that the functions are thread-safe and that the pointers outlive the node.
    private let host: UnsafePointer<vg_host>
    // What a host need not have.
    private let series: UnsafePointer<vg_host_series>?
    private let audio: UnsafePointer<vg_host_audio>?
    private let messages: UnsafePointer<vg_host_messages>?
    private let actions: UnsafePointer<vg_host_actions>?

    init(_ host: UnsafePointer<vg_host>) {
        func table<Table>(_ name: String) -> UnsafePointer<Table>? {
            host.pointee.extension?(host.pointee.handle, name)?.assumingMemoryBound(to: Table.self)
        }
        self.host = host
        series = table(VG_EXT_SERIES)
        audio = table(VG_EXT_AUDIO)
        messages = table(VG_EXT_MESSAGES)
        actions = table(VG_EXT_ACTIONS)
    }

    private func text(_ field: UnsafePointer<CChar>?) -> String { field.map { String(cString: $0) } ?? "" }

    /// The node's name in the file.
    public var nodeName: String { text(host.pointee.node_name) }
    /// The graph's name.
    public var graphName: String { text(host.pointee.graph_name) }
    /// Where relative paths in settings start.
    public var baseFolder: String { text(host.pointee.base_folder) }
    /// This program's folder for what must be kept, of this user. Whoever writes first makes it.
    public var dataFolder: String { text(host.pointee.data_folder) }
    /// This program's folder for what can be made again.
    public var cacheFolder: String { text(host.pointee.cache_folder) }
    /// This program's folder for models and voices.
    public var modelFolder: String { text(host.pointee.model_folder) }

    /// A path from a setting, made absolute if it is relative.
    public func resolve(_ path: String) -> String {
        join(baseFolder, path)
    }

    /// Frames from a sample that leaves this node until it is heard: what follows it in the graph, and the device. [any]
    public var outputLatency: Int { Int(host.pointee.output_latency?(host.pointee.handle) ?? 0) }

    /// Whether somebody reads the series of this index among those that the descriptor declares. Only of those on request it
    /// may be false. [any]
    public func wants(series index: Int) -> Bool {
        index > 63 || wantedSeries >> UInt64(index) & 1 == 1
    }

    /// The same of the first 64 series: bit i of the series of index i. [any]
    public var wantedSeries: UInt64 {
        series?.pointee.wanted?(host.pointee.handle) ?? .max
    }

    /// Writes to the host's log. [any]
    public func log(_ level: vg_log_level, _ text: String) {
        text.withCString { host.pointee.log?(host.pointee.handle, level, $0) }
    }

    /// Publishes an event that the descriptor declares; `position`: the frame at which it happened, nil: now; `silently`:
    /// it replaces what whoever subscribes later is told, and is told to nobody now. [any]
    public func publish(
        _ name: String, _ fields: [(String, SettingValue)] = [], at position: UInt64? = nil, silently: Bool = false
    ) {
        var arena = CValueArena()
        var event = vg_event()
        event.size = UInt32(MemoryLayout<vg_event>.size)
        event.name = arena.text(name)
        event.fields = arena.entries(fields.map { ($0.0, $0.1) })
        event.field_count = UInt32(fields.count)
        event.position = position ?? 0
        event.flags = silently ? UInt32(VG_EVENT_SILENT) : 0
        host.pointee.publish?(host.pointee.handle, &event)
        _ = consume arena  // not before the call is over
    }

    /// Publishes one frame of the series that the descriptor declares, all of them in their order; `position`: the first
    /// frame of the graph after what was measured. [any]
    public func publish(_ rows: [[Float]], at position: UInt64) {
        publish(rows.enumerated().map { (series: $0.offset, values: $0.element) }, at: position)
    }

    /// Publishes one frame of some of the series that the descriptor declares, each by its index. [any]
    public func publish(_ rows: [(series: Int, values: [Float])], at position: UInt64) {
        var start = 0
        var places: [(series: Int, start: Int, count: Int)] = []
        for row in rows {
            places.append((row.series, start, row.values.count))
            start += row.values.count
        }
        rows.flatMap(\.values).withUnsafeBufferPointer { values in
            let rows = places.map { place in
                vg_row(
                    series: UInt32(place.series), count: UInt32(place.count),
                    values: values.baseAddress.map { $0 + place.start })
            }
            rows.withUnsafeBufferPointer { rows in
                publish(
                    vg_frame(
                        size: UInt32(MemoryLayout<vg_frame>.size), row_count: UInt32(rows.count),
                        rows: rows.baseAddress,
                        position: position))
            }
        }
    }

    /// Publishes one frame of some of the series. [any]
    public func publish(_ frame: vg_frame) {
        withUnsafePointer(to: frame) { series?.pointee.publish?(host.pointee.handle, $0) }
    }

    /// Publishes a block of audio. [any]
    public func publish(audio: vg_audio) {
        var audio = audio
        audio.size = UInt32(MemoryLayout<vg_audio>.size)
        self.audio?.pointee.publish?(host.pointee.handle, &audio)
    }

    /// Says how the node is. [any]
    public func health(_ health: Health) {
        let c =
            switch health {
            case .ok: VG_HEALTH_OK
            case .degraded: VG_HEALTH_DEGRADED
            case .failed: VG_HEALTH_FAILED
            }
        (health.reason ?? "").withCString { host.pointee.health?(host.pointee.handle, c, $0) }
    }

    /// Adds to a counter of the node, which the host's status shows by this name. [any]
    public func count(_ counter: String, _ number: Int = 1) {
        guard number > 0 else { return }
        host.pointee.count?(host.pointee.handle, counter, UInt64(number))
    }

    /// Turns a parameter of this node, by its place in the layout: smoothed as a user's change is, or `atOnce` where
    /// nothing of the node is heard; from the frame `position` of the graph on, nil: now. False: the node does not run,
    /// or the queue is full. [any]
    @discardableResult
    public func setParameter(_ parameter: Int, to value: Float, atOnce: Bool = false, at position: UInt64? = nil)
        -> Bool
    {
        host.pointee.set_parameter?(host.pointee.handle, UInt32(parameter), value, atOnce, position ?? 0) ?? false
    }

    /// Sends to whatever the message output `port` is linked to; false when a receiver's inbox is full. [any]
    @discardableResult
    public func send(_ message: Message, port: Int = 0) -> Bool {
        guard let send = messages?.pointee.send else { return false }
        return message.withCMessage { send(host.pointee.handle, UInt32(port), $0) }
    }
}

/// What came of an action of another node.
public typealias CallResult = Result<[String: SettingValue], NodeError>

/// What is done to other nodes of the graph.
extension NodeHost {
    /// What another node declares that can be done to it; nil: there is no such node, or nothing is known of it here.
    /// [any]
    public func actions(of node: String) -> [Action]? {
        guard let list = actions?.pointee.actions_of?(host.pointee.handle, node) else { return nil }
        return elements(of: list.pointee, as: vg_action.self).compactMap { Action($0) }
    }

    /// Does an action of another node that this node's setting `allow` names, as "NODE.ACTION"; `done` is called once,
    /// on any thread, also before this returns, and at the latest after so many seconds. [any]
    public func call(
        _ node: String, _ action: String, _ arguments: [String: SettingValue] = [:], seconds: Double = 10,
        done: @escaping @Sendable (CallResult) -> Void
    ) {
        guard let call = actions?.pointee.call else {
            return done(.failure(NodeError("actions of other nodes are not available here")))
        }
        let waiting = Unmanaged.passRetained(WaitingCall(done)).toOpaque()
        SettingValue.table(arguments).withCValue { arguments in
            call(host.pointee.handle, node, action, arguments, seconds, waiting) { context, results, error in
                let done = Unmanaged<WaitingCall>.fromOpaque(context!).takeRetainedValue().done
                if let error { return done(.failure(NodeError(error.pointee))) }
                guard let results, case .table(let table) = SettingValue(results.pointee) else {
                    return done(.success([:]))
                }
                done(.success(table))
            }
        }
    }
}

/// Whoever waits for an action of another node.
private final class WaitingCall: Sendable {
    let done: @Sendable (CallResult) -> Void
    init(_ done: @escaping @Sendable (CallResult) -> Void) { self.done = done }
}

// What came to the structures later, where whoever published knew of it.
extension vg_event {
    /// Whether it is told only to whoever subscribes later. [any]
    public var isSilent: Bool {
        Int(size) >= MemoryLayout.offset(of: \vg_event.flags)! + 4 && flags & UInt32(VG_EVENT_SILENT) != 0
    }
}

extension vg_audio {
    /// The first frame in the node's own stream; 0 where that is not told. [any]
    public var ownFrame: UInt64 { Int(size) >= MemoryLayout.offset(of: \vg_audio.frame)! + 8 ? frame : 0 }
    /// When the first frame came, in nanoseconds of `CLOCK_MONOTONIC`; 0: unknown. [any]
    public var hostTime: UInt64 { Int(size) >= MemoryLayout.offset(of: \vg_audio.time)! + 8 ? time : 0 }
}
