// SPDX-License-Identifier: Apache-2.0
import GraphFile
import NodeKit
import Synchronization
import System

/// One node behind the C boundary: its life, its ports, its parameters. Control calls come one after another, by its
/// queue, which the audio thread never touches; those of this file are made on the caller's thread, which waits.
public final class NodeInstance: @unchecked Sendable {
    // Sendable: `queue` guards the control half, an engine's lock the times; the audio half is reached only through a
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
    /// Who listens how loud it is, and what each has not taken yet; see `PeakListener`.
    let heard = Lock<[ObjectIdentifier: UInt32]>([:])

    let node: UnsafeMutableRawPointer
    let queue = NodeQueue()
    let hostMemory: HostMemory
    /// What the type declares beyond ports and parameters.
    public let declarations: NodeDeclarations
    /// Actions that the node has not ended, by their addresses.
    let calls = Lock<[ObjectIdentifier: ActionRun]>([:])
    /// The processor made by the last `prepare`; 0: there is none.
    private let preparedProcessor = Atomic<UInt>(0)
    private let cachedLatency = Atomic<Int>(0)
    private let cachedIdle = Atomic<Bool>(true)
    private let latencyMoved = Atomic<Bool>(false)
    private let finished = Atomic<Bool>(false)
    // Of whoever has the queue.
    private var active = false
    /// What parameters were last set to, and what triggers among them begin with, by place. With a lock of its own: a node
    /// may turn its parameters during any call.
    private let values: Lock<(now: [Float], first: [Int: Float])>

    /// Creates a node. `services` gives it the host. [control]
    public init(
        type: UnsafePointer<vg_node_type>, name: String, settings: Settings, baseFolder: String = "",
        services: NodeServices = NodeServices(), declarations: NodeDeclarations? = nil
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
        self.declarations = declarations ?? NodeDeclarations(type)
        node = made
        hostMemory = memory
        values = Lock((parameters.map(\.defaultValue), [:]))
        guardFindings = AudioMemory.make()
        guardFindings.initialize(to: GuardFindings())
        guardState = .allocate(capacity: 1)
        guardState.initialize(to: GuardState(guardFindings, channels: ports.count(where: { $0.kind == VG_AUDIO_PORT })))
        ramps = AudioMemory.make(count: parameters.count)
        for (index, parameter) in parameters.enumerated() {
            (ramps + index).initialize(to: .steady(parameter.defaultValue))
        }
        refresh()
    }

    deinit {
        if active { type.pointee.deactivate?(node) }
        type.pointee.destroy(node)
        let rest = calls.withLock { calls in
            defer { calls = [:] }
            return calls.values.map { $0 }
        }
        for run in rest { run.finish(.failure(NodeError("the node is gone"))) }
        AudioMemory.free(ramps, count: parameters.count)
        guardState.deinitialize(count: 1)
        guardState.deallocate()
        guardFindings.deinitialize(count: 1)
        AudioMemory.free(guardFindings)
    }

    /// Why it cannot be bypassed; nil: it can.
    public var bypassFault: String? {
        let (inputs, outputs) = (count(VG_AUDIO_PORT, VG_INPUT), count(VG_AUDIO_PORT, VG_OUTPUT))
        if outputs > 0, inputs == outputs || inputs == 1 { return nil }
        let events = count(VG_MIDI_PORT, VG_OUTPUT)
        if outputs == 0, events > 0, count(VG_MIDI_PORT, VG_INPUT) == events { return nil }
        return "it has \(inputs) audio input\(inputs == 1 ? "" : "s") and \(outputs) output\(outputs == 1 ? "" : "s")"
    }

