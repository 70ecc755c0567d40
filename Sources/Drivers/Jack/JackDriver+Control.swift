// SPDX-License-Identifier: Apache-2.0
import CJack
import Glibc
import Graph
import Realtime
import System

/// The control thread and the watchdog.
extension JackDriver {
    /// Does what the callbacks ask for, until `stop`. The only thread that calls the server of its own accord.
    func control() {
        var announced = 0
        var retry = 20
        var looked = monotonicSeconds()
        while !stopping.load(ordering: .acquiring) {
            // A connection that cannot be made yet (its owner is not active) is tried again soon, then less often.
            let idle = lock.locked { pending.isEmpty }
            retry = idle ? 20 : min(retry * 2, 1000)
            signals.wakeup.wait(milliseconds: idle ? 250 : retry)
            if stopping.load(ordering: .acquiring) { return }
            announceXruns(&announced)
            if signals.lost.load(ordering: .acquiring) {
                recover()
                looked = monotonicSeconds()
                continue
            }
            if signals.silent.exchange(false, ordering: .acquiringAndReleasing), revive() { emit(.reactivated) }
            // Not while connections are being made: whoever looks at them then waits for a block.
            let looks = monotonicSeconds() - looked > 0.2
            if looks { looked = monotonicSeconds() }
            let (made, sources) = lock.locked {
                removeLeaving()
                if let client, latencies.update({ name in ports.index(of: name).map { ports.entries[$0].slot } }) {
                    jack_recompute_total_latencies(client)
                }
                if let client { loadBits.store((jack_cpu_load(client) / 100).bitPattern, ordering: .relaxed) }
                let made = connect()
                if looks, made.isEmpty, signals.rewired.exchange(false, ordering: .acquiringAndReleasing) {
                    lookForPrograms()
                }
                return (made, looks && made.isEmpty ? changedSources() : [])
            }
            for pair in made { emit(.connected(from: pair.from, to: pair.to)) }
            for source in sources { emit(.source(node: source.node, isThere: source.isThere)) }
        }
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
        while !stopping.load(ordering: .acquiring) {
            let asleep = monotonicSeconds()
            usleep(50_000)
            // Who was held up or stopped itself has seen nothing meanwhile.
            if monotonicSeconds() - asleep > 0.3 { since = monotonicSeconds() }
            let now = cycle.pointee.count.load(ordering: .acquiring)
            let format = info
            let patience = max(0.4, 3 * Double(format.block) / max(format.rate, 1))
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

    /// Closes the dead client and waits for the server, which is then used as if it had always been there.
    private func recover() {
        state.withLock { $0 = .lost }
        emit(.serverLost(reason: signals.takeReason()))
        if findServer() { emit(.serverBack) }
    }

    /// Whether the driver is active again; false: it was stopped meanwhile.
    private func findServer() -> Bool {
        lock.acquire()
        defer { lock.release() }
        closeLost()
        signals.lost.store(false, ordering: .releasing)
        pending = []
        JackLibrary.waitForOthers()
        var tries = 0
        while !stopping.load(ordering: .acquiring) {
            server?.restartIfDead()
            if let opened = try? JackLibrary.open(name: requestedName, server: serverName, library: library) {
                if comeBack(opened) { return true }
                JackLibrary.close(opened)
            }
            // Others may want the ports or their end meanwhile.
            lock.release()
            signals.wakeup.wait(milliseconds: tries < 500 ? 20 : 200)
            lock.acquire()
            tries += 1
        }
        return false
    }

    private func closeLost() {
        guard let dead = client else { return }
        helpers.end()
        JackLibrary.markLost(dead)
        client = nil
        for entry in ports.entries { ports.exchange(entry.slot, nil) }
        JackLibrary.close(dead)
        cycle.pointee.client = nil
    }

    /// A client that the server did not activate, as it does when the machine is too busy to answer in time, is made
    /// anew, up to twice; false: it is not activated then either. [control, with `lock`]
    func reopen() -> Bool {
        for _ in 0..<2 {
            closeLost()
            guard let opened = try? JackLibrary.open(name: requestedName, server: serverName, library: library) else {
                return false
            }
            if comeBack(opened) { return true }
            JackLibrary.close(opened)
        }
        return false
    }

    /// Makes the new client what the old one was; false: the server failed again.
    private func comeBack(_ opened: OpaquePointer) -> Bool {
        signals.lost.store(false, ordering: .releasing)
        signals.rewired.store(true, ordering: .releasing)
        _ = signals.takeAppeared()
        facts.withLock { $0.client = String(cString: jack_get_client_name(opened)) }
        cycle.pointee.client = opened
        cycle.pointee.thread.store(0, ordering: .relaxed)
        setCallbacks(opened)
        // The listener may call the driver, which has no server for it yet.
        lock.release()
        formatChanged(rate: Double(jack_get_sample_rate(opened)), block: Int(jack_get_buffer_size(opened)))
        lock.acquire()
        removeLeaving()
        client = opened
        let made = ports.entries.allSatisfy { entry in
            guard let port = makePort(entry.port) else { return false }
            ports.exchange(entry.slot, port)
            return true
        }
        guard made, jack_activate(opened) == 0 else {
            for entry in ports.entries { ports.exchange(entry.slot, nil) }
            cycle.pointee.client = nil
            client = nil
            return false
        }
        if let engine = cycle.pointee.engine { beginHelping(engine, opened) }
        state.withLock { $0 = .running }
        signals.connectAll.store(true, ordering: .releasing)
        signals.wakeup.signal()
        return true
    }
}
