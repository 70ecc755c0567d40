// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import Realtime
import Synchronization

/// The keeper's thread. It is the only one that ends a child, and never waits for the lock for calls: whoever holds that
/// may be waiting for this thread to find out what became of the child.
extension Keeper {
    /// Between two looks while all is well, in milliseconds; and while a block is owed.
    private static let calmTime: Int32 = 250
    private static let tenseTime: Int32 = 10
    /// Between two words about a child that is late, in seconds.
    private static let tellingTime = 1.0

    func watch() {
        vg_thread_name("vg-keeper")
        var pulse = Pulse()
        while true {
            let (child, isStopping, nextStart, verdict) = state.with {
                ($0.child, $0.isStopping, $0.nextStart, $0.verdict)
            }
            if isStopping {
                if let child { _ = bury(child) { _, _ in } }
                return
            }
            guard let child else {
                let rest = nextStart - now()
                let hasWork = state.with { !$0.admitted.isEmpty }
                if hasWork, rest <= 0 {
                    if restart() { pulse = Pulse() } else { _ = vg_event_wait(alarm, 5) }
                } else {
                    _ = vg_event_wait(alarm, hasWork ? Int32(rest * 1000) + 1 : -1)
                }
                continue
            }
            if verdict != nil || hasEnded(child, milliseconds: look(child, &pulse)) {
                followSaves(child, &pulse)
                fall(child)
            }
        }
    }

    /// Sleeps; whether the child ended meanwhile.
    private func hasEnded(_ child: ChildProcess, milliseconds: Int32) -> Bool {
        var entries = [
            pollfd(fd: child.watch, events: Int16(POLLIN), revents: 0),
            pollfd(fd: alarm, events: Int16(POLLIN), revents: 0),
        ]
        guard Glibc.poll(&entries, 2, milliseconds) > 0 else { return false }
        if entries[1].revents != 0 { _ = vg_event_wait(alarm, 0) }
        return entries[0].revents != 0
    }

    /// Whether the child's control thread goes on.
    private struct Pulse {
        var last: UInt32 = 0
        var since = now()
        var nextSave = now()
        var saves: [Save] = []
        var isScheduled = false
        var nextTelling = now()
    }

    /// Looks after a child that is there; returns how long to sleep.
    private func look(_ child: ChildProcess, _ pulse: inout Pulse) -> Int32 {
        guard let policy = isolation.policy else { return Self.calmTime }
        let members = state.with { state in state.admitted.sorted().compactMap { state.members[$0] } }
        var isTense = false
        for member in members where member.isActive {
            if member.link.pointee.gaveNonsense.load(ordering: .acquiring) {
                condemn(child, .nonsense)
                return 0
            }
            if member.isMissed(seconds: policy.hangTime) {
                condemn(child, .hangs(in: "process", seconds: policy.hangTime))
                return 0
            }
            if member.isMissed(seconds: 0) { isTense = true }
        }
        if !isTense, now() >= pulse.nextTelling {
            for member in members where tellLate(member) { pulse.nextTelling = now() + Self.tellingTime }
        }
        let beats = child.page.pulse
        if beats != pulse.last {
            pulse.last = beats
            pulse.since = now()
        } else if now() - pulse.since > policy.patience {
            let (step, _) = child.page.step
            condemn(child, step == .none ? .mute : .hangs(in: step.name, seconds: policy.patience))
            return 0
        }
        if !pulse.isScheduled {
            // The audio thread is known from its first block on; what it is may change later.
            for member in members where member.isActive && !pulse.isScheduled {
                pulse.isScheduled = tellScheduling(member, child)
            }
        }
        followSaves(child, &pulse)
        for member in members { followDeeds(member, child) }
        if now() >= pulse.nextSave, !isTense, pulse.saves.isEmpty {
            for member in members { if let save = keepState(member, child) { pulse.saves.append(save) } }
            pulse.isScheduled = false
            pulse.nextSave = now() + policy.saveInterval
        }
        if !pulse.saves.isEmpty { return Self.tenseTime }
        return isTense ? Self.tenseTime : Self.calmTime
    }

    private func condemn(_ child: ChildProcess, _ verdict: Downfall.Verdict) {
        state.with { state in if state.child === child, state.verdict == nil { state.verdict = verdict } }
    }

    /// Tells of blocks that went past a child that was late; false: there were none.
    private func tellLate(_ member: Member) -> Bool {
        let bypassed = member.link.pointee.bypassed.load(ordering: .relaxed)
        let news = bypassed - member.toldBypassed
        guard news > 0, member.isThere.load(ordering: .relaxed) else { return false }
        member.toldBypassed = bypassed
        member.tell(
            "plugin.late", [("plugin", .string(member.recipe.plugin)), ("blocks", .integer(Int64(clamping: news)))])
        return true
    }

    /// A state on its way to the disk. Nobody waits for it: meanwhile the child may hang in its audio.
    private struct Save {
        var member: Member
        var path: String
        var call: UInt32
        /// The newest deed that it holds.
        var deed: Int
    }

    /// Has the state of a node saved, beside the last complete one; nil: it has none.
    private func keepState(_ member: Member, _ child: ChildProcess) -> Save? {
        guard member.canSave, member.recipe.takesState, member.isActive, !member.saveIsDeadly else { return nil }
        let path: String? = folder.with { folder in
            if folder == nil { folder = StateFolder() }
            return folder.map { "\($0.path)/\(member.id)-\(member.savedStates)" }
        }
        guard let path else { return nil }
        member.savedStates += 1
        let deed = member.settledDeed(after: isolation.policy?.settling ?? 5)
        let call = child.ask { call in
            var frame = FrameWriter(.save, node: member.id, call: call)
            frame.put(path)
            return frame
        }
        return call.map { Save(member: member, path: path, call: $0, deed: deed) }
    }

    private func followSaves(_ child: ChildProcess, _ pulse: inout Pulse) {
        pulse.saves.removeAll { save in
            guard let answer = child.answer(save.call) else { return false }
            if answer.kind == .refusal {
                removeTree(save.path)
            } else {
                if let old = save.member.state { removeTree(old) }
                save.member.state = save.path
                save.member.deeds.with { $0.removeAll { $0.call == nil && $0.number <= save.deed } }
            }
            return true
        }
    }

    /// Deeds whose callers were told that they take long.
    private func followDeeds(_ member: Member, _ child: ChildProcess) {
        let waiting = member.deeds.with { $0.filter { $0.call != nil && now() - $0.time > callPatience + 0.2 } }
        for record in waiting {
            guard let call = record.call, var answer = child.answer(call) else { continue }
            member.end(record.number, done: answer.kind != .refusal)
            if answer.kind == .refusal {
                member.log(VG_LOG_ERROR, "\(record.deed.text): \(answer.error().message)")
            } else {
                member.log(VG_LOG_INFO, "\(record.deed.text) is there now")
            }
        }
    }

    /// Ends a child, frees what is its own and says why.
    private func fall(_ child: ChildProcess) {
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
    private func bury(
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
    private func restart() -> Bool {
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
