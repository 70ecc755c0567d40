// SPDX-License-Identifier: Apache-2.0

/// The columns of a part: boxes, and the bends of links that pass through, in an order with few crossings, and the heights at
/// which they stand.
struct GraphColumns {
    /// A link to the next column or from the one before.
    struct Join {
        /// The item at its other end.
        var item: Int
        /// Where it ends at this item and at the other, from their tops.
        var here, there: Double
    }

    /// What stands in a column.
    struct Item {
        var height: Double
        /// What is alike keeps the order of the file; nil: a bend.
        var kind: String?
        var y = 0.0
        var before: [Join] = []
        var after: [Join] = []

        var middle: Double { y + height / 2 }
    }

    private typealias Measure = GraphLayout.Measure

    /// Those of the boxes come first, in their order.
    private(set) var items: [Item]
    /// From left to right, each from top to bottom.
    private(set) var columns: [[Int]]
    private let layers: [Int]

    init(_ boxes: [GraphLayout.Box]) {
        items = boxes.map { Item(height: $0.height, kind: $0.kind) }
        layers = boxes.map(\.layer)
        columns = [[Int]](repeating: [], count: (layers.max() ?? 0) + 1)
        for (box, layer) in layers.enumerated() { columns[layer].append(box) }
    }

    /// Adds a link between two boxes, from and to these heights in them; returns its bends.
    mutating func join(_ from: Int, _ output: Double, _ to: Int, _ input: Double) -> [Int] {
        var bends: [Int] = []
        var (last, height) = (from, output)
        func add(_ next: Int, _ there: Double, to items: inout [Item]) {
            items[last].after.append(Join(item: next, here: height, there: there))
            items[next].before.append(Join(item: last, here: there, there: height))
        }
        for layer in stride(from: layers[from] + 1, to: layers[to], by: 1) {
            let bend = items.count
            items.append(Item(height: Measure.bendHeight))
            columns[layer].append(bend)
            bends.append(bend)
            add(bend, Measure.bendHeight / 2, to: &items)
            (last, height) = (bend, Measure.bendHeight / 2)
        }
        add(to, input, to: &items)
        return bends
    }

    /// How far down these columns reach.
    func bottom(of range: Range<Int>) -> Double {
        columns[range].joined().reduce(0) { max($0, items[$1].y + items[$1].height) }
    }

    // MARK: order

    /// Where items are in their columns, from the top.
    private func ranks(_ columns: [[Int]]) -> [Double] {
        var ranks = [Double](repeating: 0, count: items.count)
        for column in columns { for (place, item) in column.enumerated() { ranks[item] = Double(place) } }
        return ranks
    }

    /// Chooses the order: the one of the file, or the one of barycentres, whichever is better once each item has moved to its
    /// best place.
    mutating func order() {
        let orders = [columns, swept(columns)].map(sifted)
        let costs = orders.map { cost($0) }
        columns = costs[1] < costs[0] ? orders[1] : orders[0]
    }

    /// Sweeps back and forth, each column in the order of its neighbours' means (Sugiyama).
    private func swept(_ columns: [[Int]]) -> [[Int]] {
        var columns = columns
        var rank = ranks(columns)
        for sweep in 0..<8 {
            let down = sweep % 2 == 0
            for layer in down ? Array(columns.indices) : columns.indices.reversed() {
                let means = columns[layer].map { item -> (item: Int, mean: Double) in
                    let near = down ? items[item].before : items[item].after
                    return (
                        item, near.isEmpty ? rank[item] : near.reduce(0) { $0 + rank[$1.item] } / Double(near.count)
                    )
                }
                // Ties keep their order, so that the drawing does not depend on the sort.
                columns[layer] = means.enumerated()
                    .sorted { ($0.element.mean, $0.offset) < ($1.element.mean, $1.offset) }.map(\.element.item)
                for (place, item) in columns[layer].enumerated() { rank[item] = Double(place) }
            }
        }
        return columns
    }

