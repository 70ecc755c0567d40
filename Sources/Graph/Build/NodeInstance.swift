// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Synchronization
import System

/// One node behind the C boundary: its life, its ports, its parameters. Control calls are serialised by a lock that
/// the audio thread never takes.
public final class NodeInstance: @unchecked Sendable {
    // Sendable: `control` guards the control half, an engine's lock the times; the audio half is reached only through a
    // schedule.

    /// The node's name in the file.
    public let name: String
    /// Not the same for any two nodes of the process; what `vg_io.node` and notes carry.
    public let number: UInt32
    /// Its type; lives as long as the code it points to.
    public let type: UnsafePointer<vg_node_type>
    /// Its ports, in layout order.
    public let ports: [Port]
    /// Its parameters, in layout order.
    public let parameters: [Parameter]
    /// The audio thread's view of the parameters, one ramp each, in layout order. Values set before the first block
    /// apply at once.
    public let ramps: UnsafeMutablePointer<vg_ramp>

    /// What its blocks took: for `process` and for `absorb`. The engine's, under its lock.
    let times = TimeStatistics()
    let absorbTimes = TimeStatistics()

    /// What the guard behind it saw.
    let guardFindings: UnsafeMutablePointer<GuardFindings>
    let guardState: UnsafeMutablePointer<GuardState>

    let node: UnsafeMutableRawPointer
    let control = Lock(())
    let hostMemory: HostMemory
    private var preparedProcessor: UnsafeMutableRawPointer?
    private var active = false
    /// What parameters were last set to. With a lock of its own: a node may turn its parameters during any call.
    private let values: Lock<[Float]>

    /// Creates a node. `services` gives it the host; `log`, `publish` and `send` of it may be nil. [control]
    public init(
        type: UnsafePointer<vg_node_type>, name: String, settings: Settings, baseFolder: String = "",
        services: NodeServices = NodeServices()
    ) throws(NodeError) {
        let memory = HostMemory(name: name, baseFolder: baseFolder, services: services)
        var error = vg_error()
        guard let create = type.pointee.create, type.pointee.destroy != nil, type.pointee.prepare != nil else {
            throw NodeError("node type has no create, prepare or destroy function")
        }
        let made = SettingValue.table(settings.values).withCValue { create(type, memory.host, $0, &error) }
        guard let made else { throw NodeError(error) }
        let layout = type.pointee.layout?(made) ?? type.pointer(to: \.default_layout)!
        do {
            ports = try readPorts(layout.pointee)
            parameters = try readParameters(layout.pointee)
        } catch {
            type.pointee.destroy(made)
            throw error
        }
        self.name = name
        number = nodeCount.add(1, ordering: .relaxed).newValue
        self.type = type
        node = made
        hostMemory = memory
        values = Lock(parameters.map(\.defaultValue))
        guardFindings = .allocate(capacity: 1)
        guardFindings.initialize(to: GuardFindings())
        guardState = .allocate(capacity: 1)
        guardState.initialize(to: GuardState(guardFindings, channels: ports.count(where: { $0.kind == VG_AUDIO_PORT })))
        ramps = .allocate(capacity: max(1, parameters.count))
        for (index, parameter) in parameters.enumerated() {
            (ramps + index).initialize(to: .steady(parameter.defaultValue))
        }
    }

    deinit {
        if active { type.pointee.deactivate?(node) }
        type.pointee.destroy(node)
        ramps.deallocate()
        guardState.deinitialize(count: 1)
        guardState.deallocate()
        guardFindings.deinitialize(count: 1)
        guardFindings.deallocate()
    }

    /// Why it cannot be bypassed; nil: it can.
    public var bypassFault: String? {
        let (inputs, outputs) = (count(VG_AUDIO_PORT, VG_INPUT), count(VG_AUDIO_PORT, VG_OUTPUT))
        if outputs > 0, inputs == outputs || inputs == 1 { return nil }
        let events = count(VG_MIDI_PORT, VG_OUTPUT)
        if outputs == 0, events > 0, count(VG_MIDI_PORT, VG_INPUT) == events { return nil }
        return "it has \(inputs) audio input\(inputs == 1 ? "" : "s") and \(outputs) output\(outputs == 1 ? "" : "s")"
    }

    /// The type's name.
    public var typeName: String { String(cString: type.pointee.name) }
    /// Whether the driver fills or takes its buffers.
    public var isExternal: Bool { type.pointee.flags & UInt32(VG_EXTERNAL) != 0 }
    /// Whether output i may share its buffer with input i.
    public var worksInPlace: Bool { type.pointee.flags & UInt32(VG_IN_PLACE) != 0 }

    /// Sets a parameter before the first block, without a ramp. [control]
    func start(_ index: Int, at value: Float) {
        ramps[index] = .steady(value)
        keep(index, value)
    }

    /// Remembers what a parameter was set to. [control]
    func keep(_ index: Int, _ value: Float) { values.withLock { $0[index] = value } }

    /// What a parameter was last set to; one that follows a control may be elsewhere. [control]
    public func value(_ index: Int) -> Float { values.withLock { $0[index] } }

    /// The processor made by `prepare`, nil before; for the compiler. [control]
    public var processor: UnsafeMutableRawPointer? { control.withLock { _ in preparedProcessor } }

    /// The processor of a node whose work is a call into code that knows nothing of the host. [control]
    var foreign: UnsafeMutablePointer<vg_foreign>? {
        // What the type names only goes on to what the processor names.
        guard let process = type.pointee.process,
            unsafeBitCast(process, to: UInt.self)
                == unsafeBitCast(vg_foreign_process as vg_process_function, to: UInt.self)
        else { return nil }
        return processor?.assumingMemoryBound(to: vg_foreign.self)
    }