    /// What its type has besides the core of the contract.
    public var extensions: TypeExtensions { declarations.extensions }
    /// What takes its inputs in a feedback loop; nil: it closes none.
    public var absorb: vg_process_function? { extensions.loop?.pointee.absorb }
    /// The type's name.
    public var typeName: String { String(cString: type.pointee.name) }
    /// Whether the driver fills or takes its buffers.
    public var isExternal: Bool { type.pointee.flags & UInt32(VG_EXTERNAL) != 0 }
    /// Whether output i may share its buffer with input i.
    public var worksInPlace: Bool { type.pointee.flags & UInt32(VG_IN_PLACE) != 0 }

    /// Sets a parameter before the first block, without a ramp. [control]
    func start(_ index: Int, at value: Float) {
        if parameters[index].isTrigger { return values.withLock { $0.first[index] = value } }
        ramps[index] = .steady(value)
        keep(index, value)
    }

    /// Remembers what a parameter was set to; a trigger is at its default whenever it is asked. [control]
    func keep(_ index: Int, _ value: Float) {
        if !parameters[index].isTrigger { values.withLock { $0.now[index] = value } }
    }

    /// What a parameter was last set to; one that follows a control may be elsewhere. [control]
    public func value(_ index: Int) -> Float { values.withLock { $0.now[index] } }

    /// What all parameters begin with: triggers that the file sets among them, once. [control]
    private func takeFirstValues() -> [Float] {
        values.withLock { values in
            defer { values.first = [:] }
            return values.now.enumerated().map { values.first[$0] ?? $1 }
        }
    }

    /// The processor made by `prepare`, nil before; for the compiler. [any]
    public var processor: UnsafeMutableRawPointer? {
        UnsafeMutableRawPointer(bitPattern: preparedProcessor.load(ordering: .acquiring))
    }

    /// Whether `prepare` has succeeded. [any]
    public var isPrepared: Bool { preparedProcessor.load(ordering: .relaxed) != 0 }

    /// The processor of a node whose work is a call into code that knows nothing of the host. [control]
    var foreign: UnsafeMutablePointer<vg_foreign>? {
        // What the type names only goes on to what the processor names.
        guard let process = type.pointee.process,
            unsafeBitCast(process, to: UInt.self)
                == unsafeBitCast(vg_foreign_process as vg_process_function, to: UInt.self)
        else { return nil }
        return processor?.assumingMemoryBound(to: vg_foreign.self)
    }

    /// Makes the processor; deactivates first if needed, and activates after it, before any other call, if `activating`.
    /// Throws also when the node is busy with something else for `patience` seconds. [control]
    public func prepare(
        _ preparation: Preparation, activating: Bool = false, patience: Double = .infinity
    ) throws(NodeError) {
        var error = vg_error()
        var c = vg_preparation(
            size: UInt32(MemoryLayout<vg_preparation>.size), rate: preparation.rate,
            max_block: UInt32(clamping: preparation.maxBlock), offline: preparation.offline,
            parameter_count: UInt32(parameters.count), parameters: nil)
        let isDone = queue.run("prepare", patience: patience) {
            if active { type.pointee.deactivate?(node) }
            active = false
            finished.store(false, ordering: .relaxed)
            let first = preparation.parameters.count == parameters.count ? preparation.parameters : takeFirstValues()
            let made = first.withUnsafeBufferPointer { values in
                c.parameters = values.baseAddress
                return type.pointee.prepare(node, &c, &error)
            }
            preparedProcessor.store(UInt(bitPattern: made), ordering: .releasing)
            refresh()
            if activating { activateNow() }
            return made != nil
        }
        guard let isDone else { throw busy }
        if !isDone { throw NodeError(error) }
    }

    /// Whether a call is made just now. [any]
    public var isBusy: Bool { queue.occupation != nil }

    /// Whether nothing waits. [any]
    public var hasNoWork: Bool { queue.isEmpty }

    /// Returns when no other call is made. [control]
    public func waitUntilFree() { call("wait") {} }

    /// Why a call cannot be made now.
    public var busy: NodeError {
        NodeError("it is busy with \(queue.occupation ?? "something")", hint: "try again later")
    }

