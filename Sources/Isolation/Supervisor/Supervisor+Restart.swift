// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import System

/// The end of a child, and the next one. All on the supervisor's thread.
extension Supervisor {
    /// Ends a child, frees what is its own and says why.
    func fall(_ child: ChildProcess) {
        let verdict = state.withLock { $0.verdict }
        // What it was doing must be read before the blocks are given up, and after it cannot do more.
        let end = child.reap(within: 0) ?? child.end() ?? (status: SIGKILL, memory: 0)
        let instances = state.withLock { state in state.instances.values.sorted { $0.id < $1.id } }
        let call = child.page.call
        let inside = instances.filter(\.wasInside)
        let nonsense = instances.filter { $0.link.pointee.gaveNonsense.load(ordering: .acquiring) }
        let culprits: [IsolatedInstance]
        let place: String
        if verdict == .nonsense {
            (culprits, place) = (nonsense, "process")
        } else if !inside.isEmpty {
            (culprits, place) = (inside, "process")
        } else if call.step != .none {
            (culprits, place) = (instances.filter { $0.id == call.node }, call.name)
        } else {
            (culprits, place) = (instances, "")
        }
        if call.isSaving { for instance in instances where instance.id == call.node { instance.saveIsDeadly = true } }
        let policy = isolation.policy
        let exitCause = ExitCause(
            status: end.status, memory: end.memory, limit: policy?.memory ?? 0, place: place, verdict: verdict)
        var wasCalm = false
        let (said, admitted) = bury(child) { state, said in
            wasCalm = monotonicSeconds() - state.startedAt >= policy?.calm ?? 10
            if wasCalm { state.failures = 0 }
            state.failures += 1
            state.nextStart = monotonicSeconds() + (policy?.pause(state.failures) ?? 0)
            state.lastFall = exitCause.text + (said.isEmpty ? "" : "; it printed: \(said)")
        }
        for instance in instances where admitted.contains(instance.id) {
            if wasCalm { instance.failures = 0 }
            report(instance, exitCause, culprits, said, pid: child.process)
        }
    }

    private func report(
        _ instance: IsolatedInstance, _ exitCause: ExitCause, _ culprits: [IsolatedInstance], _ said: String, pid: pid_t
    ) {
        instance.toldBypassed = instance.link.pointee.bypassed.load(ordering: .relaxed)
        let isCulprit = culprits.contains { $0 === instance }
        if isCulprit {
            instance.failures += 1
            // A state that it cannot live with is not given to it for ever.
            if instance.failures >= 3 { forgetState(instance) }
        }
        let names = culprits.map { "\($0.recipe.name) (\($0.recipe.plugin))" }.joined(separator: ", ")
        let reason =
            isCulprit
            ? "\(instance.recipe.plugin) \(exitCause.text)" + (said.isEmpty ? "" : "; it printed: \(said)")
            : "its process ended: \(names) \(exitCause.text)"
        tellFailed(
            instance, reason, cause: exitCause.cause, signal: exitCause.signal, process: pid,
            culprit: culprits.map(\.recipe.name).joined(separator: ", "))
    }

    /// Says that a node is not there, and why.
    func tellFailed(
        _ instance: IsolatedInstance, _ reason: String, cause: String, signal: String = "", process: pid_t,
        culprit: String
    ) {
        instance.isLate = false
        instance.fail(reason)
        instance.log(VG_LOG_ERROR, reason)
        instance.tell(
            "plugin.failed",
            [
                ("plugin", .string(instance.recipe.plugin)), ("reason", .string(reason)), ("cause", .string(cause)),
                ("signal", .string(signal)), ("process", .integer(Int64(process))), ("culprit", .string(culprit)),
            ])
    }

    private func forgetState(_ instance: IsolatedInstance) {
        let lost = instance.replays.withLock { $0.removeAll() }.map(\.text)
        guard instance.state != nil || !lost.isEmpty else { return }
        instance.state = nil
        let what = ["its state"] + lost
        instance.log(
            VG_LOG_WARNING, "it fails again and again, so that it starts without \(what.joined(separator: ", "))")
    }

    /// Ends a child if it has not ended, and takes it out of everything; returns what it printed last, and who was in it.
    func bury(
        _ child: ChildProcess, _ note: (inout State, _ said: String) -> Void
    ) -> (said: String, admitted: Set<UInt32>) {
        child.end()
        let instances = state.withLock { state in Array(state.instances.values) }
        for instance in instances {
            instance.isThere.store(false, ordering: .releasing)
            _ = instance.withBlock { $0.fail() }
        }
        let said = child.close()
        // What it was doing when it ended is not done again.
        for instance in instances { instance.replays.withLock { $0.removeUnfinished() } }
        let admitted = state.withLock { state in
            note(&state, said)
            // In one step with the note: whoever waits for the one reads the other.
            state.child = nil
            state.verdict = nil
            return state.admitted
        }
        state.signal()
        child.abandon()
        return (said, admitted)
    }

    /// Makes a new child with everything in it; false: not now.
    func restart() -> Bool {
        guard enders.load(ordering: .relaxed) == 0, calls.tryAcquire() else { return false }
        defer { calls.release() }
        guard state.withLock({ $0.child == nil && !$0.isStopping }) else { return false }
        let child: ChildProcess
        do throws(NodeError) { child = try start() } catch {
            let instances = state.withLock { state -> [IsolatedInstance] in
                state.failures += 1
                state.nextStart = monotonicSeconds() + (isolation.policy?.longestPause ?? 5)
                return Array(state.instances.values)
            }
            for instance in instances {
                let reason = "it cannot be restarted: \(error.message)"
                instance.log(VG_LOG_ERROR, reason)
                instance.setFault(.failed(reason))
            }
            return true
        }
        state.withLock { $0.restarting = child }
        defer { state.withLock { $0.restarting = nil } }
        do throws(ChildProcess.Silence) { try reviveAll(child) } catch {
            // However long it took: none of that was a calm life.
            state.withLock { $0.startedAt = monotonicSeconds() }
            missed(error, child)
            if case .gone = error { _ = child.reap(within: 1) }
            fall(child)
            return true
        }
        let (instances, count) = state.withLock { state in
            state.restarts += 1
            return (state.instances.values.filter { state.admitted.contains($0.id) }, state.restarts)
        }
        state.signal()
        // One that could not be prepared is there, but not heard.
        for instance in instances where instance.isThere.load(ordering: .acquiring) && instance.preparation != nil {
            instance.toldBypassed = instance.link.pointee.bypassed.load(ordering: .relaxed)
            instance.setFault(nil)
            instance.tell(
                "plugin.started",
                [("plugin", .string(instance.recipe.plugin)), ("restarts", .integer(Int64(count)))])
        }
        return true
    }
}
