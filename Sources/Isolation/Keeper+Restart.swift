// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import Synchronization

/// The end of a child, and the next one. All on the keeper's thread.
extension Keeper {
    /// Ends a child, frees what is its own and says why.
    func fall(_ child: ChildProcess) {
        let verdict = state.with { $0.verdict }
        // What it was doing must be read before the blocks are given up, and after it cannot do more.
        let end = child.reap(within: 0) ?? child.end() ?? (status: SIGKILL, memory: 0)
        let members = state.with { state in state.members.values.sorted { $0.id < $1.id } }
        let (step, stepNode) = child.page.step
        let inside = members.filter(\.wasInside)
        let nonsense = members.filter { $0.link.pointee.gaveNonsense.load(ordering: .acquiring) }
        let culprits: [Member]
        let place: String
        if verdict == .nonsense {
            (culprits, place) = (nonsense, "process")
        } else if !inside.isEmpty {
            (culprits, place) = (inside, "process")
        } else if step != .none {
            (culprits, place) = (members.filter { $0.id == stepNode }, step.name)
        } else {
            (culprits, place) = (members, "")
        }
        if step == .save { for member in members where member.id == stepNode { member.saveIsDeadly = true } }
        let policy = isolation.policy
        let downfall = Downfall(
            status: end.status, memory: end.memory, limit: policy?.memory ?? 0, place: place, verdict: verdict)
        // What it was doing when it ended is not done again.
        for member in members { member.deeds.with { $0.removeAll { $0.call != nil } } }
        var wasCalm = false
        let (said, admitted) = bury(child) { state, said in
            wasCalm = now() - state.startedAt >= policy?.calm ?? 10
            if wasCalm { state.failures = 0 }
            state.failures += 1
            state.nextStart = now() + (policy?.pause(state.failures) ?? 0)
            state.lastFall = downfall.text + (said.isEmpty ? "" : "; it printed: \(said)")
        }
        for member in members where admitted.contains(member.id) {
            if wasCalm { member.failures = 0 }
            report(member, downfall, culprits, said, pid: child.process)
        }
    }

    private func report(_ member: Member, _ downfall: Downfall, _ culprits: [Member], _ said: String, pid: pid_t) {
        member.toldBypassed = member.link.pointee.bypassed.load(ordering: .relaxed)
        let isCulprit = culprits.contains { $0 === member }
        if isCulprit {
            member.failures += 1
            // A state that it cannot live with is not given to it for ever.
            if member.failures >= 3 { forgetState(member) }
        }
        let names = culprits.map { "\($0.recipe.name) (\($0.recipe.plugin))" }.joined(separator: ", ")
        let reason =
            isCulprit
            ? "\(member.recipe.plugin) \(downfall.text)" + (said.isEmpty ? "" : "; it printed: \(said)")
            : "its process ended: \(names) \(downfall.text)"
        member.log(VG_LOG_ERROR, reason)
        member.tell(
            "plugin.failed",
            [
                ("plugin", .string(member.recipe.plugin)), ("reason", .string(reason)),
                ("cause", .string(downfall.cause)), ("signal", .string(downfall.signal)),
                ("process", .integer(Int64(pid))),
                ("culprit", .string(culprits.map(\.recipe.name).joined(separator: ", "))),
            ])
    }

    private func forgetState(_ member: Member) {
        let lost = member.deeds.with { deeds in
            defer { deeds = [] }
            return deeds.map(\.deed.text)
        }
        guard member.state != nil || !lost.isEmpty else { return }
        member.state = nil
        let what = ["its state"] + lost
        member.log(
            VG_LOG_WARNING, "it fails again and again, so that it starts without \(what.joined(separator: ", "))")
    }

    /// Ends a child if it has not ended, and takes it out of everything; returns what it printed last, and who was in it.
    func bury(
        _ child: ChildProcess, _ note: (inout State, _ said: String) -> Void
    ) -> (said: String, admitted: Set<UInt32>) {
        child.end()
        let members = state.with { state in Array(state.members.values) }
        for member in members {
            member.isThere.store(false, ordering: .releasing)
            _ = member.withBlock { $0.fail() }
        }
        let said = child.close()
        let admitted = state.with { state in
            note(&state, said)
            // In one step with the note: whoever waits for the one reads the other.
            state.child = nil
            state.verdict = nil
            return state.admitted
        }
        state.signal()
        return (said, admitted)
    }

    /// Makes a new child with everything in it; false: not now.
    func restart() -> Bool {
        guard calls.tryAcquire() else { return false }
        defer { calls.release() }
        guard state.with({ $0.child == nil && !$0.isStopping }) else { return false }
        let child: ChildProcess
        do throws(NodeError) { child = try start() } catch {
            let members = state.with { state -> [Member] in
                state.failures += 1
                state.nextStart = now() + (isolation.policy?.longestPause ?? 5)
                return Array(state.members.values)
            }
            for member in members { member.log(VG_LOG_ERROR, "it cannot be restarted: \(error.message)") }
            return true
        }
        do throws(ChildProcess.Silence) { try reviveAll(child) } catch {
            missed(error, child)
            if case .gone = error { _ = child.reap(within: 1) }
            fall(child)
            return true
        }
        let (members, count) = state.with { state in
            state.restarts += 1
            return (state.members.values.filter { state.admitted.contains($0.id) }, state.restarts)
        }
        state.signal()
        // One that could not be prepared is there, but not heard.
        for member in members where member.isThere.load(ordering: .acquiring) && member.preparation != nil {
            member.toldBypassed = member.link.pointee.bypassed.load(ordering: .relaxed)
            member.tell(
                "plugin.started",
                [("plugin", .string(member.recipe.plugin)), ("restarts", .integer(Int64(count)))])
        }
        return true
    }
}