    /// Makes the processor; deactivates first if needed. [control]
    public func prepare(_ preparation: Preparation) throws(NodeError) {
        var error = vg_error()
        var c = vg_preparation(
            rate: preparation.rate, max_block: UInt32(clamping: preparation.maxBlock), offline: preparation.offline)
        let result = control.withLock { _ in
            if active { type.pointee.deactivate?(node) }
            active = false
            let made = type.pointee.prepare(node, &c, &error)
            preparedProcessor = made
            return made.map { UInt(bitPattern: $0) }
        }
        if result == nil { throw NodeError(error) }
    }

    /// Processing is about to begin. [control]
    public func activate() {
        control.withLock { _ in
            guard !active, preparedProcessor != nil else { return }
            active = true
            type.pointee.activate?(node)
        }
    }

    /// Processing has ended. [control]
    public func deactivate() {
        control.withLock { _ in
            if active { type.pointee.deactivate?(node) }
            active = false
        }
    }

    /// Hands a message to the message input `port` (index among those). [control]
    public func receive(_ message: Message, port: Int) {
        control.withLock { _ in
            guard let receive = type.pointee.receive else { return }
            message.withCMessage { receive(node, UInt32(port), $0) }
        }
    }

    /// Lets the node move what its processor left in rings. [control]
    public func poll() {
        control.withLock { _ in if active { type.pointee.poll?(node) } }
    }

    /// Whether `poll` does anything.
    public var wantsPoll: Bool { type.pointee.poll != nil }

    /// Frames between an input and the output it causes. [control]
    public var latency: Int { control.withLock { _ in Int(type.pointee.latency?(node) ?? 0) } }

    /// Offline: returns when `frames` can be processed without a gap. [control]
    public func wait(frames: Int) {
        // Outside the lock: a waiting node may need `receive` or `poll` to go on.
        type.pointee.wait?(node, UInt32(frames))
    }

    /// False while the node has something of its own left to play. [control]
    public var isIdle: Bool { control.withLock { _ in type.pointee.idle?(node) ?? true } }

    /// Whether the node has something to keep beyond its settings.
    public var canSave: Bool {
        // A type built before there was such a call ends before it.
        let offset = MemoryLayout<vg_node_type>.offset(of: \.save) ?? .max
        return Int(type.pointee.size) > offset && type.pointee.save != nil
    }

    /// Writes what another node with the same settings would need to go on like this one. [control]
    public func save(to folder: String) throws(NodeError) {
        guard canSave, let save = type.pointee.save else { return }
        var error = vg_error()
        if !control.withLock({ _ in save(node, folder, &error) }) { throw NodeError(error) }
    }

    /// Index of a parameter by key.
    public func parameterIndex(_ key: String) -> Int? { parameters.firstIndex { $0.key == key } }
}

private let nodeCount = Atomic<UInt32>(0)

extension vg_ramp {
    /// A parameter that holds still.
    public static func steady(_ value: Float) -> vg_ramp { vg_ramp(value: value, step: 0, target: value, frames: 0) }
}

extension NodeError {
    init(_ error: vg_error) {
        func text<T>(_ field: T) -> String {
            withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        }
        let message = text(error.message)
        self.init(message.isEmpty ? "failed without a reason" : message, hint: text(error.hint), key: text(error.key))
    }
}

/// More ports than this is taken for a broken layout.
private let saneCount = 4096

func readPorts(_ layout: vg_layout) throws(NodeError) -> [Port] {
    guard layout.port_count <= saneCount else { throw NodeError("declares \(layout.port_count) ports") }
    guard layout.port_count == 0 || layout.ports != nil else { throw NodeError("declares ports but gives none") }
    var result: [Port] = []
    for port in UnsafeBufferPointer(start: layout.ports, count: Int(layout.port_count)) {
        guard let symbol = port.symbol else { throw NodeError("port \(result.count) has no symbol") }
        guard port.kind.rawValue <= VG_MESSAGE_PORT.rawValue, port.direction.rawValue <= VG_OUTPUT.rawValue else {
            throw NodeError("port \(String(cString: symbol)) has an unknown kind or direction")
        }
        result.append(
            Port(
                port.kind, port.direction, String(cString: symbol), doc: port.doc.map { String(cString: $0) } ?? "",
                bus: port.bus.map { String(cString: $0) }, defaultValue: port.default_value))
    }
    return result
}

func readParameters(_ layout: vg_layout) throws(NodeError) -> [Parameter] {
    guard layout.parameter_count <= saneCount else { throw NodeError("declares \(layout.parameter_count) parameters") }
    guard layout.parameter_count == 0 || layout.parameters != nil else {
        throw NodeError("declares parameters but gives none")
    }
    var result: [Parameter] = []
    for parameter in UnsafeBufferPointer(start: layout.parameters, count: Int(layout.parameter_count)) {
        guard let key = parameter.key else { throw NodeError("parameter \(result.count) has no key") }
        guard parameter.minimum <= parameter.maximum else {
            throw NodeError("parameter \(String(cString: key)) has an empty range")
        }
        result.append(
            Parameter(
                String(cString: key), parameter.doc.map { String(cString: $0) } ?? "",
                parameter.minimum...parameter.maximum, default: parameter.default_value,
                unit: parameter.unit.map { String(cString: $0) } ?? "", scale: parameter.scale,
                flags: Int(parameter.flags)))
    }
    return result
}
