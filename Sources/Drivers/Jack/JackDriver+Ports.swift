// SPDX-License-Identifier: Apache-2.0
import CJack
import CNode
import Glibc
import Graph
import Synchronization
import System

/// Ports and connections. All of it under `lock`.
extension JackDriver {
    /// The slot of `port`, made or found.
    func place(_ port: ExternalPort) throws(DriverError) -> Int {
        if let index = ports.index(of: port.name) {
            let old = ports.entries[index].port
            if old.isCapture == port.isCapture, old.isMIDI == port.isMIDI {
                ports.update(index, port)
                if old.connect != port.connect { unconnected.insert(port.name) }
                return ports.entries[index].slot
            }
            remove(index)
        }
        let slot = try ports.add(port)
        guard client != nil else { return slot }
        guard let made = makePort(port) else {
            if isServerLost() { return slot }
            if let index = ports.index(of: port.name) { ports.remove(index) }
            throw DriverError(
                "the JACK port '\(port.name)' could not be registered",
                hint: "is the name too long, or the server out of ports?",
                details: Array(JackLibrary.recentLines.suffix(4)))
        }
        ports.exchange(slot, made)
        unconnected.insert(port.name)
        return slot
    }

    /// Takes the port of entry `index` from the server and from the table.
    func remove(_ index: Int) {
        let old = ports.exchange(ports.entries[index].slot, nil)
        waitForCycle()
        if let client, let old { jack_port_unregister(client, old) }
        ports.remove(index)
    }

    /// Removes the ports that `retire` named.
    func removeLeaving() {
        let names = leaving.withLock { leaving in
            defer { leaving = [] }
            return leaving
        }
        for name in names {
            if let index = ports.index(of: name) { remove(index) }
        }
    }

    /// Whether a call failed because the server is gone, whose end is heard of a moment after calls fail. `recover` makes
    /// the ports then.
    private func isServerLost() -> Bool {
        let deadline = monotonicSeconds() + 0.3
        while !signals.lost.load(ordering: .acquiring), monotonicSeconds() < deadline { usleep(2_000) }
        return signals.lost.load(ordering: .acquiring)
    }

    /// Registers a port with the server.
    func makePort(_ port: ExternalPort) -> OpaquePointer? {
        guard let client else { return nil }
        let type = port.isMIDI ? JACK_DEFAULT_MIDI_TYPE : JACK_DEFAULT_AUDIO_TYPE
        let flags = port.isCapture ? JackPortIsInput : JackPortIsOutput
        return jack_port_register(client, port.name, type, UInt(flags.rawValue), 0)
    }

    /// Makes those desired connections that a port which came or went makes possible; one that the user took away stays
    /// away. Returns what was made, as full port names.
    func connect() -> [(from: String, to: String)] {
        guard let client else { return [] }
        let all = signals.connectAll.exchange(false, ordering: .acquiringAndReleasing)
        let appeared = signals.takeAppeared()
        let vanished = signals.vanished.exchange(false, ordering: .acquiringAndReleasing)
        let retries = !pending.isEmpty && monotonicSeconds() >= retryAt
        // An alias is told to nobody, nor is every name that changes.
        let looksAgain = hasUnmatched && monotonicSeconds() >= nextSearch
        guard all || vanished || !appeared.isEmpty || retries || !unconnected.isEmpty || looksAgain else { return [] }
        nextSearch = monotonicSeconds() + 1
        let fresh = Set(appeared.compactMap { id in jack_port_by_id(client, id).flatMap(portName) })
        let own = unconnected
        let before = wanted
        unconnected = []
        wanted = desired()
        let isNews = all || vanished || !appeared.isEmpty || !own.isEmpty
        let waiting = retries || isNews ? pending : []
        pending.subtract(waiting)
        pending.formIntersection(wanted)
        if retries || isNews {
            retryGap = waiting.isEmpty || isNews ? 0.02 : min(2 * retryGap, 60)
            retryAt = monotonicSeconds() + retryGap
        }
        return wanted.sorted { $0.own < $1.own }.compactMap { pair in
            let isNew = !before.contains(pair) || own.contains(pair.own) || fresh.contains(pair.other)
            return all || isNew || waiting.contains(pair) ? join(client, pair, again: waiting.contains(pair)) : nil
        }
    }

    /// Every connection that is wanted and possible now.
    func desired() -> Set<JackConnections.Pair> {
        hasUnmatched = false
        guard let client, ports.entries.contains(where: { !$0.port.connect.isEmpty }) else { return [] }
        let (ours, others) = (ports.entries.map(\.port), others(client))
        hasUnmatched = ours.contains { !JackConnections.unmatched($0, others).isEmpty }
        return JackConnections.pairs(ours, others)
    }

    /// Ends connections that are wanted no more.
    func disconnect(_ pairs: Set<JackConnections.Pair>) {
        guard let client else { return }
        for pair in pairs {
            guard let index = ports.index(of: pair.own), let port = ports.jackPort(ports.entries[index].slot),
                let name = portName(port), jack_port_connected_to(port, pair.other) != 0
            else { continue }
            let (from, to) = pair.isCapture ? (pair.other, name) : (name, pair.other)
            jack_disconnect(client, from, to)
        }
    }

    /// See `Driver.connections`.
    func findConnections(of names: [String]) -> PortConnections? {
        guard let client else { return nil }
        let made = names.compactMap { name in ports.index(of: name).map { ports.entries[$0] } }
        let jackPorts = made.compactMap { ports.jackPort($0.slot) }
        guard let first = made.first?.port, !jackPorts.isEmpty else { return .unknown }
        if jackPorts.contains(where: { jack_port_connected($0) > 0 }) { return .connected }
        let others = others(client)
        if others.candidates(for: first).isEmpty { return .missing }
        return .unconnected(unmatched: JackConnections.unmatched(first, others))
    }

