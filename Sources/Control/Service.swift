// SPDX-License-Identifier: Apache-2.0
import API
import Glibc
import Host
import JSON
import NodeKit
import Realtime
import System

/// The server's thread: takes connections, lines and answers as they come.
final class Service {
    private let host: Host
    private let feed: EventFeed
    /// Whether anybody has ever asked what happens: from then on it is kept for who comes back.
    private var isAsked = false
    private let calls: CallTable
    private let listener: Int32
    private let mailbox: Mailbox
    private var connections: [Connection] = []
    private var counts = ControlCounts()
    private var nextNumber = 1
    private var (callsBegun, callsUnderWay) = (0, 0)
    /// Until when no connection is taken, because there are no descriptors.
    private var restsUntil = 0.0

    /// Clients at a time; the one that was idle longest makes room for a new one.
    static let clientLimit = 96
    /// Clients of one process: the others are for other processes.
    static let processLimit = 64
    /// Clients that have left while a call of theirs that changes something goes on.
    static let leftLimit = 64
    /// Calls under way, also of clients that have left; the next ones wait.
    static let callLimit = 1024
    /// How much of one client's lines is done before the others have their turn.
    static let longestTurn = 1 << 14
    /// Seconds after which a client is dropped that reads nothing of what waits for it.
    static let patience = 10.0
    /// Frames of series that are kept for a client that does not read them.
    static let seriesLimit = 4096

    init(_ host: Host, _ feed: EventFeed, _ calls: CallTable, _ listener: Int32, _ mailbox: Mailbox) {
        self.host = host
        self.feed = feed
        self.calls = calls
        self.listener = listener
        self.mailbox = mailbox
    }

    deinit { close(listener) }

    /// Until the mailbox says that it is over. [server]
    func serve() {
        while !mailbox.isClosing { serveOnce() }
        for connection in connections { connection.flush(at: monotonicSeconds()) }
    }

    /// Waits until something is to be done, and does a part of it for everybody. [server]
    func serveOnce() {
        let time = monotonicSeconds()
        var entries = [pollfd(fd: mailbox.wake, events: Int16(POLLIN), revents: 0)]
        entries.append(pollfd(fd: time < restsUntil ? -1 : listener, events: Int16(POLLIN), revents: 0))
        for connection in connections {
            let events = (connection.wantsInput ? POLLIN : 0) | (connection.pending > 0 ? POLLOUT : 0)
            // One that is gone only waits for its call.
            entries.append(
                pollfd(fd: connection.isGone ? -1 : connection.descriptor, events: Int16(events), revents: 0))
        }
        poll(&entries, nfds_t(entries.count), patience(time))
        _ = vg_event_wait(mailbox.wake, 0)
        step(entries)
    }

    /// Milliseconds to wait at most: events are looked for 60 times a second, stalled clients twice a second.
    private func patience(_ time: Double) -> Int32 {
        // Whose turn was over before all its lines were done.
        if mayBegin, connections.contains(where: \.canGoOn) { return 0 }
        if connections.contains(where: { $0.reader != nil }) { return 16 }
        if restsUntil > time || connections.contains(where: { $0.pending > 0 }) { return 500 }
        return isAsked ? 1000 : -1
    }

    private func step(_ entries: [pollfd]) {
        let time = monotonicSeconds()
        if isAsked { feed.advance() }
        for (connection, entry) in zip(connections, entries.dropFirst(2)) where entry.revents != 0 {
            connection.receive(at: time)
            // Both ways are closed: nothing that is written is ever read.
            if entry.revents & Int16(POLLHUP | POLLERR) != 0 { connection.leave() }
        }
        for letter in mailbox.take() {
            if letter.call != nil { callsUnderWay -= 1 }
            guard let connection = connections.first(where: { $0.number == letter.client }) else { continue }
            if letter.call == connection.call { (connection.call, connection.endLook) = (nil, nil) }
            if letter.call != nil || connection.hasRoom { connection.send(letter.line) }
        }
        for connection in connections { advance(connection, at: time) }
        // Before the next line: one that has come may have gone already.
        if entries[1].revents != 0 { accept(at: time) }
        connections.removeAll { connection in
            let isStalled = time - connection.progress > Self.patience && connection.pending > 0
            if isStalled { counts.dropped += 1 }
            return isStalled || connection.isDone
        }
        counts.clients = connections.count { !$0.isGone }
        mailbox.tell(counts)
    }

    /// Does what a client's lines say until it waits for an answer, reads too little, or its turn is over.
    private func advance(_ connection: Connection, at time: Double) {
        var left = Self.longestTurn
        repeat {
            while left > 0, mayBegin, !connection.isBusy, connection.hasRoom, let line = connection.nextLine() {
                left -= line.cost
                begin(line, connection)
            }
            deliver(to: connection, at: time)
            connection.flush(at: time)
        } while left > 0 && mayBegin && connection.canGoOn
    }

