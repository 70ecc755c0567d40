// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import Realtime
import System

/// The child's life, with the lock for calls held. [control]
extension Supervisor {
    /// The child, started if need be with everything that was in the last one.
    func ensureChild() throws(NodeError) -> ChildProcess {
        if let child = state.withLock({ $0.child }) { return child }
        let child = try start()
        do { try reviveAll(child) } catch { throw nodeError(error, child, nil) }
        return child
    }

    /// Takes a child without nodes, and a thread that watches it.
    func start() throws(NodeError) -> ChildProcess {
        guard let policy = isolation.policy else { throw ChildPool.missing }
        let unused = try ChildPool.shared.take(policy)
        let child = try ChildProcess(unused) { [weak self] frame in
            self?.state.withLock { $0.instances[frame.node] }?.deliver(frame)
        }
        let isWatched: Bool = state.withLock { state in
            state.child = child
            state.verdict = nil
            state.startedAt = monotonicSeconds()
            if state.thread == nil { state.thread = try? SystemThread(name: "vg-supervisor") { [self] in watch() } }
            return state.thread != nil
        }
        guard isWatched else {
            state.withLock { $0.child = nil }
            child.end()
            _ = child.close()
            throw NodeError("no thread to watch a child could be created")
        }
        alarm.signal()
        return child
    }

    /// Makes every node again that was there before.
    func reviveAll(_ child: ChildProcess) throws(ChildProcess.Silence) {
        let instances = state.withLock { state in
            state.admitted.sorted().compactMap { state.instances[$0] }
        }
        for instance in instances {
            do throws(ChildProcess.Silence) { try revive(instance, child) } catch {
                guard case .refused(let error) = error else { throw error }
                // The others need not suffer.
                let reason = "\(instance.recipe.plugin) does not start again: \(error.message)"
                tellFailed(instance, reason, cause: "refused", process: child.process, culprit: instance.recipe.name)
            }
        }
    }

    private func revive(_ instance: IsolatedInstance, _ child: ChildProcess) throws(ChildProcess.Silence) {
        let before = instance.layout
        do throws(ChildProcess.Silence) { try create(instance, child, state: instance.state) } catch {
            guard case .refused(let refusal) = error, instance.state != nil else { throw error }
            instance.log(VG_LOG_WARNING, "its last state cannot be restored: \(refusal.message)")
            instance.state = nil
            try create(instance, child, state: nil)
        }
        guard before.ports.map(\.symbol) == instance.layout.ports.map(\.symbol),
            before.parameters.map(\.key) == instance.layout.parameters.map(\.key)
        else {
            instance.layout = before
            throw .refused(NodeError("its ports are not what they were"))
        }
        instance.layout = before
        instance.link.pointee.gaveNonsense.store(false, ordering: .relaxed)
        instance.link.pointee.missedSince.store(0, ordering: .relaxed)
        if let preparation = instance.preparation {
            try prepare(instance, child, preparation)
            // Before it is heard, and in order.
            for record in instance.replays.withLock({ $0.records }) where record.isDone {
                try redo(record, instance, child)
            }
            if instance.isActive { try activate(instance, child) }
        }
        while case let messages = instance.takeMessages(), !messages.isEmpty {
            for (index, (port, message)) in messages.enumerated() {
                guard child.post(FrameWriter(message, port: port, instance.id), seconds: patience) else {
                    instance.giveBack(messages[index...])
                    throw child.isOver ? .gone : .late
                }
                instance.sent.wrappingAdd(1, ordering: .releasing)
            }
        }
    }

    /// Does again what was done before the restart. What cannot be, or ends the child, is not tried once more.
    private func redo(
        _ record: Replays.Record, _ instance: IsolatedInstance, _ child: ChildProcess
    ) throws(ChildProcess.Silence) {
        do throws(ChildProcess.Silence) {
            _ = try child.call(seconds: patience) {
                record.call.frame(instance.id, $0, deafness: isolation.policy?.settling ?? 5)
            }
            instance.sent.wrappingAdd(1, ordering: .releasing)
            instance.replays.withLock { $0.restartSettling(record.number, blocks: instance.blocks) }
        } catch {
            instance.end(record.number, done: false)
            guard case .refused(let refusal) = error else {
                instance.log(VG_LOG_WARNING, "\(record.call.text) is lost: the restart failed at it")
                throw error
            }
            instance.log(VG_LOG_WARNING, "\(record.call.text) is lost: \(refusal.message)")
        }
    }

