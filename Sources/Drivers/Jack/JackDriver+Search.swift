// SPDX-License-Identifier: Apache-2.0
import CJack
import Graph
import Realtime
import System

/// How a server is found: one that is back, and one that was not there yet.
extension JackDriver {
    /// Closes the dead client and waits for the server, which is then used as if it had always been there.
    func recover() {
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
            if let opened = try? open(place) {
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

    private func open(_ place: ServerPlace) throws(JackLibrary.OpenError) -> OpaquePointer {
        try JackLibrary.open(name: requestedName, server: place.name, library: place.library)
    }

    /// Takes the server that was hoped for, if there is one, in place of what plays, as it would take one that is back:
    /// whether it did. A server of our own is closed for that, since libjack talks to one at a time, and ends when the
    /// other has us; if that fails, it goes on. [control thread]
    func goOver() -> Bool {
        guard monotonicSeconds() >= nextLook, let hope = hopes.first(where: \.hasServer) else { return false }
        let before = state.withLock { state in
            defer { state = .waiting }
            return state
        }
        lock.acquire()
        if client != nil { closeLost() }
        let old = place
        place = hope
        if let (opened, own) = begin(hope) {
            timer?.stop()
            if timer != nil { helpers.end() }
            if comeBack(opened) {
                let former = server
                (server, hopes, timer) = (own, [], nil)
                describeServer()
                lock.release()
                former?.stop()
                return true
            }
            JackLibrary.close(opened)
            own?.stop()
            cycle.pointee.thread.store(0, ordering: .relaxed)
            if let engine = cycle.pointee.engine { try? beginTimer(engine) }
        }
        place = old
        nextLook = monotonicSeconds() + 5
        if server == nil { state.withLock { $0 = before } }
        lock.release()
        if server != nil { _ = findServer() }
        return false
    }

    /// A client of the server that was hoped for, which may be one of our own that can begin now; nil: not yet. [control, with
    /// `lock`]
    private func begin(_ hope: ServerPlace) -> (client: OpaquePointer, own: ServerProcess?)? {
        guard let plan = hope.own, let request else { return (try? open(hope)).map { ($0, nil) } }
        do throws(DriverError) {
            let begun = try OwnServer.begin(request, plan.backend)
            place = ServerPlace(name: begun.server.name, library: .jackd)
            return (begun.client, begun.server)
        } catch {
            // As long as a card is new, its devices may not be there or not be ours yet.
            setNotice("nothing is heard yet, and it is tried again: \(DriverChooser.sentence(error))")
            return nil
        }
    }

    /// Lets the timer call `engine`, where there is one. [control, with `lock`]
    func beginTimer(_ engine: AudioEngine) throws(DriverError) {
        guard let timer else { return }
        do throws(SystemError) { try timer.start(engine) } catch { throw DriverError(error) }
        helpers.begin(engine) { index, engine in HelperThreads.plain(index, engine, TimerThread.hurry) }
    }

    /// What is known of the server that was found.
    private func describeServer() {
        facts.withLock { info in
            info.kind = server?.kind ?? (JackLibrary.isPipeWire ? .pipewire : .jack)
            info.server = place.name ?? (JackLibrary.isPipeWire ? PipeWireSocket.name : JackLibrary.defaultServer)
            info.ownServer = server != nil
            info.notice = request?.notice(of: info) ?? ""
        }
    }

    private func closeLost() {
        guard let dead = client else { return }
        helpers.end()
        // libjack ends the audio thread where it is, and a plugin there may have a lock of the whole process.
        waitForCycle()
        JackLibrary.markLost(dead)
        client = nil
        for entry in ports.entries { ports.exchange(entry.slot, nil) }
        closingSince.store(monotonicSeconds().bitPattern, ordering: .releasing)
        JackLibrary.close(dead)
        closingSince.store(0, ordering: .releasing)
        cycle.pointee.client = nil
    }

    /// A client that the server did not activate, as it does when the machine is too busy to answer in time, is made
    /// anew, up to twice; false: it is not activated then either. [control, with `lock`]
    func reopen() -> Bool {
        for _ in 0..<2 {
            closeLost()
            guard let opened = try? open(place) else { return false }
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
        (pending, refused, unproven) = ([], [], [])
        facts.withLock { $0.client = String(cString: jack_get_client_name(opened)) }
        cycle.pointee.client = opened
        cycle.pointee.thread.store(0, ordering: .relaxed)
        cycle.pointee.isFreewheeling.store(false, ordering: .relaxed)
        _ = (signals.takeJoined(), signals.takeParted())
        // What was held when the server went was heard last before it.
        for entry in ports.entries { ports.endNotes(entry.slot) }
        setCallbacks(opened)
        // The listener may call the driver, which has no server for it yet.
        lock.release()
        former.add(1, ordering: .acquiringAndReleasing)
        formats.locked {
            formatChanged(rate: Double(jack_get_sample_rate(opened)), block: Int(jack_get_buffer_size(opened)))
        }
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
