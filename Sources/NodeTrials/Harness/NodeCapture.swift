// SPDX-License-Identifier: Apache-2.0
import Graph
import NodeKit
import Synchronization

/// A copy of a frame of series that a node published.
public struct CapturedFrame: Sendable, Equatable {
    /// The numbers, by the place of their series.
    public var rows: [Int: [Float]]
    /// First frame of the graph after what was measured.
    public var position: UInt64

    /// Describes a frame.
    public init(rows: [Int: [Float]], position: UInt64) {
        self.rows = rows
        self.position = position
    }
}

/// A copy of a block of audio that a node published.
public struct CapturedAudio: Sendable, Equatable {
    /// Samples per channel.
    public var channels: [[Float]]
    /// Hz.
    public var rate: Double
    /// Of the first frame.
    public var position: UInt64
    /// The same in the node's own stream.
    public var frame: UInt64
    /// How many there are.
    public var frames: Int { channels.first?.count ?? 0 }
}

/// A copy of an event that a node published.
public struct CapturedEvent: Sendable, Equatable {
    /// As the node named it.
    public var name: String
    /// What it carries.
    public var fields: [String: SettingValue] = [:]
    /// The frame of the graph at which it happened; 0: now.
    public var position: UInt64

    init(_ event: vg_event) {
        name = event.name.map { String(cString: $0) } ?? ""
        position = event.position
        for entry in UnsafeBufferPointer(start: event.fields, count: Int(event.field_count)) {
            fields[String(cString: entry.key)] = SettingValue(entry.value)
        }
    }
}

/// A line that a node logged.
public struct CapturedLog: Sendable, Equatable {
    /// Raw value of `vg_log_level`.
    public var level: UInt32
    /// What it says.
    public var text: String
}

/// A message that a node sent.
public struct CapturedMessage: Sendable, Equatable {
    /// Index among the message outputs.
    public var port: Int
    /// What was sent.
    public var message: Message
}

/// Collects what a node tells its host; any thread may add and read.
public final class NodeCapture: Sendable {
    private struct State {
        var events: [CapturedEvent] = []
        var silent: [CapturedEvent] = []
        var frames: [CapturedFrame] = []
        var audio: [CapturedAudio] = []
        var health: [Health] = []
        var counts: [String: UInt64] = [:]
        var declarations: NodeDeclarations?
        var logs: [CapturedLog] = []
        var messages: [CapturedMessage] = []
        var acceptsMessages = true
        var outputLatency = 0
        var wanted: UInt64 = 0
        var neighbours: [String: NodeInstance] = [:]
    }

    private let state = Mutex(State())
    private let report: FaultReport
    private let models: String

    /// An empty capture. `models`: the folder of models that nodes look into, by default this user's; `report` is told of
    /// events and series that are not declared.
    public init(models: String? = nil, report: @escaping FaultReport = { _ in }) {
        self.report = report
        self.models = models ?? UserFolders().models
    }

    /// Everything published so far, in order.
    public var events: [CapturedEvent] { state.withLock { $0.events } }
    /// What only those are told who subscribe later, in order.
    public var silent: [CapturedEvent] { state.withLock { $0.silent } }
    /// Every frame of series published so far, in order.
    public var frames: [CapturedFrame] { state.withLock { $0.frames } }
    /// Every block of audio published so far, in order.
    public var audio: [CapturedAudio] { state.withLock { $0.audio } }
    /// Everything said of its health so far, in order.
    public var health: [Health] { state.withLock { $0.health } }
    /// What its counters add up to.
    public var counts: [String: UInt64] { state.withLock { $0.counts } }
    /// Everything logged so far, in order.
    public var logs: [CapturedLog] { state.withLock { $0.logs } }
    /// Everything sent so far, in order.
    public var messages: [CapturedMessage] { state.withLock { $0.messages } }
    /// Whether `send` succeeds; false plays a receiver whose queue is full.
    public var acceptsMessages: Bool {
        get { state.withLock { $0.acceptsMessages } }
        set { state.withLock { $0.acceptsMessages = newValue } }
    }

    /// Frames from a sample that leaves the node until it is heard.
    public var outputLatency: Int {
        get { state.withLock { $0.outputLatency } }
        set { state.withLock { $0.outputLatency = newValue } }
    }

