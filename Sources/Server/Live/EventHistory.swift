// SPDX-License-Identifier: Apache-2.0
import API
import Graph
import Host
import NIOCore

/// The newest events, numbered from 1, each encoded once for all clients; so a client that was away goes on where it was.
/// The loop's thread only.
final class EventHistory {
    /// An event as it is sent.
    struct Item {
        let number: Int
        let line: ByteBuffer
        /// The same for visitors; nil: it is not for them.
        private let publicLine: ByteBuffer?

        /// `line` is the event without a number; no event: a loss, which is told to everybody.
        init(_ number: Int, _ line: String, _ event: Event?) {
            func numbered(_ line: String) -> ByteBuffer {
                ByteBuffer(string: "{\"number\":\(number)," + line.dropFirst())
            }
            self.number = number
            self.line = numbered(line)
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

        /// As somebody with a right is told it; nil: not at all.
        func line(for right: Right) -> ByteBuffer? { right > .visitor ? line : publicLine }
    }

    /// What is told to whoever comes, and whose state it is.
    private struct Key: Hashable {
        var node: String?
        var name: String
        var part: String
    }

    /// Events of this name are for programs of the same user alone.
    private let hidden: Set<String> = [HostEvent.web.name]
    private let subscription: Subscription
    private var items: CircularBuffer<Item> = []
    private var bytes = 0
    private var states: [Key: Item] = [:]
    private var lossesTold = 0
    /// The number of the newest one; 0: there was none yet.
    private(set) var last = 0

    init(_ host: Host) {
        let hidden = hidden
        subscription = host.subscribe(.bounded(2 * Limits.events)) {
            if case .event(let event) = $0 { !hidden.contains(event.name) } else { false }
        }
    }

    /// Takes what has happened since the last time; false: nothing more will.
    func advance() -> Bool {
        while let publication = subscription.pollShared() {
            guard case .event(let event) = publication.element, let line = publication.line else { continue }
            let item = add(line, event)
            if event.name == HostEvent.changed.name, case .list(let removed)? = event.fields["removed"] {
                for case .string(let node) in removed { states = states.filter { $0.key.node != node } }
            }
            if event.isRetained { states[Key(node: event.node, name: event.name, part: event.part)] = item }
        }
        let dropped = subscription.dropped
        if dropped > lossesTold {
            _ = add(Self.lost(dropped - lossesTold))
            lossesTold = dropped
        }
        return !subscription.isEnded
    }

    /// What a reader is told who has missed so many.
    static func lost(_ count: Int) -> String {
        EventJSON.encode(Event(HostEvent.eventsLost.name, fields: ["count": .integer(Int64(count))]))
    }

    private func add(_ line: String, _ event: Event? = nil) -> Item {
        last += 1
        let item = Item(last, line, event)
        items.append(item)
        bytes += item.line.readableBytes
        while items.count > Limits.events || bytes > Limits.eventBytes, let first = items.popFirst() {
            bytes -= first.line.readableBytes
        }
        return item
    }

    /// The next event after a number; nil: there is none. One that is gone is passed over.
    func next(after number: Int) -> Item? {
        guard let first = items.first, number < last else { return nil }
        return items[offset: max(0, number + 1 - first.number)]
    }

    /// Whether everything after a number is still there.
    func reaches(_ number: Int) -> Bool {
        number <= last && number >= (items.first.map { $0.number - 1 } ?? last)
    }

    /// The states that there are, in the order in which they came, as somebody with a right is told them.
    func retained(for right: Right) -> [ByteBuffer] {
        states.values.sorted { $0.number < $1.number }.compactMap { $0.line(for: right) }
    }
}

extension CircularBuffer {
    fileprivate subscript(offset offset: Int) -> Element { self[index(startIndex, offsetBy: offset)] }
}
