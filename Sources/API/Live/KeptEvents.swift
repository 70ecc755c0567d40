// SPDX-License-Identifier: Apache-2.0
import DequeModule

/// Events as they are told, oldest first. Their lines lie in one piece of memory, however many there are.
struct KeptEvents {
    private struct Place {
        let number: Int
        let name: String
        let isHidden: Bool
        /// Where its lines begin, among all that there ever were.
        let start: Int
        let bytes: Int
        /// Of the line for visitors, which comes behind; nil: they are told nothing, or the same.
        let publicBytes: Int?
        let isSame: Bool
    }

    private var places: Deque<Place> = []
    private var text: Deque<UInt8> = []
    /// Bytes that were dropped.
    private var dropped = 0
    /// One string for each name.
    private var names: Set<String> = []

    var count: Int { places.count }
    /// Of all lines.
    var bytes: Int { text.count }
    /// The number of the oldest one.
    var first: Int? { places.first?.number }

    mutating func append(_ event: ToldEvent) {
        let isSame = event.publicLine == event.line
        let publicLine = isSame ? nil : event.publicLine
        places.append(
            Place(
                number: event.number, name: names.insert(event.name).memberAfterInsert, isHidden: event.isHidden,
                start: dropped + text.count, bytes: event.line.utf8.count, publicBytes: publicLine?.utf8.count,
                isSame: isSame))
        text.append(contentsOf: event.line.utf8)
        if let publicLine { text.append(contentsOf: publicLine.utf8) }
    }

    mutating func dropFirst() {
        guard let place = places.popFirst() else { return }
        let bytes = place.bytes + (place.publicBytes ?? 0)
        text.removeFirst(bytes)
        dropped += bytes
    }

    /// What the event at a place is called.
    func name(_ index: Int) -> String { places[index].name }

    /// The event at a place, counted from the oldest.
    subscript(index: Int) -> ToldEvent {
        let place = places[index]
        func line(_ start: Int, _ count: Int) -> String {
            String(decoding: text[(start - dropped)..<(start - dropped + count)], as: UTF8.self)
        }
        let whole = line(place.start, place.bytes)
        return ToldEvent(
            number: place.number, name: place.name, line: whole,
            publicLine: place.isSame ? whole : place.publicBytes.map { line(place.start + place.bytes, $0) },
            isHidden: place.isHidden)
    }
}