    /// Which series on request are read, by their index; none at first.
    public var wanted: Set<Int> {
        get { state.withLock { state in Set((0..<64).filter { state.wanted >> UInt64($0) & 1 == 1 }) } }
        set { state.withLock { $0.wanted = newValue.reduce(0) { $0 | 1 << UInt64($1) } } }
    }

    /// Other nodes whose actions the node may call, by their names.
    public var neighbours: [String: NodeInstance] {
        get { state.withLock { $0.neighbours } }
        set { state.withLock { $0.neighbours = newValue } }
    }

    /// Forgets everything collected.
    public func clear() {
        state.withLock {
            $0.events = []
            $0.silent = []
            $0.frames = []
            $0.audio = []
            $0.logs = []
            $0.messages = []
        }
    }

    /// From now on, events and series that are not declared are faults.
    func expect(_ declarations: NodeDeclarations) { state.withLock { $0.declarations = declarations } }

    private func take(_ event: CapturedEvent, silently: Bool) {
        let declarations = state.withLock { state in
            if silently { state.silent.append(event) } else { state.events.append(event) }
            return state.declarations
        }
        guard let declarations else { return }
        guard let type = declarations.events.first(where: { $0.name == event.name }) else {
            report("the event \(event.name) is not declared")
            return
        }
        for (name, value) in event.fields where !type.fields.contains(where: { $0.name == name && value.fits($0.kind) })
        {
            report("\(event.name) does not declare the field \(name) with \(value)")
        }
    }

    private func take(_ frame: CapturedFrame) {
        let declarations = state.withLock { state in
            state.frames.append(frame)
            return state.declarations
        }
        guard let declarations else { return }
        for (place, row) in frame.rows {
            let width = place < declarations.series.count ? declarations.series[place].width : -1
            if width < 0 || (width > 0 && row.count != width) {
                report("\(row.count) numbers of series \(place) are not declared")
            }
        }
    }

    /// The host's side, for `NodeInstance`.
    public var services: NodeServices {
        var services = NodeServices()
        services.folders.models = models
        services.log = { level, text in
            self.state.withLock { $0.logs.append(CapturedLog(level: level.rawValue, text: text)) }
        }
        services.publish = { self.take(CapturedEvent($0.pointee), silently: $0.pointee.isSilent) }
        services.publishFrame = { self.take(CapturedFrame($0.pointee)) }
        services.publishAudio = { audio in
            let audio = CapturedAudio(audio.pointee)
            self.state.withLock { $0.audio.append(audio) }
        }
        services.health = { health in self.state.withLock { $0.health.append(health) } }
        services.outputLatency = { self.outputLatency }
        services.wanted = { self.state.withLock(\.wanted) }
        services.actions = { self.neighbours[$0]?.extensions.actions?.pointer(to: \.actions) }
        services.call = { node, action, arguments, seconds, done in
            guard let instance = self.neighbours[node] else {
                return done(.failure(NodeError("there is no other node '\(node)'")))
            }
            instance.perform(action, arguments, patience: seconds, here: true, done: done)
        }
        services.count = { counter, number in self.state.withLock { $0.counts[counter, default: 0] += number } }
        services.send = { port, message in
            self.state.withLock {
                guard $0.acceptsMessages else { return false }
                $0.messages.append(CapturedMessage(port: port, message: message))
                return true
            }
        }
        return services
    }
}

extension CapturedFrame {
    init(_ frame: vg_frame) {
        rows = [:]
        position = frame.position
        for row in UnsafeBufferPointer(start: frame.rows, count: Int(frame.row_count)) {
            rows[Int(row.series)] = Array(UnsafeBufferPointer(start: row.values, count: Int(row.count)))
        }
    }
}

extension CapturedAudio {
    init(_ audio: vg_audio) {
        channels = (0..<Int(audio.channels)).map {
            Array(UnsafeBufferPointer(start: audio.samples[$0], count: Int(audio.frames)))
        }
        rate = audio.rate
        position = audio.position
        frame = audio.ownFrame
    }
}

extension SettingValue {
    fileprivate func fits(_ kind: vg_value_kind) -> Bool {
        if kind == VG_ANY { return true }
        return switch self {
        case .bool: kind == VG_BOOL
        case .integer: kind == VG_INTEGER || kind == VG_NUMBER
        case .number: kind == VG_NUMBER
        case .string: kind == VG_STRING
        case .list: kind == VG_LIST
        case .table: kind == VG_TABLE
        }
    }
}
