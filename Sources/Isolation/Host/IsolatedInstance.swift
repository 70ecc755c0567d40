// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import Realtime
import Synchronization
import System

/// One isolated node as its supervisor knows it: what is needed to make it again, and where its child's words go.
final class IsolatedInstance: @unchecked Sendable {
    // Sendable: `gate` guards what the reader of the channel uses; the rest belongs to whoever holds the supervisor's lock
    // for calls, or is atomic.

    /// What makes the node.
    struct Recipe: Sendable {
        var type: String
        /// The shared object; empty: the host's own program.
        var path: String
        var name: String
        var settings: Settings
        var baseFolder: String
        /// Whether a saved state can be given back, by the setting `state`.
        var takesState: Bool

        /// The plugin, for people.
        var plugin: String {
            if let plugin = settings.string("plugin") { return plugin }
            return path.isEmpty ? type : String(path.split(separator: "/").last ?? "")
        }
    }

    /// What changes a node for longer than a message does.
    enum ReplayedCall: Sendable {
        case preset(String)
        case property(String, SettingValue)

        /// `again`: after a restart, when parameters are to stay as the host has them.
        func frame(_ node: UInt32, _ call: UInt32, again: Bool = false) -> FrameWriter {
            switch self {
            case .preset(let preset):
                var frame = FrameWriter(.loadPreset, node: node, call: call)
                frame.put(preset)
                frame.put(UInt8(again ? 1 : 0))
                return frame
            case .property(let key, let value):
                var frame = FrameWriter(.setProperty, node: node, call: call)
                frame.put(key)
                frame.put(value)
                return frame
            }
        }

        /// Whether nothing is left of it once the other has been done.
        func isReplaced(by other: ReplayedCall) -> Bool {
            switch (self, other) {
            case (.preset(let old), .preset(let new)): old == new
            case (.property(let old, _), .property(let new, _)): old == new
            default: false
            }
        }

        /// For people.
        var text: String {
            switch self {
            case .preset(let preset): "the preset \(preset)"
            case .property(let key, _): "the property \(key)"
            }
        }
    }

    /// One call, as it was asked for.
    struct Record: Sendable {
        var number: Int
        var replay: ReplayedCall
        /// When it was asked for, or made again after a restart, in seconds, and how many blocks had then been asked of
        /// the node.
        var time: Double
        var blocks: UInt64
        /// The call that has no answer yet; nil: it is done.
        var call: UInt32?
    }

    let id: UInt32
    let recipe: Recipe
    let host: NodeHost
    let link: UnsafeMutablePointer<LinkState>
    /// Frames; for the compiler.
    let latency = Atomic<UInt32>(0)
    /// Whether a child has this node, as far as it was asked for: created, prepared, active.
    let isThere = Atomic(false)

    // With the supervisor's lock for calls.
    var layout = Layout()
    var canSave = false
    var preparation: Preparation?
    var isActive = false
    /// The newest complete state; nil: none yet.
    var state: String? {
        get { kept.withLock { $0 } }
        set { kept.withLock { $0 = newValue } }
    }
    private let kept = Lock<String?>(nil)
    var savedStates = 0
    /// What was done to it that the state does not hold for certain.
    let replays = Lock<[Record]>([])
    private static let mostReplays = 256
    /// Saving ended the child once: it is not tried again.
    var saveIsDeadly = false
    var failures = 0
    var toldBypassed: UInt64 = 0

    private struct Gate {
        var isOpen = true
        /// The memory of the newest `prepare`.
        var memory: SharedMemory?
        var shape: BlockShape?
        /// Messages for a child that is not there.
        var waiting: [(port: Int, message: Message)] = []
        var lostMessages = 0
    }
    private let gate = Lock(Gate())
    private static let mostMessages = 256

    init(id: UInt32, recipe: Recipe, host: NodeHost) {
        self.id = id
        self.recipe = recipe
        self.host = host
        link = .allocate(capacity: 1)
        link.initialize(to: LinkState())
    }

    deinit {
        link.deinitialize(count: 1)
        link.deallocate()
    }

    /// Notes a call that is being asked for; returns its number. [control]
    func begin(_ replay: ReplayedCall, call: UInt32) -> Int {
        let blocks = link.pointee.asked.load(ordering: .relaxed)
        return replays.withLock { replays in
            let number = (replays.last?.number ?? lastReplay) + 1
            lastReplay = number
            replays.append(Record(number: number, replay: replay, time: monotonicSeconds(), blocks: blocks, call: call))
            return number
        }
    }
    private var lastReplay = 0

    /// A call is done, or, with `false`, is not. [control]
    func end(_ number: Int, done: Bool) {
        replays.withLock { replays in
            guard let index = replays.firstIndex(where: { $0.number == number }) else { return }
            guard done else {
                replays.remove(at: index)
                return
            }
            replays[index].call = nil
            let replay = replays[index].replay
            replays.removeAll { $0.number < number && $0.call == nil && $0.replay.isReplaced(by: replay) }
            if replays.count > Self.mostReplays { replays.removeFirst() }
        }
    }

    /// A call was made again in a new process, in which its effects may have to settle anew. [control]
    func restartSettling(_ number: Int) {
        let blocks = link.pointee.asked.load(ordering: .relaxed)
        replays.withLock { replays in
            guard let index = replays.firstIndex(where: { $0.number == number }) else { return }
            (replays[index].time, replays[index].blocks) = (monotonicSeconds(), blocks)
        }
    }

    /// The newest replayed call up to which a state that is saved now holds all; 0: none. [control]
    func settledReplay(after seconds: Double) -> Int {
        let blocks = link.pointee.asked.load(ordering: .relaxed)
        let time = monotonicSeconds()
        return replays.withLock { replays in
            replays.prefix { $0.call == nil && time - $0.time >= seconds && blocks > $0.blocks + 1 }.last?.number ?? 0
        }
    }