    func create(_ instance: IsolatedInstance, _ child: ChildProcess, state folder: String?) throws(ChildProcess.Silence)
    {
        let recipe = instance.recipe
        var settings = recipe.settings.values
        if let folder, recipe.takesState {
            settings["state"] = .string(folder)
            // The host's own types know that it is newer than what else the settings say.
            if recipe.path.isEmpty { settings["resumes"] = .bool(true) }
        }
        let sent = instance.sent.load(ordering: .relaxed)
        // Nothing came yet: what it is to play itself, it says with the first word.
        instance.told.store(UInt64(sent) << 1, ordering: .relaxed)
        var answer = try child.call(seconds: patience) { call in
            var frame = FrameWriter(.create, node: instance.id, call: call)
            let host = instance.host
            for text in [
                recipe.type, recipe.path, recipe.name, host.baseFolder, host.graphName, host.dataFolder,
                host.cacheFolder, host.modelFolder,
            ] { frame.put(text) }
            frame.put(newHostFacts(instance))
            frame.put(sent)
            frame.put(.table(settings))
            frame.put(.table(recipe.keys))
            return frame
        }
        instance.layout = answer.layout()
    }

    /// What the node asks of its host, which the child is told now. [control]
    private func newHostFacts(_ instance: IsolatedInstance) -> HostFacts {
        let now = instance.withHost { HostFacts($0) } ?? HostFacts()
        instance.hostFacts.withLock { $0 = now }
        return now
    }

    /// Tells the child what the node asks of its host, if that has changed. [control]
    func tellHostFacts(_ instance: IsolatedInstance, _ child: ChildProcess) {
        let told = instance.hostFacts.withLock { $0 }
        let now = newHostFacts(instance)
        guard now != told else { return }
        var frame = FrameWriter(.hostFacts, node: instance.id)
        frame.put(now)
        if !child.post(frame) { instance.hostFacts.withLock { $0 = told } }
    }

    func prepare(
        _ instance: IsolatedInstance, _ child: ChildProcess, _ preparation: Preparation
    ) throws(ChildProcess.Silence) {
        guard let memory = instance.memory else { return }
        _ = try child.call(seconds: patience, passing: memory.descriptor) { call in
            var frame = FrameWriter(.prepare, node: instance.id, call: call)
            frame.put(preparation.rate)
            frame.put(UInt32(clamping: preparation.maxBlock))
            frame.put(UInt8(preparation.offline ? 1 : 0))
            frame.put(newHostFacts(instance))
            return frame
        }
    }

    func activate(_ instance: IsolatedInstance, _ child: ChildProcess) throws(ChildProcess.Silence) {
        instance.blocksBefore = instance.blocks
        tellScheduling(instance, child)
        tellHostFacts(instance, child)
        _ = try child.call(seconds: patience) { FrameWriter(.activate, node: instance.id, call: $0) }
    }

    /// Lets the child's audio thread run as the host's does, one priority below it: else, on one processor, a node that
    /// computes for ever would keep the host from noticing that its time is over.
    /// False: the host's is not known yet.
    @discardableResult
    func tellScheduling(_ instance: IsolatedInstance, _ child: ChildProcess) -> Bool {
        let thread = instance.link.pointee.audioThread.load(ordering: .acquiring)
        guard thread != 0 else { return false }
        let policy = sched_getscheduler(thread) & ~0x4000_0000  // without the flag that it is not inherited
        var parameter = sched_param()
        guard policy >= 0, sched_getparam(thread, &parameter) == 0 else { return true }
        let isRealtime = policy == SCHED_FIFO || policy == SCHED_RR
        var frame = FrameWriter(.schedule)
        frame.put(isRealtime ? policy : SCHED_OTHER)
        frame.put(isRealtime ? max(1, parameter.sched_priority - 1) : 0)
        return child.post(frame)
    }

    /// What to tell of a call that had no answer. If the child is at fault, it is gone when this returns.
    func nodeError(_ silence: ChildProcess.Silence, _ child: ChildProcess, _ instance: IsolatedInstance?) -> NodeError {
        if case .refused(let error) = silence { return error }
        missed(silence, child)
        // The thread ends it and finds out how it was.
        let fall = state.wait(until: monotonicSeconds() + 8) { $0.child === child ? nil : $0.lastFall } ?? ""
        let plugin = instance?.recipe.plugin ?? "the process of this group"
        return NodeError(
            "\(plugin) \(fall.isEmpty ? "does not answer" : fall)",
            hint: "it did so in a process of its own, so that nothing else was harmed")
    }

    /// A call had no answer: what does not answer is ended.
    func missed(_ silence: ChildProcess.Silence, _ child: ChildProcess) {
        guard case .late = silence else { return }
        let call = child.page.call
        state.withLock { state in
            guard state.child === child, state.verdict == nil else { return }
            state.verdict = call.step == .none ? .mute : .hangs(in: call.name, seconds: patience)
        }
        alarm.signal()
    }
}