    private var mayBegin: Bool { callsUnderWay < Self.callLimit }

    /// Takes a few connections at a time, so that what they ask is heard before they make room for others.
    private func accept(at time: Double) {
        for _ in 0..<16 {
            var user = uid_t.max
            let descriptor = vg_accept(listener, &user)
            guard descriptor >= 0 else {
                if errno == EMFILE || errno == ENFILE || errno == ENOMEM { restsUntil = time + 0.5 }
                return
            }
            let process = LocalSocket.process(behind: descriptor)
            let connection = Connection(descriptor, number: nextNumber, process: process, at: time)
            nextNumber += 1
            guard user == getuid() || user == 0 else {
                counts.refused += 1
                continue
            }
            guard hasRoom(for: process, at: time) else {
                counts.refused += 1
                connection.send(Fault("too many clients", hint: "try again later").answer(.null))
                connection.flush(at: time)
                continue
            }
            connections.append(connection)
            connection.receive(at: time)
            advance(connection, at: time)
        }
    }

    /// Whether one more client of a process is taken; those that were idle longest make room.
    private func hasRoom(for process: pid_t, at time: Double) -> Bool {
        let there = connections.filter { !$0.isGone }
        guard connections.count - there.count < Self.leftLimit else { return false }
        let own = there.filter { $0.process == process }
        if own.count >= Self.processLimit { return makeRoom(among: own, at: time) }
        return there.count < Self.clientLimit || makeRoom(among: there, at: time)
    }

    private func makeRoom(among some: [Connection], at time: Double) -> Bool {
        guard let connection = some.filter(\.isIdle).min(by: { $0.active < $1.active }) else { return false }
        connections.removeAll { $0 === connection }
        connection.send(Fault("too many clients; this one was idle longest", hint: "connect again").answer(.null))
        connection.flush(at: time)
        counts.dropped += 1
        return true
    }

    private func begin(_ line: Connection.Line, _ connection: Connection) {
        let bytes: [UInt8]
        switch line {
        case .text(let text): bytes = text
        case .blank: return
        case .tooLong:
            let error = Fault("the line is longer than 1 MB", hint: "send one object a line")
            return connection.send(error.answer(.null))
        }
        var request = Request()
        do throws(Fault) {
            try request.read(bytes)
            if request.call == HostCall.events.name { return try subscribe(connection, request) }
        } catch {
            return connection.send(error.answer(request.id))
        }
        let isLook = (try? calls.named(request.call))?.isChange == false
        // Nobody reads what it sees.
        if isLook, connection.isGone { return }
        callsUnderWay += 1
        callsBegun += 1
        connection.call = callsBegun
        let task = Task { [host, calls, mailbox, number = connection.number, call = callsBegun, request] in
            let answer = await request.answer(host, calls) {
                $0 == "status" ? [("control", mailbox.counts.json)] : []
            }
            mailbox.post(Mailbox.Letter(client: number, line: answer, call: call))
        }
        if isLook { connection.endLook = { task.cancel() } }
    }
}

// MARK: events

extension Service {
    private func subscribe(_ connection: Connection, _ request: Request) throws(Fault) {
        let reader = try EventReader(feed, for: .user, try request.arguments())
        let filter = reader.filter
        connection.reader = reader
        connection.lossesTold = 0
        connection.lossesCounted = 0
        connection.statusDue = 0
        connection.series = host.subscribe(.bounded(Self.seriesLimit), series: filter.series) {
            if case .frame = $0 { filter.wants($0) } else { false }
        }
        isAsked = true
        connection.send(JSONText.object([("id", request.id.text), ("ok", "true")] + reader.answer))
    }

    /// What has happened and was measured, as far as the client has room, what was lost, and once a second the status.
    private func deliver(to connection: Connection, at time: Double) {
        guard let reader = connection.reader, let series = connection.series else { return }
        let dropped = series.dropped
        let missed = reader.missed + dropped
        counts.eventsLost += missed - connection.lossesCounted
        connection.lossesCounted = missed
        while connection.hasRoom, let line = connection.reader?.next() { connection.send(line) }
        guard connection.hasRoom else { return }
        if dropped > connection.lossesTold { connection.send(EventFeed.lost(dropped - connection.lossesTold)) }
        connection.lossesTold = dropped
        while connection.hasRoom, let frame = series.pollShared() {
            if let line = reader.filter.line(frame) { connection.send(line) }
        }
        guard time >= connection.statusDue, reader.filter.wants(HostEvent.status.name) else { return }
        connection.statusDue = time + 1
        Task { [host, mailbox, number = connection.number] in
            guard let status = await host.status else { return }
            let line = EventJSON.encode(status, event: HostEvent.status.name)
            mailbox.post(Mailbox.Letter(client: number, line: line))
        }
    }
}