    /// Ends the notes that sound through MIDI inputs which lost a source: which of several held them is not known.
    func endPartedNotes() {
        guard let client else { return }
        let parted = Set(signals.takeParted().compactMap { jack_port_by_id(client, $0).flatMap(portName) })
        if parted.isEmpty { return }
        for entry in ports.entries where entry.port.isMIDI && entry.port.isCapture {
            guard let name = ports.jackPort(entry.slot).flatMap(portName), parted.contains(name) else { continue }
            ports.endNotes(entry.slot)
        }
    }

    /// Nodes whose source came back or went since the last call. One that has had none yet can lose none.
    func changedSources() -> [(node: String, isThere: Bool)] {
        var now: [String: Bool] = [:]
        for entry in ports.entries where entry.port.isCapture && !entry.port.isMIDI {
            guard let port = ports.jackPort(entry.slot) else { continue }
            now[entry.port.node] = now[entry.port.node] == true || jack_port_connected(port) > 0
        }
        let before = sources
        sources = now.filter { before[$0.key] != nil || $0.value }
        return now.compactMap { node, isThere in
            before[node].map { $0 != isThere } ?? false ? (node, isThere) : nil
        }
    }

    private func join(
        _ client: OpaquePointer, _ pair: JackConnections.Pair, again: Bool
    ) -> (from: String, to: String)? {
        guard let index = ports.index(of: pair.own), let port = ports.jackPort(ports.entries[index].slot),
            let name = portName(port)
        else { return nil }
        let (from, to) = pair.isCapture ? (pair.other, name) : (name, pair.other)
        // Not asked for before: until the last connection is in force, more than a block, jackd lets whoever asks wait.
        let failed = jack_connect(client, from, to)
        if failed == 0 {
            let ours = ports.entries[index].port
            // One that was lost is told to be back by whoever looks next.
            if ours.isCapture, !ours.isMIDI, sources[ours.node] == nil { sources[ours.node] = true }
            unproven.append((pair, from, to, monotonicSeconds()))
            return (from, to)
        }
        // jackd tells failures with negative numbers, PipeWire with positive ones.
        if failed != EEXIST {
            pending.insert(pair)
            // Whoever is not active yet soon is.
            if again, retryGap > 0.6, refused.insert(pair).inserted {
                news.append(.connectionRefused(from: from, to: to, isIgnored: false))
            }
        }
        return nil
    }

    /// Tells what was made, as soon as it can be seen: a server that is to ignore what programs connect by themselves says
    /// that it has done it.
    func proveConnections() {
        guard let client else { return }
        let joined = Set(signals.takeJoined().compactMap { jack_port_by_id(client, $0).flatMap(portName) })
        unproven.removeAll { made in
            let (from, to) = (made.from, made.to)
            guard let index = ports.index(of: made.pair.own), let port = ports.jackPort(ports.entries[index].slot)
            else {
                return true
            }
            // One that has ended by now was made all the same.
            if joined.contains(made.pair.isCapture ? to : from) || jack_port_connected_to(port, made.pair.other) != 0 {
                refused.remove(made.pair)
                news.append(.connected(from: from, to: to))
                return true
            }
            guard monotonicSeconds() - made.at > 1 else { return false }
            // What is gone is not refused.
            if jack_port_by_name(client, made.pair.other) != nil, refused.insert(made.pair).inserted {
                news.append(.connectionRefused(from: from, to: to, isIgnored: true))
            }
            return true
        }
    }

    private func portName(_ port: OpaquePointer) -> String? { jack_port_name(port).map { String(cString: $0) } }

    /// The ports of all other clients.
    private func others(_ client: OpaquePointer) -> JackConnections.Others {
        let ours = String(cString: jack_get_client_name(client)) + ":"
        func list(_ type: String, _ flags: JackPortFlags, _ more: JackPortFlags? = nil) -> [String] {
            JackNames.take(jack_get_ports(client, nil, type, UInt(flags.rawValue | (more?.rawValue ?? 0))))
                .filter { !$0.hasPrefix(ours) }
        }
        var others = JackConnections.Others(
            audioSources: list(JACK_DEFAULT_AUDIO_TYPE, JackPortIsOutput),
            audioSinks: list(JACK_DEFAULT_AUDIO_TYPE, JackPortIsInput),
            midiSources: list(JACK_DEFAULT_MIDI_TYPE, JackPortIsOutput),
            midiSinks: list(JACK_DEFAULT_MIDI_TYPE, JackPortIsInput))
        let all = [others.audioSources, others.audioSinks, others.midiSources, others.midiSinks]
        for name in all.joined() {
            let aliases = JackNames.aliases(client, name)
            if !aliases.isEmpty { others.aliases[name] = aliases }
        }
        guard !all.contains(where: { $0.contains { $0.hasPrefix("system:") } }) else { return others }
        for (type, prefix) in [(JACK_DEFAULT_AUDIO_TYPE, ""), (JACK_DEFAULT_MIDI_TYPE, "midi_")] {
            for (flag, name) in [(JackPortIsOutput, "capture"), (JackPortIsInput, "playback")] {
                for (index, port) in list(type, flag, JackPortIsPhysical).enumerated() {
                    others.aliases[port, default: []].append("system:\(prefix)\(name)_\(index + 1)")
                }
            }
        }
        return others
    }
}
