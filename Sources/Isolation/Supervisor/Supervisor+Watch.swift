// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import Realtime
import System

/// The supervisor's thread. It is the only one that ends a child, and never waits for the lock for calls: whoever holds that
/// may be waiting for this thread to find out what became of the child.
extension Supervisor {
    /// Between two looks while all is well, in milliseconds; and while a block is owed.
    private static let calmTime: Int32 = 250
    private static let tenseTime: Int32 = 10
    /// Between two words about a child that is late, in seconds.
    private static let tellingTime = 1.0

    func watch() {
        var pulse = Pulse()
        while true {
            let (child, isStopping, nextStart, verdict) = state.withLock {
                ($0.child, $0.isStopping, $0.nextStart, $0.verdict)
            }
            if isStopping {
                if let child { _ = bury(child) { _, _ in } }
                return
            }
            guard let child else {
                let rest = nextStart - monotonicSeconds()
                let hasWork = state.withLock { !$0.admitted.isEmpty }
                if hasWork, rest <= 0 {
                    if restart() { pulse = Pulse() } else { alarm.wait(milliseconds: 5) }
                } else {
                    alarm.wait(milliseconds: hasWork ? Int(rest * 1000) + 1 : -1)
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
            pollfd(fd: alarm.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        guard Glibc.poll(&entries, 2, milliseconds) > 0 else { return false }
        if entries[1].revents != 0 { alarm.wait(milliseconds: 0) }
        return entries[0].revents != 0
    }

    /// Whether the child's control thread goes on.
    private struct Pulse {
        var last: UInt32 = 0
        var since = monotonicSeconds()
        var nextSave = monotonicSeconds()
        var saves: [Save] = []
        var isScheduled = false
        var nextTelling = monotonicSeconds()
    }

    /// Looks after a child that is there; returns how long to sleep.
    private func look(_ child: ChildProcess, _ pulse: inout Pulse) -> Int32 {
        guard let policy = isolation.policy else { return Self.calmTime }
        let instances = state.withLock { state in state.admitted.sorted().compactMap { state.instances[$0] } }
        var isTense = false
        for instance in instances where instance.isActive {
            if instance.link.pointee.gaveNonsense.load(ordering: .acquiring) {
                condemn(child, .nonsense)
                return 0
            }
            guard instance.owesBlock else { continue }
            if instance.owedSeconds(child.process) > policy.hangTime {
                condemn(child, .hangs(in: "process", seconds: policy.hangTime))
                return 0
            }
            isTense = true
        }
        if !isTense, monotonicSeconds() >= pulse.nextTelling {
            for instance in instances where tellLate(instance) {
                pulse.nextTelling = monotonicSeconds() + Self.tellingTime
            }
        }
        let beats = child.page.pulse
        if beats != pulse.last {
            pulse.last = beats
            pulse.since = monotonicSeconds()
        } else if monotonicSeconds() - pulse.since > policy.patience {
            let call = child.page.call
            condemn(child, call.step == .none ? .mute : .hangs(in: call.name, seconds: policy.patience))
            return 0
        }
        if !pulse.isScheduled {
            // The audio thread is known from its first block on; what it is may change later.
            for instance in instances where instance.isActive && !pulse.isScheduled {
                pulse.isScheduled = tellScheduling(instance, child)
            }
        }
        child.flush()
        for instance in instances { tellHostFacts(instance, child) }
        followSaves(child, &pulse)
        let active = instances.filter(\.isActive)
        let isEarly = active.isEmpty || !active.allSatisfy(\.hasItsSettings)
        if monotonicSeconds() >= pulse.nextSave, !isTense, !isEarly {
            for instance in instances where !pulse.saves.contains(where: { $0.instance === instance }) {
                if let save = keepState(instance, child) { pulse.saves.append(save) }
            }
            pulse.isScheduled = false
            pulse.nextSave = monotonicSeconds() + policy.saveInterval
        }
        if !pulse.saves.isEmpty { return Self.tenseTime }
        return isTense ? Self.tenseTime : Self.calmTime
    }

    private func condemn(_ child: ChildProcess, _ verdict: ExitCause.Verdict) {
        state.withLock { state in if state.child === child, state.verdict == nil { state.verdict = verdict } }
    }

    /// Tells of blocks that went past a child that was late, or that there were none any more; false: nothing new.
    private func tellLate(_ instance: IsolatedInstance) -> Bool {
        let bypassed = instance.link.pointee.bypassed.load(ordering: .relaxed)
        let news = bypassed - instance.toldBypassed
        guard instance.isThere.load(ordering: .relaxed) else { return false }
        guard news > 0 else {
            if instance.isLate { instance.setFault(nil) }
            instance.isLate = false
            return false
        }
        instance.toldBypassed = bypassed
        instance.isLate = true
        instance.setFault(.degraded("\(instance.recipe.plugin) is late, so that blocks go past it"))
        instance.tell(
            "plugin.late", [("plugin", .string(instance.recipe.plugin)), ("blocks", .integer(Int64(clamping: news)))])
        return true
    }

    /// A state on its way to the disk. Nobody waits for it: meanwhile the child may hang in its audio.
    private struct Save {
        var instance: IsolatedInstance
        var path: String
        var call: UInt32
        /// The newest replayed call that it holds.
        var replay: Int
    }

    /// Has the state of a node saved, beside the last complete one; nil: it has none.
    private func keepState(_ instance: IsolatedInstance, _ child: ChildProcess) -> Save? {
        guard instance.recipe.saves, instance.recipe.takesState, instance.isActive, !instance.saveIsDeadly else {
            return nil
        }
        let path: String? = folder.withLock { folder in
            if folder == nil { folder = StateFolder() }
            return folder.map { "\($0.path)/\(instance.id)-\(instance.savedStates)" }
        }
        guard let path else { return nil }
        instance.savedStates += 1
        let settling = isolation.policy?.settling ?? 5
        let replay = instance.replays.withLock { $0.settled(after: settling, blocks: instance.blocks) }
        let call = child.ask { call in
            var frame = FrameWriter(.save, node: instance.id, call: call)
            frame.put(path)
            return frame
        }
        return call.map { Save(instance: instance, path: path, call: $0, replay: replay) }
    }

    private func followSaves(_ child: ChildProcess, _ pulse: inout Pulse) {
        pulse.saves.removeAll { save in
            guard let answer = child.answer(save.call) else { return false }
            if answer.kind == .refusal {
                removeFolder(save.path)
            } else {
                if let old = save.instance.state { removeFolder(old) }
                save.instance.state = save.path
                save.instance.replays.withLock { $0.removeSettled(save.replay) }
            }
            return true
        }
    }
}
