// SPDX-License-Identifier: Apache-2.0

/// One connected part of a drawing, in coordinates of its own: columns from left to right in the direction of the signal
/// (after Sugiyama: layers, order by barycentres, then places).
struct GraphPart {
    private typealias Measure = GraphLayout.Measure

    private(set) var boxes: [GraphLayout.Box]
    private(set) var routes: [GraphLayout.Route] = []
    private(set) var width = 0.0
    private(set) var height = 0.0
    /// Where each column begins and ends.
    private(set) var extents: [(left: Double, right: Double)] = []
    private let links: [GraphSketch.Link]

    /// Boxes with their sizes, and links between them by their indices here. `hasLayers`: the boxes tell their columns.
    init(_ boxes: [GraphLayout.Box], _ links: [GraphSketch.Link], hasLayers: Bool = false) {
        (self.boxes, self.links) = (boxes, links)
        let forward = hasLayers ? links.map { boxes[$0.from].layer < boxes[$0.to].layer } : forwardLinks()
        if !hasLayers { assignLayers(forward) }
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

    private mutating func place(_ forward: [Bool]) {
        var columns = GraphColumns(boxes)
        var passing = [[Int]](repeating: [], count: links.count)
        for (index, link) in links.enumerated() where forward[index] {
            passing[index] = columns.join(
                link.from, boxes[link.from].port(link.output), link.to, boxes[link.to].port(link.input))
        }
        columns.order()
        columns.settle()
        // A wire against the stream leaves to the right and comes back from the left.
        let backward = forward.count { !$0 }
        let side = backward == 0 ? 0 : Measure.around + Measure.lane * Double(min(backward, Self.lanes))
        extents = stand(columns, from: side)
        width = (extents.last?.right ?? 0) + side
        height = columns.bottom(of: columns.columns.indices)
        var lanes: [Lane] = []
        for (index, link) in links.enumerated() {
            if forward[index] {
                routes.append(with(link, passing[index].map { columns.items[$0].middle }))
            } else {
                routes.append(against(link, &lanes, columns))
            }
        }
    }

    /// Where a wire against the stream lies below the boxes.
    private struct Lane {
        var left, right, y: Double
    }

    /// Gives each column its place; returns where each begins and ends.
    private mutating func stand(_ columns: GraphColumns, from left: Double) -> [(left: Double, right: Double)] {
        var x = left
        return columns.columns.map { column in
            let own = column.filter { $0 < boxes.count }
            let wide = own.map { boxes[$0].width }.max() ?? 0
            for box in own {
                boxes[box].x = x + (wide - boxes[box].width) / 2
                boxes[box].y = columns.items[box].y
            }
            defer { x += wide + Measure.columnGap }
            return (x, x + wide)
        }
    }

    /// The way of a wire with the stream, which passes columns at these heights.
    private func with(_ link: GraphSketch.Link, _ heights: [Double]) -> GraphLayout.Route {
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
        _ link: GraphSketch.Link, _ lanes: inout [Lane], _ columns: GraphColumns
    ) -> GraphLayout.Route {
        let (from, to) = (boxes[link.from], boxes[link.to])
        let (start, end) = (from.port(link.output, output: true), to.port(link.input, output: false))
        let bottom = columns.bottom(of: to.layer..<max(from.layer, to.layer) + 1)
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
}
