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
    /// The newest of each, by place.
    private var rows: [Int: Row] = [:]
    private var time = 0.0
    private var asked: Set<String> = []
    /// Counts the turns: a client that has seen one needs only what came after it.
    private(set) var turn = 0
    /// Messages of this turn.
    private var made: [Reader: ByteBuffer] = [:]

    private struct Row {
        var values: [Float]
        var isOnRequest: Bool
        var turn: Int
    }

    /// What a client asks for, and what it has seen.
    struct Reader: Hashable {
        var wanted: Set<String> = []
        var seen = 0
    }

    /// More than this are too many for a place of two bytes, and no graph has so many.
    private static let limit = 60_000

    init(_ host: Host) {
        subscription = host.subscribe(.latest) { if case .frame = $0 { true } else { false } }
    }

    deinit { subscription.cancel() }

    /// From now on these series on request are wanted by somebody.
    func ask(for series: Set<String>) {
        guard series != asked else { return }
        asked = series
        subscription.ask(for: series)
    }

    /// Takes what was measured since the last turn. True: there are new names.
    func advance() -> Bool {
        made.removeAll(keepingCapacity: true)
        turn += 1
        let known = names.count
        while let published = subscription.poll() {
            guard case .frame(let frame) = published else { continue }
            time = max(time, frame.time)
            for row in frame.rows {
                guard let place = place(of: Name(node: frame.node, series: row.name)) else { continue }
                rows[place] = Row(values: row.values, isOnRequest: frame.isOnRequest, turn: turn)
            }
        }
        return names.count > known
    }

    private func place(of name: Name) -> Int? {
        if let place = places[name] { return place }
        guard names.count < Self.limit else { return nil }
        places[name] = names.count
        names.append(name)
        return names.count - 1
    }

    /// What a client is sent; nil: nothing is new.
    func message(for reader: Reader) -> ByteBuffer? {
        if let known = made[reader] { return known }
        var buffer = ByteBuffer()
        for place in names.indices {
            guard let row = rows[place], row.turn > reader.seen else { continue }
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
