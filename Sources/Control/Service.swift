// SPDX-License-Identifier: Apache-2.0
import API
import Glibc
import Graph
import Host
import JSON
import NodeKit
import Realtime
import System

/// The server's thread: takes connections, lines and answers as they come.
final class Service {
    private let host: Host
    private let calls: CallTable
    private let listener: Int32
    private let mailbox: Mailbox
    private var connections: [Connection] = []
    private var counts = ControlCounts()
    private var nextNumber = 1
    /// Until when no connection is taken, because there are no descriptors.
    private var restsUntil = 0.0

    /// Clients at a time; the one that was idle longest makes room for a new one.
    static let clientLimit = 64
    /// Seconds after which a client is dropped that reads nothing of what waits for it.
    static let patience = 10.0
    /// Events that are kept for a client that does not read them.
    static let eventLimit = 4096

    init(_ host: Host, _ calls: CallTable, _ listener: Int32, _ mailbox: Mailbox) {
        self.host = host
        self.calls = calls
        self.listener = listener
        self.mailbox = mailbox
    }

    deinit { close(listener) }

    /// Until the mailbox says that it is over. [server]
    func serve() {
        while !mailbox.isClosing {
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
        for connection in connections { connection.flush(at: monotonicSeconds()) }
    }

    /// Milliseconds to wait at most: events are looked for 60 times a second, stalled clients twice a second.
    private func patience(_ time: Double) -> Int32 {
        if connections.contains(where: { $0.subscription != nil }) { return 16 }
        return restsUntil > time || connections.contains(where: { $0.pending > 0 }) ? 500 : -1
    }

    private func step(_ entries: [pollfd]) {
        let time = monotonicSeconds()
        for (connection, entry) in zip(connections, entries.dropFirst(2)) where entry.revents != 0 {
            connection.receive(at: time)
            // Both ways are closed: nothing that is written is ever read.
            if entry.revents & Int16(POLLHUP | POLLERR) != 0 { connection.leave() }
        }
        for letter in mailbox.take() {
            guard let connection = connections.first(where: { $0.number == letter.client }) else { continue }
            if letter.isAnswer { connection.isBusy = false }
            if letter.isAnswer || connection.hasRoom { connection.send(letter.line) }
        }
        for connection in connections { advance(connection, at: time) }
        // Before the next line: one that has come may have gone already.
        if entries[1].revents != 0 { accept(at: time) }
        connections.removeAll { connection in
            let isStalled = time - connection.progress > Self.patience && connection.pending > 0
            if isStalled { counts.dropped += 1 }
            return isStalled || connection.isDone
        }
        counts.clients = connections.count
        mailbox.tell(counts)
    }

    private func advance(_ connection: Connection, at time: Double) {
        repeat {
            while !connection.isBusy, connection.hasRoom, let line = connection.nextLine() { begin(line, connection) }
            deliver(to: connection, at: time)
            connection.flush(at: time)
        } while !connection.isBusy && connection.hasRoom && connection.hasLine
    }

    /// Takes a few connections at a time, so that what they ask is heard before they make room for others.
    private func accept(at time: Double) {
        for _ in 0..<16 {
            var user = uid_t.max
            let descriptor = vg_accept(listener, &user)
            guard descriptor >= 0 else {
                if errno == EMFILE || errno == ENFILE || errno == ENOMEM { restsUntil = time + 0.5 }
                return
            }
            let connection = Connection(descriptor, number: nextNumber, at: time)
            nextNumber += 1
            guard user == getuid() || user == 0 else {
                counts.refused += 1
                continue
            }
            guard connections.count < Self.clientLimit || makeRoom(at: time) else {
                counts.refused += 1
                connection.send(CallError("too many clients", hint: "try again later").answer(.null))
                connection.flush(at: time)
                continue
            }
            connections.append(connection)
            connection.receive(at: time)
            advance(connection, at: time)
        }
    }

    private func makeRoom(at time: Double) -> Bool {
        let idle = connections.indices.filter { connections[$0].isIdle }
        guard let oldest = idle.min(by: { connections[$0].active < connections[$1].active }) else { return false }
        let connection = connections.remove(at: oldest)
        connection.send(CallError("too many clients; this one was idle longest", hint: "connect again").answer(.null))
        connection.flush(at: time)
        counts.dropped += 1
        return true
    }

    private func begin(_ line: Connection.Line, _ connection: Connection) {
        guard case .text(let bytes) = line else {
            let error = CallError("the line is longer than 1 MB", hint: "send one object a line")
            return connection.send(error.answer(.null))
        }
        var request = Request()
        do throws(CallError) {
            try request.read(bytes)
            if request.call == HostCall.events.name { return try subscribe(connection, request) }
        } catch {
            return connection.send(error.answer(request.id))
        }
        connection.isBusy = true
        Task { [host, calls, mailbox, number = connection.number, request] in
            let answer = await request.answer(host, calls) {
                $0 == "status" ? [("control", mailbox.counts.json)] : []
            }
            mailbox.post(Mailbox.Letter(client: number, line: answer, isAnswer: true))
        }
    }
}

// MARK: events

extension Service {
    private func subscribe(_ connection: Connection, _ request: Request) throws(CallError) {
        let given = try request.arguments()
        do throws(NodeError) {
            try checkValues(given, against: HostCall.events.arguments, of: "'events'", noun: "argument")
        } catch { throw CallError(error.message, hint: error.hint) }
        let settings = Settings(given)
        let filter = EventFilter(
            names: given["only"].map { _ in settings.strings("only") }, series: settings.strings("series"))
        connection.filter = filter
        connection.lossesTold = 0
        connection.lossesCounted = 0
        connection.statusDue = 0
        connection.subscription = host.subscribe(.bounded(Self.eventLimit), series: filter.series, where: filter.wants)
        connection.send(JSONText.object([("id", request.id.text), ("ok", "true")]))
    }

    /// What has happened, as far as the client has room, what was lost, and once a second the status.
    private func deliver(to connection: Connection, at time: Double) {
        guard let subscription = connection.subscription else { return }
        let dropped = subscription.dropped
        counts.eventsLost += dropped - connection.lossesCounted
        connection.lossesCounted = dropped
        guard connection.hasRoom else { return }
        let lost = dropped - connection.lossesTold
        if lost > 0 {
            connection.lossesTold = dropped
            connection.send(
                EventJSON.encode(Event(HostEvent.eventsLost.name, fields: ["count": .integer(Int64(lost))])))
        }
        while connection.hasRoom, let published = subscription.pollShared() {
            if let line = connection.filter.line(published) { connection.send(line) }
        }
        guard time >= connection.statusDue, connection.filter.wants(HostEvent.status.name) else { return }
        connection.statusDue = time + 1
        Task { [host, mailbox, number = connection.number] in
            guard let status = await host.status else { return }
            let line = EventJSON.encode(status, event: HostEvent.status.name, pid: getpid())
            mailbox.post(Mailbox.Letter(client: number, line: line, isAnswer: false))
        }
    }
}
