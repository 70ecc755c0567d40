// SPDX-License-Identifier: Apache-2.0

/// Which events and series somebody wants told. [any]
public struct EventFilter: Sendable {
    /// Names of events, `series` among them; nil: all.
    private let names: Set<String>?
    /// Series by name, or as NODE.NAME; empty: all that are not measured only on request.
    public let series: Set<String>

    /// Without names all events are wanted, without series all series.
    public init(names: [String]? = nil, series: [String] = []) {
        self.names = names.map(Set.init)
        self.series = Set(series)
    }

    /// Whether an event of this name is wanted.
    public func wants(_ name: String) -> Bool { names?.contains(name) ?? true }

    /// Whether any of it is wanted.
    public func wants(_ published: Published) -> Bool {
        switch published {
        case .audio: false
        case .frame(let frame): wants("series") && (series.isEmpty || frame.rows.contains { wants($0, of: frame) })
        case .event(let event): wants(event.name)
        }
    }

    /// What is wanted of it, as one line of JSON without its end; nil: nothing.
    public func line(_ publication: Publication) -> String? {
        guard wants(publication.element) else { return nil }
        guard case .frame(var frame) = publication.element, !series.isEmpty else { return publication.line }
        frame.rows.removeAll { [frame] in !wants($0, of: frame) }
        return EventJSON.encode(frame)
    }

    private func wants(_ row: SeriesFrame.Row, of frame: SeriesFrame) -> Bool {
        series.contains(row.name) || series.contains("\(frame.node).\(row.name)")
    }
}
