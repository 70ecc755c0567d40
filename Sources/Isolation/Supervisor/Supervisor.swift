// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import Realtime
import System

/// Looks after one child and the nodes in it: passes the host's calls on, and on a thread of its own notices when the
/// child is gone, hangs or gives nonsense, ends it, and makes everything again in a new one.
final class Supervisor: @unchecked Sendable {
    // Sendable: mutable state is behind `state`; `calls` is a lock.

    struct State {
        var child: ChildProcess?
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
    /// Held over every call into the child that changes it, and over a restart.
    let calls = Monitor()
    /// Wakes the thread.
    let alarm = Wakeup()
    /// Where states are kept; made when there is one.
    let folder = Lock<StateFolder?>(nil)

    init(_ isolation: Isolation) { self.isolation = isolation }

    // MARK: calls of a node; see `Node`. [control]

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
        instance.isThere.store(true, ordering: .releasing)
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
        SharedBlock(shape, at: memory.address).fail()
        instance.setMemory(memory, shape)
        instance.preparation = nil
        instance.isActive = false
        do { try prepare(instance, child, preparation) } catch { throw nodeError(error, child, instance) }
        instance.preparation = preparation
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
        calls.acquire()
        defer { calls.release() }
        guard instance.isActive else { return }
        instance.isActive = false
        guard let child = state.withLock({ $0.child }) else { return }
        do throws(ChildProcess.Silence) {
            _ = try child.call(seconds: patience) { FrameWriter(.deactivate, node: instance.id, call: $0) }
        } catch { _ = nodeError(error, child, instance) }
    }

    func receive(_ instance: IsolatedInstance, _ message: Message, port: Int) {
        func frame(_ call: UInt32) -> FrameWriter {
            var frame = FrameWriter(.receive, node: instance.id, call: call)
            frame.put(UInt32(port))
            frame.put(message)
            return frame
        }
        if instance.isThere.load(ordering: .acquiring), let child = state.withLock({ $0.child }) {
            if instance.preparation?.offline == true {
                do { _ = try child.call(seconds: patience, frame) } catch { missed(error, child) }
                return
            }
            if child.post(frame(0)) { return }
        }
        if !instance.keep(message, port: port) {
            instance.log(VG_LOG_WARNING, "a message was lost while \(instance.recipe.plugin) could not take it")
        }
    }

    /// Offline only: live a child does this by itself.
    func poll(_ instance: IsolatedInstance) {
        guard instance.preparation?.offline == true, instance.isThere.load(ordering: .acquiring),
            let child = state.withLock({ $0.child })
        else { return }
        do throws(ChildProcess.Silence) {
            _ = try child.call(seconds: patience) { FrameWriter(.poll, node: instance.id, call: $0) }
        } catch { missed(error, child) }
        if let latency = instance.withBlock({ $0.latency.pointee.load(ordering: .relaxed) }) {
            instance.latency.store(latency, ordering: .relaxed)
        }
    }

    func isIdle(_ instance: IsolatedInstance) -> Bool {
        guard instance.isThere.load(ordering: .acquiring), let child = state.withLock({ $0.child }) else { return true }
        do throws(ChildProcess.Silence) {
            guard var answer = try brief(child, { FrameWriter(.idle, node: instance.id, call: $0) }) else {
                return false
            }
            return answer.number(UInt8.self) != 0
        } catch {
            return true
        }
    }

    /// Loads a preset or sets a property; done again after a restart, unless a newer state holds it. One that is not
    /// done in time is told as that, and may be done yet: the thread follows it.
    func act(_ instance: IsolatedInstance, _ replay: IsolatedInstance.ReplayedCall) throws(NodeError) {
        try whileThere(instance) { child throws(NodeError) in
            var number = 0
            let call = child.ask { call in
                number = instance.begin(replay, call: call)
                return replay.frame(instance.id, call)
            }
            guard let call else {
                instance.end(number, done: false)
                throw child.isOver ? nodeError(.gone, child, instance) : late(instance)
            }
            do throws(ChildProcess.Silence) {
                guard try child.answer(call, within: callPatience) != nil else { throw .late }
            } catch {
                if case .late = error { throw late(instance) }
                instance.end(number, done: false)
                throw nodeError(error, child, instance)
            }
            instance.end(number, done: true)
        }
    }

    func askProperty(_ instance: IsolatedInstance, _ key: String) throws(NodeError) {
        try whileThere(instance) { child throws(NodeError) in
            do throws(ChildProcess.Silence) {
                let answer = try brief(child) { call in
                    var frame = FrameWriter(.askProperty, node: instance.id, call: call)
                    frame.put(key)
                    return frame
                }
                guard answer != nil else { throw .late }
            } catch {
                if case .late = error { throw late(instance) }
                throw nodeError(error, child, instance)
            }
        }
    }

    /// Makes a call that is answered at once by a child that is well; nil: it did not. A child that hangs is ended by the
    /// thread, and not for this.
    private func brief(
        _ child: ChildProcess, _ make: (UInt32) -> FrameWriter
    ) throws(ChildProcess.Silence) -> FrameReader? {
        guard let call = child.ask(make) else {
            if child.isOver { throw .gone }
            return nil
        }
        if let answer = try child.answer(call, within: callPatience) { return answer }
        child.forget(call)
        return nil
    }

    /// Runs `body` alone with the child that has the node. Whoever calls is not kept waiting for long.
    private func whileThere(
        _ instance: IsolatedInstance, _ body: (ChildProcess) throws(NodeError) -> Void
    ) throws(NodeError) {
        guard calls.acquire(within: callPatience) else { throw late(instance) }
        defer { calls.release() }
        guard let child = state.withLock({ $0.child }), instance.isThere.load(ordering: .acquiring) else {
            throw notThere(instance)
        }
        try body(child)
    }

    var callPatience: Double { isolation.policy?.callPatience ?? 2 }

    private func late(_ instance: IsolatedInstance) -> NodeError {
        NodeError(
            "\(instance.recipe.plugin) does not answer within \(duration(callPatience))",
            hint: "it may be busy with what it was asked for; it is ended and started again if it hangs")
    }

    private func notThere(_ instance: IsolatedInstance) -> NodeError {
        NodeError("\(instance.recipe.plugin) is not running just now", hint: "it is being restarted; try again")
    }

    func save(_ instance: IsolatedInstance, to folder: String) throws(NodeError) {
        calls.acquire()
        defer { calls.release() }
        guard let child = state.withLock({ $0.child }) else { throw notThere(instance) }
        do { try save(instance, child, folder) } catch { throw nodeError(error, child, instance) }
    }

    /// Offline: returns when the node can take a block, after a fault too, or when that seems hopeless.
    func waitUntilThere(_ instance: IsolatedInstance) {
        guard !isReady(instance) else { return }
        let deadline = monotonicSeconds() + patience
        while !isReady(instance), monotonicSeconds() < deadline {
            // A child that answers late after all signals nothing here.
            let isHopeless = state.wait(until: monotonicSeconds() + 0.005) { $0.failures >= 4 ? true : nil }
            if isHopeless == true { return }
        }
    }

    /// Whether there is a child that owes nothing.
    private func isReady(_ instance: IsolatedInstance) -> Bool {
        guard instance.isThere.load(ordering: .acquiring) else { return false }
        return instance.withBlock { block in
            block.response.pointee.load(ordering: .acquiring) == block.request.pointee.load(ordering: .relaxed)
        } ?? true
    }

    /// Ends a node; its child goes with its last one.
    func dismiss(_ instance: IsolatedInstance) {
        calls.acquire()
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