    /// Publishes an event about this node, as the host itself. [control]
    func tell(_ event: String, _ fields: [(String, SettingValue)]) {
        gate.withLock { gate in if gate.isOpen { host.publish(event, fields) } }
    }

    /// Writes to the log, as the host itself. [control]
    func log(_ level: vg_log_level, _ text: String) {
        gate.withLock { gate in if gate.isOpen { host.log(level, text) } }
    }

    /// From now on nothing reaches the host: it is about to free what it is reached by. [control]
    func shut() { gate.withLock { $0.isOpen = false } }

    /// The memory of the newest preparation. [control]
    var memory: SharedMemory? { gate.withLock { $0.memory } }

    func setMemory(_ memory: SharedMemory, _ shape: BlockShape) {
        gate.withLock { gate in
            gate.memory = memory
            gate.shape = shape
        }
        link.pointee.missedSince.store(0, ordering: .relaxed)
        link.pointee.gaveNonsense.store(false, ordering: .relaxed)
    }

    /// Looks at the block, which stays mapped meanwhile. [control]
    func withBlock<R>(_ body: (SharedBlock) -> R) -> R? {
        gate.withLock { gate in
            guard let memory = gate.memory, let shape = gate.shape else { return nil }
            return body(SharedBlock(shape, at: memory.address))
        }
    }

    /// Whether the child was processing this node. After its end. [control]
    var wasInside: Bool { withBlock { $0.inside.pointee.load(ordering: .relaxed) != 0 } ?? false }

    /// Whether the child owes a block for longer than `seconds`. [control]
    func isMissed(seconds: Double) -> Bool {
        let since = link.pointee.missedSince.load(ordering: .acquiring)
        guard since != 0, Double(vg_nanoseconds() &- since) * 1e-9 > seconds else { return false }
        return withBlock { block in
            let response = block.response.pointee.load(ordering: .acquiring)
            return response & SharedBlock.failed == 0 && response != block.request.pointee.load(ordering: .relaxed)
        } ?? false
    }

    /// Keeps a message until there is a child again; false: there are too many. [control]
    func keep(_ message: Message, port: Int) -> Bool {
        gate.withLock { gate in
            guard gate.waiting.count < Self.mostMessages else {
                gate.lostMessages += 1
                return false
            }
            gate.waiting.append((port, message))
            return true
        }
    }

    func takeMessages() -> [(port: Int, message: Message)] {
        gate.withLock { gate in
            defer { gate.waiting = [] }
            return gate.waiting
        }
    }

    /// Passes on what the child tells for this node. [any]
    func deliver(_ frame: FrameReader) {
        var frame = frame
        gate.withLock { gate in
            guard gate.isOpen else { return }
            switch frame.kind {
            case .log: host.log(vg_log_level(rawValue: frame.number()), frame.text())
            case .send:
                let port = Int(frame.number(UInt32.self))
                guard layoutHasMessageOutput(port) else { return }
                host.send(frame.message(), port: port)
            case .publish: publish(&frame)
            case .note: note(&frame)
            case .turn:
                let place = Int(frame.number(UInt32.self))
                let (value, atOnce): (Float, UInt8) = (frame.number(), frame.number())
                guard place < layout.parameters.count, value.isFinite else { return }
                host.setParameter(place, to: value, atOnce: atOnce != 0)
            default: break
            }
        }
    }

    private func layoutHasMessageOutput(_ port: Int) -> Bool {
        port < layout.ports.count { $0.kind == VG_MESSAGE_PORT && $0.direction == VG_OUTPUT }
    }

    private func note(_ frame: inout FrameReader) {
        let kind = vg_note_kind(rawValue: frame.number())
        let (text, value): (String, Double) = (frame.text(), frame.number())
        let name = kind == VG_NOTE_LOG ? "log" : text
        host.publish(name, [("text", .string(text)), ("value", .number(value))])
    }

    private func publish(_ frame: inout FrameReader) {
        let name = frame.text()
        switch frame.number(UInt8.self) {
        case 1:
            let channels: UInt32 = frame.number()
            let (peak, rms) = (frame.samples(Int(channels)), frame.samples(Int(channels)))
            guard peak.count == Int(channels), rms.count == peak.count else { return }
            let (orb, position): (Float, UInt64) = (frame.number(), frame.number())
            peak.withUnsafeBufferPointer { peak in
                rms.withUnsafeBufferPointer { rms in
                    host.publish(
                        levels: vg_levels(
                            channels: channels, peak: peak.baseAddress, rms: rms.baseAddress, orb: orb,
                            position: position))
                }
            }
        case 2:
            let (channels, frames): (UInt32, UInt32) = (frame.number(), frame.number())
            let samples = (0..<min(channels, 4096)).map { _ in frame.samples(Int(frames)) }
            guard samples.allSatisfy({ $0.count == Int(frames) }) else { return }
            let (rate, position): (Double, UInt64) = (frame.number(), frame.number())
            let all = samples.flatMap { $0 }
            all.withUnsafeBufferPointer { all in
                let planes = (0..<samples.count).map { channel in
                    all.baseAddress.map { $0 + channel * Int(frames) }
                }
                planes.withUnsafeBufferPointer { planes in
                    host.publish(
                        audio: vg_audio(
                            channels: UInt32(samples.count), frames: frames, samples: planes.baseAddress, rate: rate,
                            position: position))
                }
            }
        default:
            let fields = (0..<frame.count()).map { _ in (frame.text(), frame.value()) }
            host.publish(name, fields)
        }
    }
}
