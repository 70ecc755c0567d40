// SPDX-License-Identifier: Apache-2.0

/// One connected part of a drawing, in coordinates of its own: columns from left to right in the direction of the signal
/// (after Sugiyama: layers, order by barycentres, then places).
struct GraphPart {
    private typealias Measure = GraphLayout.Measure

    private(set) var boxes: [GraphLayout.Box]
    private(set) var routes: [GraphLayout.Route] = []
    private(set) var width = 0.0
    private(set) var height = 0.0
    private let links: [GraphSketch.Link]

    /// Boxes with their sizes, and links between them by their indices here.
    init(_ boxes: [GraphLayout.Box], _ links: [GraphSketch.Link]) {
        (self.boxes, self.links) = (boxes, links)
        let forward = forwardLinks()
        assignLayers(forward)
        place(forward)
    }

    /// False for the links that close a cycle; found by a walk in depth that keeps its own stack.
    private func forwardLinks() -> [Bool] {
        var outgoing = [[Int]](repeating: [], count: boxes.count)
        for (index, link) in links.enumerated() { outgoing[link.from].append(index) }
        var forward = [Bool](repeating: true, count: links.count)
        var state = [UInt8](repeating: 0, count: boxes.count)
        for root in boxes.indices where state[root] == 0 {
            var stack = [(node: root, next: 0)]
            state[root] = 1
            while let top = stack.last {
                if top.next == outgoing[top.node].count {
                    state[top.node] = 2
                    stack.removeLast()
                    continue
                }
                stack[stack.count - 1].next += 1
                let index = outgoing[top.node][top.next]
                let target = links[index].to
                if state[target] == 1 {
                    forward[index] = false
                } else if state[target] == 0 {
                    state[target] = 1
                    stack.append((target, 0))
                }
            }
        }
        return forward
    }

    /// Each box one column right of the last one that feeds it; sources next to what they feed.
    private mutating func assignLayers(_ forward: [Bool]) {
        var waiting = [Int](repeating: 0, count: boxes.count)
        var outgoing = [[Int]](repeating: [], count: boxes.count)
        var fed = [Bool](repeating: false, count: boxes.count)
        for (index, link) in links.enumerated() where forward[index] {
            waiting[link.to] += 1
            fed[link.to] = true
            outgoing[link.from].append(link.to)
        }
        var ready = boxes.indices.filter { waiting[$0] == 0 }
        var done = 0
        while done < ready.count {
            let node = ready[done]
            done += 1
            for target in outgoing[node] {
                boxes[target].layer = max(boxes[target].layer, boxes[node].layer + 1)
                waiting[target] -= 1
                if waiting[target] == 0 { ready.append(target) }
            }
        }
        for node in boxes.indices where !fed[node] {
            if let nearest = outgoing[node].map({ boxes[$0].layer }).min() { boxes[node].layer = max(0, nearest - 1) }
        }
    }

    /// What stands in a column: a box, or the bend of a link that passes through.
    private struct Item {
        var box: Int?
        var height: Double
        var y = 0.0
        var before: [Int] = []
        var after: [Int] = []
    }

    private mutating func place(_ forward: [Bool]) {
        var items = boxes.map { Item(box: nil, height: $0.height) }
        for index in items.indices { items[index].box = index }
        var columns = [[Int]](repeating: [], count: (boxes.map(\.layer).max() ?? 0) + 1)
        for index in boxes.indices { columns[boxes[index].layer].append(index) }
        var passing = [[Int]](repeating: [], count: links.count)
        for (index, link) in links.enumerated() where forward[index] {
            var last = link.from
            for layer in stride(from: boxes[link.from].layer + 1, to: boxes[link.to].layer, by: 1) {
                let bend = items.count
                items.append(Item(box: nil, height: Measure.bendHeight))
                columns[layer].append(bend)
                passing[index].append(bend)
                items[last].after.append(bend)
                items[bend].before.append(last)
                last = bend
            }
            items[last].after.append(link.to)
            items[link.to].before.append(last)
        }
        order(&columns, items)
        settle(columns, &items)
        // A wire against the stream leaves to the right and comes back from the left.
        let backward = forward.count { !$0 }
        let side = backward == 0 ? 0 : Measure.around + Measure.lane * Double(min(backward, Self.lanes))
        let extents = stand(columns, items, from: side)
        width = (extents.last?.right ?? 0) + side
        height = columns.joined().reduce(0) { max($0, items[$1].y + items[$1].height) }
        var lanes: [Lane] = []
        for (index, link) in links.enumerated() {
            if forward[index] {
                routes.append(with(link, passing[index].map { items[$0].y + items[$0].height / 2 }, extents))
            } else {
                routes.append(against(link, &lanes, columns, items, extents))
            }
        }
    }

    /// Where a wire against the stream lies below the boxes.
    private struct Lane {
        var left, right, y: Double
    }

