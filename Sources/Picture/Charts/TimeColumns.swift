// SPDX-License-Identifier: Apache-2.0

/// What comes for an unknown time, kept in a bounded number of columns of equal time: when there are too many, each two
/// become one.
struct TimeColumns<Column> {
    private(set) var columns: [Column] = []
    private let limit: Int
    private let merge: (inout Column, Column) -> Void
    /// Frames of a column, and of the last one.
    private(set) var perColumn = 1
    private var filled = 0

    /// At least half as many columns as `limit`, once so many frames have come.
    init(limit: Int, merge: @escaping (inout Column, Column) -> Void) {
        (self.limit, self.merge) = (max(2, limit + limit % 2), merge)
    }

    /// Takes the next frame, which stands for so many.
    mutating func add(_ column: Column, _ count: Int) {
        for _ in 0..<count { add(column) }
    }

    /// Takes the next frame.
    mutating func add(_ column: Column) {
        if filled == 0 { columns.append(column) } else { merge(&columns[columns.count - 1], column) }
        filled += 1
        guard filled == perColumn else { return }
        filled = 0
        guard columns.count >= limit else { return }
        columns = stride(from: 0, to: columns.count, by: 2).map { place in
            var pair = columns[place]
            if place + 1 < columns.count { merge(&pair, columns[place + 1]) }
            return pair
        }
        perColumn *= 2
    }

    /// One for each of `count` pixels, from left to right; what falls into the same is merged. Empty without frames. `frames`:
    /// only so many are spread.
    func spread(over count: Int, of frames: Double = .infinity) -> [Column] {
        guard !columns.isEmpty, count > 0 else { return [] }
        // The last one may be of less time.
        let last = filled == 0 ? 1 : Double(filled) / Double(perColumn)
        let all = min(Double(columns.count - 1) + last, max(frames / Double(perColumn), 1))
        return (0..<count).map { pixel in
            let start = Double(pixel) * all / Double(count)
            // Those that begin in it, so that nothing counts twice; or else the one that is there.
            let begin = Int(start.rounded(.up))
            let end = min(Int((Double(pixel + 1) * all / Double(count)).rounded(.up)), columns.count)
            guard begin < end else { return columns[min(Int(start), columns.count - 1)] }
            var column = columns[begin]
            for index in stride(from: begin + 1, to: end, by: 1) { merge(&column, columns[index]) }
            return column
        }
    }
}
