// SPDX-License-Identifier: Apache-2.0
import Foundation
import Host
import NodeKit
import System
import TestSupport

@testable import Archive

/// What a graph would tell, on a bus to which a writer listens.
final class Telling: Sendable {
    let bus = EventBus()
    let writer: ArchiveWriter
    /// What the writer tells of the archive itself.
    let news: Subscription
    let path: String

    init(
        _ path: String, graph: String = "talk", file: String? = nil, patience: Double = 10,
        mostHeld: Int = ArchiveWriter.mostHeld, retry: Double = 0.02
    ) {
        self.path = path
        let bus = bus
        news = bus.subscribe(.lossless) {
            if case .event(let event) = $0 { event.keeping == nil } else { false }
        }
        writer = ArchiveWriter(
            bus.subscribe(.lossless, where: ArchiveWriter.wants),
            session: .init(graph: graph, file: file), path: path, patience: patience, mostHeld: mostHeld, retry: retry
        ) { bus.tell($0, $1) }
    }

    /// Tells the text of an item.
    func text(
        _ item: Int64, _ text: String, _ stage: EventRole.Stage = .whole, node: String = "a", speaker: String? = nil,
        saidBy: String? = nil, time: Double = 1
    ) {
        var event = Event(
            "minutes.text", node: node, time: time, wallTime: 1_700_000_000 + time,
            fields: ["item": .integer(item), "text": .string(text)])
        if let saidBy { event.fields["speaker"] = .string(saidBy) }
        event.keeping = .init(.text(stage), speaker: speaker ?? node)
        bus.publish(.event(event))
    }

    /// Tells of a take.
    func take(_ fields: [String: SettingValue], _ stage: EventRole.Stage, node: String = "tape", time: Double = 1) {
        var event = Event("tape.take", node: node, time: time, wallTime: 1_700_000_000 + time, fields: fields)
        event.keeping = .init(.take(stage), speaker: node)
        bus.publish(.event(event))
    }

    /// Ends it; all is written when this returns.
    @discardableResult
    func end() -> ArchiveWriter.Outcome { writer.finish() }

    /// What was told of the archive until now.
    func told(_ kind: EventType) -> [Event] {
        var events: [Event] = []
        while case .event(let event)? = news.poll() { if event.name == kind.name { events.append(event) } }
        return events
    }

    /// The archive, which must be there.
    func archive() throws -> Archive { try #require(try Archive.open(path)) }
}

/// Text and state of each item; an archive that cannot be read says why.
func texts(_ archive: Archive, _ filter: ArchiveFilter = ArchiveFilter()) -> [String] {
    do { return try shown(archive, filter) } catch { return ["\(error)"] }
}

private func shown(_ archive: Archive, _ filter: ArchiveFilter) throws -> [String] {
    try archive.items(filter).map { "\($0.text)\($0.state == .whole ? "" : " (\($0.state.rawValue))")" }
}
