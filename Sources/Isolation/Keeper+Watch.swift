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
}
