// SPDX-License-Identifier: Apache-2.0
import Host
import JSON
import NIOCore

/// What nodes measure, as messages of bytes. Only the newest of each series counts. The loop's thread only.
///
///     byte 0: 1, bytes 1 to 7: 0, then little-endian: f64 time of the graph in seconds,
///     then for each series u16 its place among the names, u16 how many numbers, f32 each
final class LevelFrames {
    /// A series of a node.
    struct Name: Hashable {
        var node: String
        var series: String
    }

    private let subscription: Subscription
    private var places: [Name: Int] = [:]
    private(set) var names: [Name] = []
    /// The newest of each name, by place.
    private var rows: [Row] = []
    /// Counts how often the names became others: what a client knows of places is of one edition.
    private(set) var edition = 0
    /// With so many names those are forgotten of which nothing comes any more.
    private var room = LevelFrames.leastRoom
    private var time = 0.0
    private var asked: Set<String> = []
    /// Counts the turns: a client that has seen one needs only what came after it.
    private(set) var round = 0
    /// Messages of this round.
    private var made: [Reader: ByteBuffer] = [:]

    private struct Row {
        var values: [Float]
        var isOnRequest: Bool
        var round: Int
    }

    /// What a client asks for, and what it has seen.
    struct Reader: Hashable {
        var wanted: Set<String> = []
        var seen = 0
    }

    /// More than this are too many for a place of two bytes, and no graph has so many.
    private static let limit = 60_000
    private static let leastRoom = 256
    /// A series of which nothing came for so many turns, ten seconds, may be that of a node that is gone. One that comes
    /// again gets a place again.
    static let patience = 600

    init(_ host: Host) { subscription = host.subscribe(.latest) { if case .frame = $0 { true } else { false } } }

    /// Of what somebody else publishes.
    init(_ subscription: Subscription) { self.subscription = subscription }

    deinit { subscription.cancel() }

    /// From now on these series on request are wanted by somebody.
    func ask(for series: Set<String>) {
        guard series != asked else { return }
        asked = series
        subscription.ask(for: series)
    }

    /// Takes what was measured since the last round.
    func advance() {
        made.removeAll(keepingCapacity: true)
        round += 1
        while let published = subscription.poll() {
            guard case .frame(let frame) = published else { continue }
            time = max(time, frame.time)
            for row in frame.rows {
                take(
                    Row(values: row.values, isOnRequest: frame.isOnRequest, round: round),
                    of: Name(node: frame.node, series: row.name))
            }
        }
    }

    private func take(_ row: Row, of name: Name) {
        if let place = places[name] { return rows[place] = row }
        if names.count >= room { forget() }
        guard names.count < Self.limit else { return }
        places[name] = names.count
        names.append(name)
        rows.append(row)
        edition += 1
    }

    /// Gives the places of series of which nothing comes to others. What is left may double before it is done again.
    private func forget() {
        let kept = names.indices.filter { rows[$0].round + Self.patience > round }
        names = kept.map { names[$0] }
        rows = kept.map { rows[$0] }
        places = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, $0) })
        room = min(max(Self.leastRoom, 2 * names.count), Self.limit)
        edition += 1
    }

    /// What a client is sent; nil: nothing is new.
    func message(for reader: Reader) -> ByteBuffer? {
        if let known = made[reader] { return known }
        var buffer = ByteBuffer()
        for place in names.indices {
            let row = rows[place]
            guard row.round > reader.seen else { continue }
            guard !row.isOnRequest || asks(reader.wanted, names[place]) else { continue }
            if buffer.readableBytes == 0 {
                buffer.writeInteger(UInt64(1), endianness: .little)
                buffer.writeInteger(time.bitPattern, endianness: .little)
            }
            let values = row.values.prefix(Int(UInt16.max))
            buffer.writeInteger(UInt16(place), endianness: .little)
            buffer.writeInteger(UInt16(values.count), endianness: .little)
            for value in values { buffer.writeInteger(value.bitPattern, endianness: .little) }
        }
        guard buffer.readableBytes > 0 else { return nil }
        made[reader] = buffer
        return buffer
    }

    private func asks(_ wanted: Set<String>, _ name: Name) -> Bool {
        wanted.contains(name.series) || wanted.contains("\(name.node).\(name.series)")
    }

    /// All names as an event, each where its series' place is.
    var namesLine: String {
        let list = names.map { "[\(JSONText.string($0.node)),\(JSONText.string($0.series))]" }.joined(separator: ",")
        return "{\"event\":\"series.names\",\"names\":[\(list)]}"
    }
}
