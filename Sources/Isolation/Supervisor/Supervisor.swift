// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import Realtime
import Synchronization
import System

/// Looks after one child and the nodes in it: passes the host's calls on, and on a thread of its own notices when the
/// child is gone, hangs or gives nonsense, ends it, and makes everything again in a new one.
final class Supervisor: @unchecked Sendable {
    // Sendable: mutable state is behind `state`; `calls` is a lock.

    struct State {
        var child: ChildProcess?
        /// The same while nodes are made in it again.
        var restarting: ChildProcess?
        var instances: [UInt32: IsolatedInstance] = [:]
        /// Those whose child was able to make them: only they come back.
        var admitted: Set<UInt32> = []
        var nextID: UInt32 = 1
        /// Why the child is to be ended.
        var verdict: ExitCause.Verdict?
        var isStopping = false
        var thread: SystemThread?
        /// What the child pool keeps a spare child for.
        var retained: IsolationPolicy?
        var startedAt = 0.0
        var nextStart = 0.0
        /// Ends of children without a long life between them.
        var failures = 0
        var lastFall = ""
        var restarts = 0
    }

    /// How and when.
    let isolation: Isolation
    let state = Lock(State())
    /// Held over every call into the child that changes what it holds, and over a restart. Messages, actions and settings
    /// need it not.
    let calls = Monitor()
    /// Threads that want to end a node: no child is made again before they have.
    let enders = Atomic<Int>(0)
    /// Wakes the thread.
    let alarm = Wakeup()
    /// Where states are kept; made when there is one.
    let folder = Lock<StateFolder?>(nil)

    init(_ isolation: Isolation) { self.isolation = isolation }

    // MARK: calls that change what a child holds; see `Node`. [control]

    /// Makes a node in the child, which is started if there is none.
    func admit(_ recipe: IsolatedInstance.Recipe, _ host: NodeHost) throws(NodeError) -> IsolatedInstance {
        calls.acquire()
        defer { calls.release() }
        _ = state.wait { $0.isStopping ? nil : true }
        let child = try ensureChild()
        let instance: IsolatedInstance = state.withLock { state in
            defer { state.nextID += 1 }
            let instance = IsolatedInstance(id: state.nextID, recipe: recipe, host: host)
            state.instances[instance.id] = instance
            return instance
        }
        do {
            try create(instance, child, state: nil)
        } catch {
            let failure = nodeError(error, child, instance)
            instance.shut()
            state.withLock { state in _ = state.instances.removeValue(forKey: instance.id) }
            stopIfEmpty()
            throw failure
        }
        _ = instance.takeMessages()
        state.withLock { state in _ = state.admitted.insert(instance.id) }
        return instance
    }

    func prepare(_ instance: IsolatedInstance, _ preparation: Preparation) throws(NodeError) -> SharedMemory {
        calls.acquire()
        defer { calls.release() }
        let child = try ensureChild()
        let shape = BlockShape(
            instance.layout.ports, parameters: instance.layout.parameters.count, maxBlock: preparation.maxBlock)
        guard let memory = SharedMemory(size: SharedBlock.size(shape)) else {
            throw NodeError("no shared memory: \(String(cString: strerror(errno)))")
        }
        let block = SharedBlock(shape, at: memory.address)
        block.fail()
        // Each child that prepares the node reads there what its parameters are.
        for (index, value) in preparation.parameters.prefix(shape.parameters).enumerated() {
            block.ramps[index] = .steady(value)
        }
        instance.setMemory(memory, shape)
        instance.preparation = nil
        instance.isActive = false
        do { try prepare(instance, child, preparation) } catch { throw nodeError(error, child, instance) }
        instance.preparation = preparation
        instance.setFault(nil)
        if let policy = isolation.policy, state.withLock({ $0.retained == nil }) {
            state.withLock { $0.retained = policy }
            ChildPool.shared.retain(policy)
        }
        return memory
    }

    func activate(_ instance: IsolatedInstance) {
        calls.acquire()
        defer { calls.release() }
        instance.isActive = true
        // Without a child, the next one is told.
        guard let child = state.withLock({ $0.child }) else { return }
        do { try activate(instance, child) } catch { _ = nodeError(error, child, instance) }
    }

    func deactivate(_ instance: IsolatedInstance) {
        acquireToEnd()
        defer { calls.release() }
        guard instance.isActive else { return }
        instance.isActive = false
        guard let child = state.withLock({ $0.child }) else { return }
        do throws(ChildProcess.Silence) {
            _ = try child.call(seconds: patience) { FrameWriter(.deactivate, node: instance.id, call: $0) }
        } catch { _ = nodeError(error, child, instance) }
    }

    /// Ends a node; its child goes with its last one.
    func dismiss(_ instance: IsolatedInstance) {
        acquireToEnd()
        if let child = state.withLock({ $0.child }), instance.isThere.load(ordering: .acquiring) {
            // Let it end in order, but not for long: who waits here waits to end.
            do throws(ChildProcess.Silence) {
                _ = try child.call(seconds: 1) { FrameWriter(.destroy, node: instance.id, call: $0) }
            } catch { missed(error, child) }
        }
        instance.shut()
        state.withLock { state in
            state.instances[instance.id] = nil
            state.admitted.remove(instance.id)
        }
        calls.release()
        stopIfEmpty()
    }

    /// Takes the lock for calls from a restart that does not come on: a plugin may hang in it again and again.
    private func acquireToEnd() {
        enders.wrappingAdd(1, ordering: .relaxed)
        defer { enders.wrappingSubtract(1, ordering: .relaxed) }
        let isRestarting = !calls.acquire(within: 1)
        guard isRestarting else { return }
        state.withLock { $0.restarting }?.hurry()
        calls.acquire()
    }

    private func stopIfEmpty() {
        let thread: SystemThread? = state.withLock { state in
            guard state.instances.isEmpty, let thread = state.thread, !state.isStopping else { return nil }
            state.isStopping = true
            return thread
        }
        guard let thread else { return }
        alarm.signal()
        thread.join()
        let retained = state.withLock { state in
            defer { state = State() }
            return state.retained
        }
        if let retained { ChildPool.shared.release(retained) }
        folder.withLock { $0 = nil }
        state.signal()
    }

    var patience: Double { isolation.policy?.patience ?? 10 }
}
