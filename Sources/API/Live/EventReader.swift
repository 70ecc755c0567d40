// SPDX-License-Identifier: Apache-2.0
import GraphFile
import Host
import JSON
import NodeKit

/// One client's view of what happens: what it wants, may be told, and was told. Its transport's thread alone.
public struct EventReader {
    /// What it wants.
    public let filter: EventFilter
    /// Whether it goes on where it was before.
    public let isResumed: Bool
    private let feed: EventFeed
    private let caller: Caller
    /// The number of the last event that it was told, or passed over.
    private var cursor: Int
    /// What it is told before that, the next one last.
    private var before: [String] = []
    private var lost = 0

    /// Begins, with what the call `events` is given: after the states that there are, or where the client was before.
    public init(_ feed: EventFeed, for caller: Caller, _ given: [String: SettingValue]) throws(Fault) {
        try checkValues(given, against: HostCall.events.arguments, of: "'events'", noun: "argument")
        let settings = Settings(given)
        (self.feed, self.caller) = (feed, caller)
        filter = EventFilter(
            names: given["only"].map { _ in settings.strings("only") }, series: settings.strings("series"))
        feed.advance()
        let since = settings.string("run") == feed.run ? settings.integer("since") : nil
        isResumed = since.map { $0 >= 0 && feed.reaches($0) } ?? false
        cursor = isResumed ? since ?? 0 : feed.last
        if !isResumed { tellStates() }
    }

    /// What the answer to the call says, as JSON: the run, the number after which the events come, and whether it goes on.
    public var answer: [(String, String)] {
        [("run", JSONText.string(feed.run)), ("number", String(cursor)), ("resumed", String(isResumed))]
    }

    /// How many events were gone before it was told them, or are gone now.
    public var missed: Int { lost + feed.gone(after: cursor) }

    /// The line that it is told next; nil: nothing has come that it wants.
    public mutating func next() -> String? {
        while true {
            if let line = before.popLast() { return line }
            let gone = feed.gone(after: cursor)
            if gone > 0 {
                // What has become of it meanwhile is told by the states.
                tellStates()
                before.append(EventFeed.lost(gone))
                (lost, cursor) = (lost + gone, cursor + gone)
                continue
            }
            guard let (number, event) = feed.next(after: cursor, wants: wants) else { return nil }
            cursor = number
            if let line = event?.line(for: caller) { return line }
        }
    }

    private mutating func tellStates() {
        before = feed.states().reversed().filter { wants($0.name) }.compactMap { $0.line(for: caller) }
    }

    // Losses are told to all.
    private func wants(_ name: String) -> Bool { filter.wants(name) || name == HostEvent.eventsLost.name }
}
