// SPDX-License-Identifier: Apache-2.0
import Glibc
import Graph
import NodeKit
import Realtime
import Synchronization
import System

/// A node in a child: the real one. Its calls are made here one after another, on the child's control thread; what it
/// tells its host goes through the channel. [control]
final class ChildNode {
    private let instance: NodeInstance
    private let line: ChildLine
    private let page: StatusPage
    private let notices = Ring<vg_notice>(minimumCapacity: 256)
    private var preparation: Preparation?
    private var block: (memory: SharedMemory, shape: BlockShape)?
    private var audio: ChildAudio?
    private var isActive = false
    /// Messages, actions and settings that were taken; the host compares it with what it sent.
    private var taken: UInt32
    private var told: (taken: UInt32, isIdle: Bool)?
    private let ears: Ears
    private let hostFacts: Lock<HostFacts>

    /// Whether parameters that the node turns stay as they are, because the host's values are newer than what is done
    /// again after a restart. Plugins may turn them somewhat later than in the call, and from any thread.
    private final class Ears: Sendable {
        /// By the counter of `vg_nanoseconds`; 0: they are turned.
        let deafUntil = Atomic<UInt64>(0)
        let deafFor = Atomic<UInt64>(0)

        func close(seconds: Double) {
            deafFor.store(UInt64(max(0, min(seconds, 1e6)) * 1e9), ordering: .relaxed)
            restart()
        }
        func restart() {
            let time = deafFor.load(ordering: .relaxed)
            if time > 0 { deafUntil.store(vg_nanoseconds() &+ time, ordering: .relaxed) }
        }
        func open() {
            deafFor.store(0, ordering: .relaxed)
            deafUntil.store(0, ordering: .relaxed)
        }
        var areClosed: Bool { vg_nanoseconds() < deafUntil.load(ordering: .relaxed) }
    }

    /// What the host tells when it creates a node.
    struct Birth {
        var name: String
        var baseFolder: String
        var graphName: String
        var folders: UserFolders
        var hostFacts: HostFacts
        /// What the host has sent to the node already, to another child.
        var taken: UInt32
        var settings: Settings
    }

    init(
        _ type: UnsafePointer<vg_node_type>, _ birth: Birth, _ line: ChildLine, _ page: StatusPage
    ) throws(NodeError) {
        self.line = line
        self.page = page
        taken = birth.taken
        let (ears, hostFacts) = (Ears(), Lock(birth.hostFacts))
        (self.ears, self.hostFacts) = (ears, hostFacts)
        var services = line.services { hostFacts.withLock { $0 } }
        services.graphName = birth.graphName
        services.folders = birth.folders
        instance = try NodeInstance(
            type: type, name: birth.name, settings: birth.settings, baseFolder: birth.baseFolder, services: services)
        instance.onSetParameter { place, value, atOnce, position in
            if ears.areClosed { return true }
            var frame = FrameWriter(.turn, node: line.node)
            frame.put(UInt32(place))
            frame.put(value)
            frame.put(UInt8(atOnce ? 1 : 0))
            frame.put(position)
            return line.tell(frame, orCount: "lost parameter changes")
        }
    }

    private var id: UInt32 { line.node }
    var layout: Layout { Layout(ports: instance.ports, parameters: instance.parameters) }
    /// Offline the host asks for every round, so that a render does not depend on time.
    var pollsItself: Bool { isActive && preparation?.offline == false }

    /// Prepares the node for blocks in the memory behind a descriptor.
    func prepare(_ preparation: Preparation, memory descriptor: Int32) throws(NodeError) {
        deactivate()
        let shape = BlockShape(instance.ports, parameters: instance.parameters.count, maxBlock: preparation.maxBlock)
        guard descriptor >= 0, let memory = SharedMemory(descriptor: descriptor, size: SharedBlock.size(shape)) else {
            throw NodeError("the shared memory cannot be mapped: \(String(cString: strerror(errno)))")
        }
        let ramps = SharedBlock(shape, at: memory.address).ramps
        var begun = preparation
        begun.parameters = (0..<shape.parameters).map { ramps[$0].target }
        try page.doing(.prepare, id) { () throws(NodeError) in try instance.prepare(begun) }
        self.preparation = preparation
        block = (memory, shape)
        setLatency()
    }

