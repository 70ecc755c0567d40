// SPDX-License-Identifier: Apache-2.0
import Host
import System

/// What happens in a host, numbered from 1 and kept for a while, for all clients of all transports: each reads on from where
/// it was, also after it was away. It begins when the first of them asks. [any]
public final class EventFeed: Sendable {
    /// Events that are kept for who comes back.
    public static let most = 4096
    /// Bytes of all that is told of them.
    public static let mostBytes = 4 << 20

    /// Tells this run from any other, so that numbers of events are not mixed up.
    public let run: String
    private let host: Host
    private let state = Lock(State())

    private struct State {
        var subscription: Subscription?
        var events = KeptEvents()
        var lossesTold = 0
        /// The number of the newest one; 0: there was none yet.
        var last = 0

        /// The number of the oldest one that is there, or of the one that comes next.
        var first: Int { events.first ?? last + 1 }

        mutating func add(_ event: Event?, _ line: String) {
            last += 1
            events.append(ToldEvent(event, line, number: last))
            while events.count > most || events.bytes > mostBytes { events.dropFirst() }
        }
    }

    /// Tells what happens in a host.
    public init(_ host: Host) {
        self.host = host
        let digits = String(UInt64.random(in: 0...(.max)), radix: 16)
        run = String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// Takes what has happened since the last time, up to now; false: nothing more will. To be called so often that
    /// `2 * most` events do not come meanwhile. [any]
    @discardableResult public func advance() -> Bool {
        state.withLock { state in
            let subscription = state.subscription ?? host.subscribe(.bounded(2 * Self.most)) { $0.isEvent }
            state.subscription = subscription
            while let publication = subscription.pollShared() {
                if case .event(let event) = publication.element, let line = publication.line { state.add(event, line) }
            }
            let dropped = subscription.dropped
            if dropped > state.lossesTold { state.add(nil, Self.lost(dropped - state.lossesTold)) }
            state.lossesTold = dropped
            return !subscription.isEnded
        }
    }

    /// The number of the newest event; 0: there was none yet.
    public var last: Int { state.withLock(\.last) }

    /// The number of the next event after a number, and the event if it is wanted, by its name; nil: there is none. One that
    /// is gone is passed over.
    func next(after number: Int, wants: (String) -> Bool) -> (number: Int, event: ToldEvent?)? {
        state.withLock { state in
            guard let first = state.events.first, number < state.last else { return nil }
            let index = max(0, number + 1 - first)
            return (first + index, wants(state.events.name(index)) ? state.events[index] : nil)
        }
    }

    /// How many of what came after a number are gone.
    func gone(after number: Int) -> Int { state.withLock { max(0, $0.first - 1 - number) } }

    /// Whether everything after a number is still there.
    func reaches(_ number: Int) -> Bool { state.withLock { number <= $0.last && number >= $0.first - 1 } }

    /// The states that there are, in the order in which they came.
    func states() -> [ToldEvent] {
        host.retained { $0.isEvent }.compactMap { publication in
            guard case .event(let event) = publication.element, let line = publication.line else { return nil }
            return ToldEvent(event, line, number: 0)
        }
    }

    /// What is told to who has missed so many.
    public static func lost(_ count: Int) -> String {
        EventJSON.encode(Event(HostEvent.eventsLost.name, fields: ["count": .integer(Int64(count))]))
    }
}

extension Published {
    fileprivate var isEvent: Bool { if case .event = self { true } else { false } }
}

/// An event as clients are told it.
struct ToldEvent: Sendable {
    /// Its number; 0: a state that was there before.
    let number: Int
    /// What it is called.
    let name: String
    let line: String
    /// What visitors are told; nil: nothing.
    let publicLine: String?
    /// Whether only who is trusted is told it.
    let isHidden: Bool

    /// `line` is the event without a number; no event: a loss, which is told to everybody.
    init(_ event: Event?, _ line: String, number: Int) {
        func numbered(_ line: String) -> String { number == 0 ? line : "{\"number\":\(number)," + line.dropFirst() }
        self.number = number
        self.line = numbered(line)
        name = event?.name ?? HostEvent.eventsLost.name
        // Links with their tokens.
        isHidden = name == HostEvent.web.name
        switch event {
        case nil: publicLine = self.line
        case let event? where event.name == HostEvent.changed.name:
            // That something has changed, not what.
            publicLine = numbered("{\"event\":\"\(event.name)\"}")
        case var event? where event.isPublic:
            let isWhole = event.fields.removeValue(forKey: "reason") == nil
            publicLine = isWhole ? self.line : numbered(EventJSON.encode(event))
        default: publicLine = nil
        }
    }

    init(number: Int, name: String, line: String, publicLine: String?, isHidden: Bool) {
        (self.number, self.name, self.line) = (number, name, line)
        (self.publicLine, self.isHidden) = (publicLine, isHidden)
    }

    /// As somebody is told it; nil: not at all.
    func line(for caller: Caller) -> String? {
        if isHidden, !caller.isTrusted { return nil }
        return caller.right > .visitor ? line : publicLine
    }
}