    /// Gives each column its place; returns where each begins and ends.
    private mutating func stand(
        _ columns: [[Int]], _ items: [Item], from left: Double
    ) -> [(left: Double, right: Double)] {
        var x = left
        return columns.map { column in
            let wide = column.compactMap { items[$0].box.map { boxes[$0].width } }.max() ?? 0
            for item in column {
                guard let box = items[item].box else { continue }
                boxes[box].x = x + (wide - boxes[box].width) / 2
                boxes[box].y = items[item].y
            }
            defer { x += wide + Measure.columnGap }
            return (x, x + wide)
        }
    }

    /// The way of a wire with the stream, which passes columns at these heights.
    private func with(
        _ link: GraphSketch.Link, _ heights: [Double], _ extents: [(left: Double, right: Double)]
    ) -> GraphLayout.Route {
        let (from, to) = (boxes[link.from], boxes[link.to])
        let (start, end) = (from.port(link.output, output: true), to.port(link.input, output: false))
        let passed = heights.enumerated().map { place, y in
            let extent = extents[from.layer + 1 + place]
            return (left: extent.left, right: extent.right, y: y)
        }
        return .forward(
            [(left: start.x, right: extents[from.layer].right, y: start.y)] + passed
                + [(left: extents[to.layer].left, right: end.x, y: end.y)])
    }

    /// So many wires against the stream lie beside each other between two columns.
    private static let lanes = 4

    /// The way of a wire against the stream: down behind its box, back below all that stands in the columns between, and up.
    private mutating func against(
        _ link: GraphSketch.Link, _ lanes: inout [Lane], _ columns: [[Int]], _ items: [Item],
        _ extents: [(left: Double, right: Double)]
    ) -> GraphLayout.Route {
        let (from, to) = (boxes[link.from], boxes[link.to])
        let (start, end) = (from.port(link.output, output: true), to.port(link.input, output: false))
        let bottom = columns[to.layer...max(from.layer, to.layer)].joined()
            .reduce(0) { max($0, items[$1].y + items[$1].height) }
        let beside = Measure.around + Measure.lane * Double(lanes.count % Self.lanes)
        var lane = Lane(
            left: extents[to.layer].left - beside, right: extents[from.layer].right + beside, y: bottom + Measure.around
        )
        // Below those that lie there already.
        for other in lanes.sorted(by: { $0.y < $1.y })
        where other.left < lane.right && lane.left < other.right && abs(other.y - lane.y) < Measure.lane {
            lane.y = other.y + Measure.lane
        }
        lanes.append(lane)
        height = max(height, lane.y)
        return .back([
            start, SIMD2(lane.right, start.y), SIMD2(lane.right, lane.y), SIMD2(lane.left, lane.y),
            SIMD2(lane.left, end.y), end,
        ])
    }

    /// Sweeps back and forth, each column in the order of its neighbours' means.
    private func order(_ columns: inout [[Int]], _ items: [Item]) {
        var rank = [Double](repeating: 0, count: items.count)
        func number(_ column: [Int]) { for (place, item) in column.enumerated() { rank[item] = Double(place) } }
        columns.forEach(number)
        for sweep in 0..<8 {
            let down = sweep % 2 == 0
            for layer in down ? Array(columns.indices) : columns.indices.reversed() {
                let means = columns[layer].map { item -> (item: Int, mean: Double) in
                    let near = down ? items[item].before : items[item].after
                    return (item, near.isEmpty ? rank[item] : near.reduce(0) { $0 + rank[$1] } / Double(near.count))
                }
                // Ties keep their order, so that the drawing does not depend on the sort.
                columns[layer] = means.enumerated()
                    .sorted { ($0.element.mean, $0.offset) < ($1.element.mean, $1.offset) }.map(\.element.item)
                number(columns[layer])
            }
        }
    }

    /// Stacks each column, then lets everything move towards its neighbours without overlaps.
    private func settle(_ columns: [[Int]], _ items: inout [Item]) {
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
                var wanted: [Double] = []
                for item in column {
                    let near = down ? items[item].before : items[item].after
                    let other = near.isEmpty ? (down ? items[item].after : items[item].before) : near
                    let middle = items[item].y + items[item].height / 2
                    let mean =
                        other.isEmpty
                        ? middle : other.reduce(0) { $0 + items[$1].y + items[$1].height / 2 } / Double(other.count)
                    wanted.append(mean - items[item].height / 2)
                }
                spread(column, wanted, &items)
            }
        }
        let top = columns.joined().reduce(Double.infinity) { min($0, items[$1].y) }
        for index in items.indices { items[index].y -= top }
    }

    /// Puts a column as near as possible to where its items want to be: neighbours that would overlap share the mean.
    private func spread(_ column: [Int], _ wanted: [Double], _ items: inout [Item]) {
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
