// SPDX-License-Identifier: Apache-2.0
import CJack
import Glibc
import Realtime
import System

/// The control thread and the watchdog.
extension JackDriver {
    /// Does what the callbacks ask for, until `stop`. The only thread that calls the server of its own accord.
    func control() {
        var announced = 0
        var looked = monotonicSeconds()
        while !stopping.load(ordering: .acquiring) {
            // A connection that cannot be made yet (its owner is not active) is tried again soon, then less often.
            let rest = lock.locked { pending.isEmpty ? 0.25 : retryAt - monotonicSeconds() }
            signals.wakeup.wait(milliseconds: Int(min(max(rest, 0.005), 0.25) * 1000))
            if stopping.load(ordering: .acquiring) { return }
            announceXruns(&announced)
            if signals.lost.load(ordering: .acquiring) {
                recover()
                looked = monotonicSeconds()
                continue
            }
            if goOver() {
                emit(.serverFound)
                continue
            }
            if signals.silent.exchange(false, ordering: .acquiringAndReleasing), revive() { emit(.reactivated) }
            // Not while connections are being made: whoever looks at them then waits for a block.
            let looks = monotonicSeconds() - looked > 0.2
            if looks { looked = monotonicSeconds() }
            let told = lock.locked { look(looks) }
            for event in told { emit(event) }
        }
    }

    /// Does what has to be done at the server, and returns what is to be told of it. `looks`: also at what it costs a block to
    /// look at while connections are made. [control, with `lock`]
    private func look(_ looks: Bool) -> [DriverEvent] {
        removeLeaving()
        endPartedNotes()
        if let client, latencies.update({ name in ports.index(of: name).map { ports.entries[$0].slot } }) {
            jack_recompute_total_latencies(client)
        }
        if let client { loadBits.store((jack_cpu_load(client) / 100).bitPattern, ordering: .relaxed) }
        if connect().isEmpty, looks {
            if signals.rewired.exchange(false, ordering: .acquiringAndReleasing) { lookForPrograms() }
            proveConnections()
            news += changedSources().map { .source(node: $0.node, isThere: $0.isThere) }
        }
        defer { news = [] }
        return news
    }

    private func announceXruns(_ announced: inout Int) {
        let xruns = signals.xruns.load(ordering: .acquiring)
        let delay = Double(Float(bitPattern: signals.xrunDelay.load(ordering: .relaxed))) * 1e-6
        while announced < xruns {
            emit(.xrun(delay: delay))
            announced += 1
        }
    }

    /// Counts cycles until `stop`; calls no server, so that a hung one cannot stop it.
    func watch() {
        var last = cycle.pointee.count.load(ordering: .acquiring)
        var since = monotonicSeconds()
        var hidden: String?
        var named: pid_t = 0
        while !stopping.load(ordering: .acquiring) {
            let asleep = monotonicSeconds()
            usleep(50_000)
            // Who was held up or stopped itself has seen nothing meanwhile.
            if monotonicSeconds() - asleep > 0.3 { since = monotonicSeconds() }
            tellClosing(&hidden)
            // It is libjack's, and is called like whoever made it.
            if audioThread != named {
                named = audioThread
                SystemThread.name(named, "vg-audio")
            }
            let now = cycle.pointee.count.load(ordering: .acquiring)
            let format = info
            // A freewheeling server waits for whoever reads a disk.
            let isFree = cycle.pointee.isFreewheeling.load(ordering: .relaxed)
            let patience = isFree ? 20 : max(0.4, 3 * Double(format.block) / max(format.rate, 1))
            if now != last {
                last = now
                since = monotonicSeconds()
                if change(from: .stalled, to: .running) { emit(.resumed) }
            } else if monotonicSeconds() - since > patience {
                since = monotonicSeconds()
                if change(from: .running, to: .stalled) { emit(.stalled) }
                if state.withLock({ $0 }) == .stalled {
                    signals.silent.store(true, ordering: .releasing)
                    signals.wakeup.signal()
                }
            }
        }
    }

    /// Tells as long as libjack does not come back from closing a client: it opens no other meanwhile. `hidden`: what else
    /// was to be told then.
    private func tellClosing(_ hidden: inout String?) {
        let since = Double(bitPattern: closingSince.load(ordering: .acquiring))
        let isLong = since > 0 && monotonicSeconds() - since > 3
        guard isLong != (hidden != nil) else { return }
        facts.withLock { info in
            if isLong { hidden = info.notice }
            if isLong || info.notice == Self.closing { info.notice = isLong ? Self.closing : hidden ?? "" }
        }
        if !isLong { hidden = nil }
    }

    private static let closing =
        "libjack does not come back from closing the client of the server that went, and opens no other meanwhile: "
        + "if that server hangs, end it (kill -9), else end voicegraph and start it again"

    /// Whether the state was `old` and is `new` now.
    private func change(from old: DriverStatus.State, to new: DriverStatus.State) -> Bool {
        state.withLock { state in
            guard state == old else { return false }
            state = new
            return true
        }
    }

    /// No cycles: either the server hangs, then the question below waits until it goes on, or it has put us out of its
    /// graph, then we go in again. Whether we did.
    private func revive() -> Bool {
        lock.acquire()
        defer { lock.release() }
        guard let client else { return false }
        let before = cycle.pointee.count.load(ordering: .acquiring)
        let name = jack_get_uuid_for_client_name(client, jack_get_client_name(client))
        if let name { jack_free(name) }
        let deadline = monotonicSeconds() + 0.1
        while monotonicSeconds() < deadline, !signals.lost.load(ordering: .acquiring) {
            if cycle.pointee.count.load(ordering: .acquiring) != before { return false }
            usleep(5_000)
        }
        guard !signals.lost.load(ordering: .acquiring), !stopping.load(ordering: .acquiring) else { return false }
        jack_deactivate(client)
        cycle.pointee.thread.store(0, ordering: .relaxed)
        guard jack_activate(client) == 0 else {
            // The server did not come to it in time and has the client half in its graph: a new one takes its place.
            if reopen() { return true }
            signals.lost.store(true, ordering: .releasing)
            signals.wakeup.signal()
            return false
        }
        signals.connectAll.store(true, ordering: .releasing)
        signals.wakeup.signal()
        return true
    }
}
