// SPDX-License-Identifier: Apache-2.0
import Host

/// A text that is said, with what is known of when: cut into captions. Together they have all of the text, up to white space.
package struct CaptionText {
    /// A word, or another place, whose time is known.
    package struct Word {
        /// Unicode scalars of the text before it.
        package var offset: Int
        /// Seconds.
        package var start: Double
        /// Seconds; nil: not known.
        package var end: Double?

        /// One that begins at an offset, in Unicode scalars, and is heard from `start`, in seconds.
        package init(offset: Int, start: Double, end: Double? = nil) {
            (self.offset, self.start, self.end) = (offset, start, end)
        }
    }

    private var text: CaptionLetters
    /// Letters whose times are known, both rising; the first and the last are those of the whole text.
    private var known: [(place: Int, time: Double)]
    /// When the words end that begin at a letter.
    private var ends: [(place: Int, time: Double)] = []
    private let end: Double

    /// A text that is said from `start` to `end`, in seconds. What has no length is shown for as long as it takes to read.
    package init(_ string: String, start: Double, end: Double, words: [Word] = []) {
        text = CaptionLetters(string)
        let columns = text.columns(0..<text.letters.count)
        self.end = end > start ? end : start + Self.reading(columns)
        known = [(0, start)]
        for word in words {
            let place = text.place(of: word.offset)
            guard place < text.letters.count else { continue }
            if place == 0 || text.word(in: 0..<place) == nil, known.count == 1, word.start >= start {
                // Marks before the first word are shown with it.
                known = [(0, word.start)]
                if place > 0 { known.append((place, word.start + 0.001)) }
            } else if place > known.last!.place, word.start > known.last!.time, word.start < self.end {
                known.append((place, word.start))
            }
            if let last = ends.last, word.start - last.time >= Self.pause { text.setPause(before: place) }
            if let time = word.end, place > ends.last?.place ?? -1 { ends.append((place, time)) }
        }
        known.append((text.letters.count, max(self.end, known.last!.time + 0.001)))
    }

    /// Seconds without a word that part one clause from another.
    private static let pause = 0.3
    /// A sentence of fewer columns is shown with the next one.
    private static let least = 12

    /// Seconds that it takes to read so many letters.
    package static func reading(_ columns: Int) -> Double { max(1, Double(columns) / 15) }

    /// The captions.
    package var cues: [Cue] {
        let ranges = ranges
        return ranges.indices.map { index in
            let range = ranges[index]
            let start = time(ofWordIn: range)
            let next = index + 1 < ranges.count ? time(ofWordIn: ranges[index + 1]) : end
            let said = ends.last { range.contains($0.place) }.map { min($0.time, next) }
            let stop = min(said ?? next, start + Cue.longest)
            return Cue(
                start: Cue.milliseconds(start), end: Cue.milliseconds(stop), lines: (lines(range) ?? [range]).map(parts)
            )
        }
    }

    // MARK: cutting

    private var ranges: [Range<Int>] {
        var found: [Range<Int>] = []
        var start = 0
        while start < text.letters.count {
            var end = start + 1
            while end < text.letters.count, text.cuts[end] != .sentence || text.columns(start..<end) < Self.least {
                end += 1
            }
            while start < end {
                let cut = fits(start..<end) ? end : place(toCut: start..<end)
                found.append(text.trimmed(start..<cut))
                start = cut
            }
        }
        return found
    }

    /// Whether it is one caption: in two lines, and not for too long; what cannot be cut may be in one longer line.
    private func fits(_ range: Range<Int>) -> Bool {
        let range = text.trimmed(range)
        guard text.columns(range) <= Cue.columns else { return false }
        guard lines(range) != nil else { return !range.dropFirst().contains { text.cuts[$0] != nil } }
        return time(at: range.upperBound) - time(ofWordIn: range) <= Cue.longest
            || !range.dropFirst().contains { text.cuts[$0] != nil }
    }

    /// Where to cut what does not fit: into parts that are about as long, rather at a better place.
    private func place(toCut range: Range<Int>) -> Int {
        let near = range.dropFirst().prefix { text.columns(range.lowerBound..<$0) <= Cue.columns + 1 }
        let places = near.filter { text.cuts[$0] != nil && fits(range.lowerBound..<$0) }
        guard let far = places.last else {
            // A word that is longer than a caption.
            let first = range.dropFirst().first { text.cuts[$0] != nil } ?? range.upperBound
            if text.columns(text.trimmed(range.lowerBound..<first)) <= Cue.columns { return first }
            return near.last { text.columns(range.lowerBound..<$0) <= Cue.columns } ?? range.lowerBound + 1
        }
        let all = text.columns(range)
        let parts = max(2, (Double(all) / Double(text.columns(range.lowerBound..<far))).rounded(.up))
        let wanted = Double(all) / parts
        func cost(_ place: Int) -> Double {
            let worth =
                switch text.cuts[place] {
                case .sentence: 40.0
                case .clause: 25.0
                case .kana: 8.0
                default: 0.0
                }
            return abs(Double(text.columns(range.lowerBound..<place)) - wanted) - worth
        }
        return places.min { cost($0) < cost($1) } ?? far
    }

    /// One line, or two that end at a blank; nil: they would be too long.
    private func lines(_ range: Range<Int>) -> [Range<Int>]? {
        if text.columns(range) <= Cue.lineColumns { return [range] }
        func halves(_ place: Int) -> [Range<Int>] {
            [range.lowerBound..<place, place..<range.upperBound].map(text.trimmed)
        }
        func cost(_ place: Int) -> Int {
            let columns = halves(place).map(text.columns)
            return abs(columns[0] - columns[1]) - (text.cuts[place]! >= .clause ? 10 : 0)
        }
        return range.dropFirst().filter { place in
            text.cuts[place] != nil && text.letters[place - 1].isWhitespace
                && halves(place).allSatisfy { text.columns($0) <= Cue.lineColumns }
        }.min { cost($0) < cost($1) }.map(halves)
    }

    /// A line in parts that begin where times are known.
    private func parts(_ line: Range<Int>) -> [Cue.Part] {
        var places = known[index(of: line.lowerBound)...].prefix { $0.place < line.upperBound }.filter {
            line.contains($0.place) && text.beginsWord($0.place)
        }
        if places.first?.place != line.lowerBound { places.insert((line.lowerBound, -1), at: 0) }
        return places.indices.map { index in
            let end = index + 1 < places.count ? places[index + 1].place : line.upperBound
            return Cue.Part(
                text: String(text.letters[places[index].place..<end]),
                time: places[index].time < 0 ? nil : Cue.milliseconds(places[index].time))
        }
    }

    // MARK: times

    /// The last letter at or before a place whose time is known.
    private func index(of place: Int) -> Int {
        var (low, high) = (0, known.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if known[middle].place <= place { low = middle } else { high = middle }
        }
        return low
    }

    /// When a letter is said: in proportion between those of which it is known.
    private func time(at place: Int) -> Double {
        let index = index(of: place)
        guard index + 1 < known.count else { return known[index].time }
        let (a, b) = (known[index], known[index + 1])
        let columns = text.columns(a.place..<b.place)
        if columns == 0 { return a.time }
        return a.time + (b.time - a.time) * Double(text.columns(a.place..<place)) / Double(columns)
    }

    /// When the first word of some letters is said.
    private func time(ofWordIn range: Range<Int>) -> Double { time(at: text.word(in: range) ?? range.lowerBound) }
}

extension CaptionText {
    /// What was recognized: its words are looked for in its text. It is shown `shift` seconds later.
    package init(_ item: Transcription.Item, later shift: Double = 0) {
        let letters = item.text.map { $0.lowercased() }
        let offsets = item.text.reduce(into: [0]) { $0.append($0.last! + $1.unicodeScalars.count) }
        let before = item.named.unicodeScalars.count - item.text.unicodeScalars.count
        var words: [Word] = []
        var next = 0
        for word in item.words {
            let wanted = word.text.map { $0.lowercased() }
            let rest = letters[next...]
            guard let place = rest.indices.first(where: { letters[$0...].starts(with: wanted) }), !wanted.isEmpty else {
                continue
            }
            words.append(Word(offset: before + offsets[place], start: word.start + shift, end: word.end + shift))
            next = place + wanted.count
        }
        self.init(item.named, start: item.start + shift, end: item.end + shift, words: words)
    }
}