    /// The compiler takes no processor of it any more, as if `prepare` had failed. [control]
    public func leaveOut() { preparedProcessor.store(0, ordering: .releasing) }

    /// Processing is about to begin. [control]
    public func activate() {
        call("activate") { activateNow() }
    }

    private func activateNow() {
        guard !active, isPrepared else { return }
        active = true
        type.pointee.activate?(node)
    }

    /// The audio of the node has ended for good: it finishes what it holds. [control]
    public func finish() { call("finish") { finishNow() } }

    /// The same, for whoever has the queue.
    public func finishNow() {
        if active, !finished.load(ordering: .relaxed) { extensions.ending?.pointee.finish?(node) }
        finished.store(true, ordering: .releasing)
        refresh()
    }

    /// Whether `finish` was called and has returned, and nothing waits. [any]
    public var isFinished: Bool { finished.load(ordering: .acquiring) && queue.isEmpty }

    /// Processing has ended. False: the node is busy with something else for longer than `patience` seconds. [control]
    @discardableResult
    public func deactivate(patience: Double = .infinity) -> Bool {
        let isDone = queue.run("deactivate", patience: patience) {
            if active { type.pointee.deactivate?(node) }
            active = false
            return true
        }
        return isDone ?? false
    }

    /// Hands a message to the message input `port` (index among those). [control]
    public func receive(_ message: Message, port: Int) { call("a message") { take(message, port) } }

    func take(_ message: Message, _ port: Int) {
        guard let receive = extensions.messages?.pointee.receive else { return }
        message.withCMessage { receive(node, UInt32(port), $0) }
        refresh()
    }

    /// Lets the node move what its processor left in rings. [control]
    public func poll() { call("poll") { pollNow() } }

    /// The same, unless the node is busy or something waits for it: then its turn comes later. [control]
    public func pollIfFree() { _ = queue.runIfFree("poll") { pollNow() } }

    private func pollNow() {
        if active { type.pointee.poll?(node) }
        refresh()
    }

    /// Whether there is anything to look at regularly.
    public var wantsPoll: Bool {
        type.pointee.poll != nil || type.pointee.latency != nil || extensions.ending?.pointee.idle != nil
    }

    /// Frames between an input and the output it causes, as the node said after its last call. [any]
    public var latency: Int { cachedLatency.load(ordering: .relaxed) }

    /// Whether `latency` has changed since the last call of this. [any]
    public func takeLatencyChange() -> Bool { latencyMoved.exchange(false, ordering: .relaxed) }

    /// Offline: returns when `frames` can be processed without a gap. [control]
    public func wait(frames: Int) {
        guard let wait = extensions.offline?.pointee.wait else { return }
        call("wait") { wait(node, UInt32(frames)) }
    }

    /// False while the node has something of its own left to play, or to do. [any]
    public var isIdle: Bool { queue.isAtRest && cachedIdle.load(ordering: .relaxed) }

    /// The same, asked of the node itself. [control]
    public func askIdle() -> Bool {
        call("idle") { refresh() }
        return isIdle
    }

    /// Asks the node what may be different after every call. By whoever has the queue.
    func refresh() {
        if let latency = type.pointee.latency {
            let frames = Int(latency(node))
            if cachedLatency.exchange(frames, ordering: .relaxed) != frames {
                latencyMoved.store(true, ordering: .relaxed)
            }
        }
        if let idle = extensions.ending?.pointee.idle { cachedIdle.store(idle(node), ordering: .relaxed) }
    }

    private func call(_ name: String, _ body: () -> Void) { _ = queue.run(name, body) }

    /// Index of a parameter by key.
    public func parameterIndex(_ key: String) -> Int? { parameters.firstIndex { $0.key == key } }
}

private let nodeCount = Atomic<UInt32>(0)

extension vg_ramp {
    /// A parameter that holds still.
    public static func steady(_ value: Float) -> vg_ramp {
        vg_ramp(value: value, step: 0, target: value, frames: 0, start: 0, length: 0)
    }
}