    /// Moves each item to the place in its column where least is wrong, until nothing gets better (after C. Matuszewski and
    /// others, Using sifting for k-layer straightline crossing minimization, 1999).
    private func sifted(_ columns: [[Int]]) -> [[Int]] {
        var columns = columns
        var rank = ranks(columns)
        for _ in 0..<6 {
            var isBetter = false
            for layer in columns.indices where columns[layer].count > 1 {
                for item in columns[layer] {
                    guard let start = columns[layer].firstIndex(of: item) else { continue }
                    var column = columns[layer]
                    column.remove(at: start)
                    // What is wrong with it at the top, and how that changes on the way down.
                    var now = 0
                    var (best, place) = (0, 0)
                    for (index, other) in column.enumerated() {
                        now += wrong(other, item, rank) - wrong(item, other, rank)
                        if now < best || now == best && index + 1 == start { (best, place) = (now, index + 1) }
                    }
                    column.insert(item, at: place)
                    if place != start {
                        isBetter = true
                        columns[layer] = column
                        for (place, item) in column.enumerated() { rank[item] = Double(place) }
                    }
                }
            }
            if !isBetter { break }
        }
        return columns
    }

    /// What is wrong if one item is above another: links that cross, and an order that is not the file's.
    private func wrong(_ upper: Int, _ lower: Int, _ rank: [Double]) -> Int {
        func place(_ join: Join) -> Double { rank[join.item] + join.there / (items[join.item].height + 1) }
        func crossings(_ upper: [Join], _ lower: [Join]) -> Int {
            upper.reduce(0) { sum, one in sum + lower.count { place($0) < place(one) } }
        }
        let (above, below) = (items[upper], items[lower])
        let isTurned = upper > lower && above.kind != nil && above.kind == below.kind
        return crossings(above.before, below.before) + crossings(above.after, below.after) + (isTurned ? 1 : 0)
    }

    private func cost(_ columns: [[Int]]) -> Int {
        let rank = ranks(columns)
        return columns.reduce(0) { sum, column in
            sum
                + column.indices.reduce(0) { sum, place in
                    sum + column[(place + 1)...].reduce(0) { $0 + wrong(column[place], $1, rank) }
                }
        }
    }

    // MARK: heights

    /// Stacks each column, then lets everything move towards its neighbours without overlaps, so that links are straight.
    mutating func settle() {
        for column in columns {
            var y = 0.0
            for item in column {
                items[item].y = y
                y += items[item].height + Measure.rowGap
            }
        }
        for sweep in 0..<24 {
            let down = sweep % 2 == 0
            for column in down ? columns : columns.reversed() {
                spread(column, column.map { wanted($0, down: down) })
            }
        }
        let top = columns.joined().reduce(Double.infinity) { min($0, items[$1].y) }
        for index in items.indices { items[index].y -= top }
    }

    /// Where an item would stand for its links' sake: at their median, so that a chain is straight though something else is
    /// fed from it. Those to what has few of them count more.
    private func wanted(_ index: Int, down: Bool) -> Double {
        let item = items[index]
        let isBefore = down ? !item.before.isEmpty : item.after.isEmpty
        let places = (isBefore ? item.before : item.after).map { join -> (y: Double, weight: Double) in
            let other = items[join.item]
            let weight = 1 / Double(max(1, (isBefore ? other.after : other.before).count))
            return (other.y + join.there - join.here, weight)
        }.sorted { $0.y < $1.y }
        guard let first = places.first else { return item.y }
        var rest = places.reduce(0) { $0 + $1.weight } / 2
        var last = first.y
        for (y, weight) in places {
            // Where two halves meet, between both.
            if rest < 1e-9 { return (last + y) / 2 }
            (rest, last) = (rest - weight, y)
            if rest < -1e-9 { return y }
        }
        return last
    }

    /// Puts a column as near as possible to where its items want to be: neighbours that would overlap share the mean.
    private mutating func spread(_ column: [Int], _ wanted: [Double]) {
        var groups: [(first: Int, count: Int, sum: Double, height: Double)] = []
        for (place, item) in column.enumerated() {
            var group = (first: place, count: 1, sum: wanted[place], height: items[item].height + Measure.rowGap)
            while let last = groups.last, last.sum / Double(last.count) + last.height > group.sum / Double(group.count)
            {
                groups.removeLast()
                group = (
                    last.first, last.count + group.count,
                    last.sum + group.sum - Double(group.count) * last.height, last.height + group.height
                )
            }
            groups.append(group)
        }
        for group in groups {
            var y = group.sum / Double(group.count)
            for place in group.first..<group.first + group.count {
                items[column[place]].y = y
                y += items[column[place]].height + Measure.rowGap
            }
        }
    }
}
