// SPDX-License-Identifier: Apache-2.0

/// Where everything of a drawing goes: columns from left to right in the direction of the signal (after Sugiyama:
/// layers, order by barycentres, then places).
struct GraphLayout {
    struct Box {
        var layer = 0
        var x = 0.0
        var y = 0.0
        var width = 0.0
        var height = 0.0
    }

    /// Measures of the drawing, in pixels.
    enum Measure {
        static let header = 44.0
        static let row = 20.0
        static let columnGap = 84.0
        static let rowGap = 26.0
        static let margin = 28.0
        static let loop = 36.0
        static let bendHeight = 14.0
    }

    private(set) var boxes: [Box] = []
    /// For each sound link: the points between its ends where it passes other columns.
    private(set) var bends: [[SIMD2<Double>]] = []
    private(set) var width = 0.0
    private(set) var height = 0.0
    let sketch: GraphSketch
    let links: [GraphSketch.Link]

    init(_ sketch: GraphSketch) {
        self.sketch = sketch
        links = sketch.soundLinks
        boxes = sketch.nodes.map { node in
            var box = Box()
            let longest = max(textWidth(node.name, 14), textWidth(node.type, 11))
            let ins = node.inputs.map { textWidth($0.name, 10.5) }.max() ?? 0
            let outs = node.outputs.map { textWidth($0.name, 10.5) }.max() ?? 0
            box.width = max(96, longest + 32, ins + outs + 44)
            let rows = max(node.inputs.count, node.outputs.count)
            box.height = Measure.header + Double(rows) * Measure.row + (rows > 0 ? 8 : 2)
            return box
        }
        let forward = forwardLinks()
        assignLayers(forward)
        place(forward)
    }

    /// Where a wire leaves or enters a box.
    func port(_ node: Int, _ index: Int, output: Bool) -> SIMD2<Double> {
        let box = boxes[node]
        let y = box.y + Measure.header + (Double(index) + 0.5) * Measure.row
        return SIMD2(output ? box.x + box.width : box.x, y)
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
        let layers = (boxes.map(\.layer).max() ?? 0) + 1
        var columns = [[Int]](repeating: [], count: layers)
        var linked = [Bool](repeating: false, count: boxes.count)
        for link in links { (linked[link.from], linked[link.to]) = (true, true) }
        for index in boxes.indices where linked[index] { columns[boxes[index].layer].append(index) }
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
        var x = Measure.margin
        var bendX = [Double](repeating: 0, count: layers)
        for (layer, column) in columns.enumerated() {
            let wide = column.compactMap { items[$0].box.map { boxes[$0].width } }.max() ?? 0
            bendX[layer] = x + wide / 2
            for item in column {
                guard let box = items[item].box else { continue }
                boxes[box].x = x + (wide - boxes[box].width) / 2
                boxes[box].y = items[item].y
            }
            x += wide + Measure.columnGap
        }
        width = max(x - Measure.columnGap, Measure.margin) + Measure.margin
        height = columns.joined().reduce(Measure.margin) { max($0, items[$1].y + items[$1].height) } + Measure.margin
        // A link against the stream leaves to the right and comes back from the left.
        if forward.contains(false) {
            width += 2 * Measure.loop
            for index in boxes.indices { boxes[index].x += Measure.loop }
            for index in bendX.indices { bendX[index] += Measure.loop }
        }
        placeUnlinked(linked)
        bends = links.indices.map { index in
            passing[index].enumerated().map { offset, item in
                SIMD2(bendX[boxes[links[index].from].layer + 1 + offset], items[item].y + items[item].height / 2)
            }
        }
    }

    /// Boxes without links stand in rows below all others.
    private mutating func placeUnlinked(_ linked: [Bool]) {
        let alone = boxes.indices.filter { !linked[$0] }
        guard !alone.isEmpty else { return }
        if alone.count == boxes.count { height = Measure.margin }
        let room = max(width - Measure.margin, 900)
        var (x, y, tall) = (Measure.margin, height, 0.0)
        for index in alone {
            if x > Measure.margin, x + boxes[index].width > room {
                (x, y, tall) = (Measure.margin, y + tall + Measure.rowGap, 0)
            }
            (boxes[index].x, boxes[index].y) = (x, y)
            x += boxes[index].width + Measure.rowGap
            width = max(width, x - Measure.rowGap + Measure.margin)
            tall = max(tall, boxes[index].height)
        }
        height = y + tall + Measure.margin
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
        for index in items.indices { items[index].y += Measure.margin - top }
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

/// About how wide text is in a sans-serif face: wide enough for every system's.
func textWidth(_ text: String, _ size: Double) -> Double {
    text.unicodeScalars.reduce(0) { $0 + ($1.value < 0x1100 ? 0.6 : 1.05) * size }
}