    func activate(_ scheduling: (policy: Int32, priority: Int32)?) throws(NodeError) {
        guard !isActive, let block else { return }
        page.doing(.activate, id) { instance.activate() }
        isActive = true
        // What is done again may show only now that blocks come.
        ears.restart()
        guard instance.type.pointee.process != nil else { return }
        audio = try ChildAudio(
            instance, SharedBlock(block.shape, at: block.memory.address), block.shape, notices.writer, line)
        // How the host's audio thread runs is known from its first block on; that one is not to be late either.
        schedule(scheduling ?? (preparation?.offline == false ? (SCHED_FIFO, 1) : nil))
    }

    func finish() {
        page.doing(.finish, id) { instance.finish() }
        tellNotes()
    }

    func deactivate() {
        audio?.end()
        audio = nil
        guard isActive else { return }
        isActive = false
        page.doing(.deactivate, id) { _ = instance.deactivate() }
        tellNotes()
    }

    func schedule(_ scheduling: (policy: Int32, priority: Int32)?) {
        if let scheduling { audio?.schedule(policy: scheduling.policy, priority: scheduling.priority) }
    }

    func set(_ hostFacts: HostFacts) { self.hostFacts.withLock { $0 = hostFacts } }

    func receive(_ message: Message, port: Int) {
        defer { taken &+= 1 }
        page.doing(.receive, id) { instance.receive(message, port: port) }
    }

    func poll() {
        page.doing(.poll, id) { instance.poll() }
        tellNotes()
    }

    /// Does an action; `done` is called once, now or later, on any thread. `replayed`: it is done again after a restart;
    /// then what is turned within so many seconds is not turned. Nil: it is new.
    func perform(
        _ action: String, _ arguments: [String: SettingValue], replayed: Double?,
        done: @escaping @Sendable (ActionResult) -> Void
    ) {
        defer { taken &+= 1 }
        if let replayed {
            ears.close(seconds: replayed)
        } else if action != VG_ACTION_PROPERTY {
            // A property turns no parameter.
            ears.open()
        }
        page.doing(.perform, id, action) { begin(action, arguments, done) }
    }

    func set(_ setting: String, to value: SettingValue) throws(NodeError) {
        defer { taken &+= 1 }
        try page.doing(.setting, id, setting) { () throws(NodeError) in try instance.setHere(setting, to: value) }
    }

    /// Writes the node's state, as the supervisor wants it now and then.
    func save(to folder: String, done: @escaping @Sendable (ActionResult) -> Void) {
        page.doing(.save, id) { begin(VG_ACTION_SAVE, ["folder": .string(folder)], done) }
    }

    private func begin(
        _ action: String, _ arguments: [String: SettingValue], _ done: @escaping @Sendable (ActionResult) -> Void
    ) {
        // Its caller in the host knows how long it wants to wait.
        instance.perform(action, arguments, patience: 1e9, here: true, done: done)
    }

    /// Tells the host what is different after a call: whether the node is idle, how long its audio takes, what was lost.
    func tellState() {
        if instance.takeLatencyChange() { setLatency() }
        line.tellLosses()
        let state = (taken: taken, isIdle: instance.isIdle)
        if let told, told == state { return }
        var frame = FrameWriter(.state, node: id)
        frame.put(state.taken)
        frame.put(UInt8(state.isIdle ? 1 : 0))
        if line.tell(frame) { told = state }
    }

    /// Asks the node what may have changed without a call.
    func look() {
        if !pollsItself { page.doing(.idle, id) { _ = instance.askIdle() } }
    }

    private func setLatency() {
        guard let block else { return }
        SharedBlock(block.shape, at: block.memory.address).latency.pointee
            .store(UInt32(clamping: instance.latency), ordering: .relaxed)
    }

    private func tellNotes() {
        if let audio { line.lose(audio.takeLostNotices(), "lost notices") }
        while let notice = notices.reader.pop() {
            var frame = FrameWriter(.notice, node: id)
            frame.put(notice.kind.rawValue)
            frame.put(notice.text.map { String(cString: $0) } ?? "")
            frame.put(notice.value)
            frame.put(notice.position)
            line.tell(frame, orCount: "lost events")
        }
    }
}
