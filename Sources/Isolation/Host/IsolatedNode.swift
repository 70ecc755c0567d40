// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import Realtime
import Synchronization

/// A node whose real half lives in a child: to the host it is a node like any other. [control]
final class IsolatedNode: Node {
    /// Every type has its own, made from the real one's.
    static let descriptor = NodeDescriptor("isolated", "a node in a process of its own", process: isolatedProcess)

    private let supervisor: Supervisor
    private let hung: HungNodes
    private let instance: IsolatedInstance
    /// What the processor points to.
    private var samples: UnsafeMutablePointer<Float>?
    private var notes: IsolatedNotes?
    /// The newest block, and the memory in which it lies.
    private var block: (SharedBlock, SharedMemory)?

    init(settings: Settings, host: NodeHost) throws(NodeError) {
        throw NodeError("a node is isolated by its setting 'isolate'")
    }

    init(_ recipe: IsolatedInstance.Recipe, _ host: NodeHost, _ supervisor: Supervisor, _ hung: HungNodes)
        throws(NodeError)
    {
        self.supervisor = supervisor
        self.hung = hung
        instance = try hung.follow(recipe, patience: supervisor.patience) { () throws(NodeError) in
            try supervisor.admit(recipe, host)
        }
    }

    deinit {
        supervisor.dismiss(instance)
        samples?.deallocate()
        notes?.free()
    }

    var layout: Layout { instance.layout }

    func prepare(_ preparation: Preparation) throws(NodeError) -> IsolatedProcessor {
        let memory = try hung.follow(instance.recipe, patience: supervisor.patience) { () throws(NodeError) in
            try supervisor.prepare(instance, preparation)
        }
        let shape = BlockShape(
            instance.layout.ports, parameters: instance.layout.parameters.count, maxBlock: preparation.maxBlock)
        let count = max(1, shape.audioOutputs)
        let controls = instance.layout.ports.filter { $0.kind == VG_CONTROL_PORT && $0.direction == VG_OUTPUT }
        samples?.deallocate()
        let samples = UnsafeMutablePointer<Float>.allocate(capacity: 2 * count + controls.count)
        samples.initialize(repeating: 0, count: 2 * count)
        for (index, port) in controls.enumerated() { (samples + 2 * count + index).initialize(to: port.defaultValue) }
        self.samples = samples
        let block = SharedBlock(shape, at: memory.address)
        self.block = (block, memory)
        self.notes?.free()
        let notes = IsolatedNotes(block, inputs: shape.midiInputs, outputs: shape.midiOutputs)
        self.notes = notes
        let policy = supervisor.isolation.policy
        let fade = Int32(clamping: Int(preparation.rate / 100))
        return IsolatedProcessor(
            block: block, link: instance.link, budget: WaitBudget.shared.pointer,
            alarm: supervisor.alarm.descriptor,
            shape: .init(
                audioInputs: shape.audioInputs, audioOutputs: shape.audioOutputs, controlInputs: shape.controlInputs,
                controlOutputs: shape.controlOutputs, parameters: shape.parameters), notes: notes,
            waitPerFrame: (policy?.blockShare ?? 1.0 / 3) * 1e9 / preparation.rate,
            offlineWait: UInt64((policy?.offlineWait ?? 10) * 1e9), fadeFrames: max(1, fade), wet: max(1, fade),
            hold: samples, last: samples + count,
            absent: samples + 2 * count, latency: UInt32(clamping: latency))
    }

    func activate() { supervisor.activate(instance) }
    func deactivate() { supervisor.deactivate(instance) }
    func finish() { supervisor.finish(instance) }
    func receive(_ message: Message, port: Int) { supervisor.receive(instance, message, port: port) }
    func perform(_ action: String, _ arguments: Settings, _ call: ActionCall) throws(NodeError) {
        try supervisor.perform(instance, action, arguments.values, call)
    }
    func set(_ setting: String, to value: SettingValue) throws(NodeError) {
        try supervisor.set(instance, setting, to: value)
    }
    func poll() { supervisor.poll(instance) }
    func wait(frames: Int) { supervisor.waitUntilThere(instance) }
    // The host asks these two while others wait: no lock, and nothing that the child must answer.
    /// What the child told last, by its control thread or its audio thread.
    var latency: Int { block.map { Int($0.0.latency.pointee.load(ordering: .relaxed)) } ?? 0 }
    var isIdle: Bool { instance.isIdle }
}
