// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import Synchronization

/// What is said to a node that plays. These calls come from the node's own queue, one after another; those of other nodes
/// go on meanwhile, but for those of the same child, which has one control thread. [control]
extension Supervisor {
    /// Gives a message on; while the child is away it is kept. Waits only while the child does not read.
    func receive(_ instance: IsolatedInstance, _ message: Message, port: Int) {
        let frame = FrameWriter(message, port: port, instance.id)
        let deadline = monotonicSeconds() + 2 * patience
        while monotonicSeconds() < deadline {
            if instance.isThere.load(ordering: .acquiring), let child = state.withLock({ $0.child }) {
                if child.post(frame, seconds: patience) {
                    instance.sent.wrappingAdd(1, ordering: .releasing)
                    settle(instance, child)
                    return
                }
                if !child.isOver { missed(.late, child) }
                // The thread notices that it is gone, or ends it.
                _ = state.wait(until: monotonicSeconds() + 0.1) { $0.child === child ? nil : true }
            }
            switch instance.keep(message, port: port) {
            case .kept: return
            case .isThere: continue
            case .isFull(let isFirst):
                instance.count("lost messages")
                if isFirst {
                    instance.log(
                        VG_LOG_WARNING,
                        "messages are lost: there are too many for \(instance.recipe.plugin) while it is not running")
                }
                return
            }
        }
        instance.count("lost messages")
    }

    /// Begins an action; the call ends when the child says so, or is gone. What lasts is done again after a restart, unless
    /// a newer state holds it.
    func perform(
        _ instance: IsolatedInstance, _ action: String, _ arguments: [String: SettingValue], _ call: ActionCall
    ) throws(NodeError) {
        guard instance.isThere.load(ordering: .acquiring), let child = state.withLock({ $0.child }) else {
            throw notThere(instance)
        }
        let declared = instance.recipe.actions.first { $0.name == action }
        let replay = declared.flatMap { ReplayedCall($0, arguments) }
        let number = replay.map { replay in instance.replays.withLock { $0.begin(replay, blocks: instance.blocks) } }
        let pending = call.later()
        let isSent = child.follow(seconds: patience) { call in
            FrameWriter(performing: action, arguments, instance.id, call, urgent: declared?.isUrgent == true)
        } done: { [weak self] result in
            self?.end(instance, child, number, pending, result)
        }
        guard isSent else {
            if let number { instance.end(number, done: false) }
            pending.fail(nodeError(child.isOver ? .gone : .late, child, instance))
            return
        }
        instance.sent.wrappingAdd(1, ordering: .releasing)
        settle(instance, child)
    }

    private func end(
        _ instance: IsolatedInstance, _ child: ChildProcess, _ number: Int?, _ pending: PendingCall,
        _ result: Result<FrameReader, ChildProcess.Silence>
    ) {
        var failure: NodeError?
        var results: [String: SettingValue] = [:]
        switch result {
        case .success(var answer): results = answer.table()
        case .failure(let silence): failure = nodeError(silence, child, instance)
        }
        if let number { instance.end(number, done: failure == nil) }
        // After the node's end, nobody waits for it.
        instance.withHost { _ in
            for (name, value) in results { pending.put(name, value) }
            if let failure { pending.fail(failure) } else { pending.finish() }
        }
    }

    /// Changes a live setting, and waits for that: the node says whether it can be.
    func set(_ instance: IsolatedInstance, _ setting: String, to value: SettingValue) throws(NodeError) {
        guard instance.isThere.load(ordering: .acquiring), let child = state.withLock({ $0.child }) else {
            throw notThere(instance)
        }
        let replay = ReplayedCall.setting(setting, value)
        let number = instance.replays.withLock { $0.begin(replay, blocks: instance.blocks) }
        do throws(ChildProcess.Silence) {
            _ = try child.call(seconds: patience) { replay.frame(instance.id, $0) }
        } catch {
            instance.end(number, done: false)
            throw nodeError(error, child, instance)
        }
        instance.end(number, done: true)
        instance.sent.wrappingAdd(1, ordering: .releasing)
    }

    /// Lets the node finish what it holds, and waits for that.
    func finish(_ instance: IsolatedInstance) {
        guard instance.isThere.load(ordering: .acquiring), let child = state.withLock({ $0.child }) else { return }
        do throws(ChildProcess.Silence) {
            _ = try child.call(seconds: min(patience, Double(VG_FINISH_SECONDS))) {
                FrameWriter(.finish, node: instance.id, call: $0)
            }
        } catch {
            let failure = nodeError(error, child, instance)
            instance.log(VG_LOG_ERROR, "what it held may be lost: \(failure.message)")
        }
    }

    /// Offline only: live a child does this by itself, and says what has changed.
    func poll(_ instance: IsolatedInstance) {
        guard instance.preparation?.offline == true, instance.isThere.load(ordering: .acquiring),
            let child = state.withLock({ $0.child })
        else { return }
        tellHostFacts(instance, child)
        do throws(ChildProcess.Silence) {
            _ = try child.call(seconds: patience) { FrameWriter(.poll, node: instance.id, call: $0) }
        } catch { missed(error, child) }
    }

    /// Offline: returns when the child has done what it was told, so that every run is the same.
    private func settle(_ instance: IsolatedInstance, _ child: ChildProcess) {
        guard instance.preparation?.offline == true else { return }
        do throws(ChildProcess.Silence) {
            _ = try child.call(seconds: patience) { FrameWriter(.settle, node: instance.id, call: $0) }
        } catch { missed(error, child) }
    }

    private func notThere(_ instance: IsolatedInstance) -> NodeError {
        NodeError("\(instance.recipe.plugin) is not running just now", hint: "it is being restarted; try again")
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
}
