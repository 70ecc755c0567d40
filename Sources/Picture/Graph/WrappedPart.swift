// SPDX-License-Identifier: Apache-2.0

/// A connected part of a drawing that goes on in another row where it is wider than a page, as text does: between two columns
/// that only wires from one to the other join.
struct WrappedPart {
    private typealias Measure = GraphLayout.Measure

    /// Of its nodes.
    private(set) var boxes: [(node: Int, box: GraphLayout.Box)] = []
    /// Of its wires.
    private(set) var routes: [(wire: Int, route: GraphLayout.Route)] = []
    private(set) var width = 0.0
    private(set) var height = 0.0

    /// Some of the boxes, and whichever of the links are between them.
    init(_ members: [Int], _ all: [GraphLayout.Box], _ links: [GraphSketch.Link]) {
        let own = Set(members)
        let wires = links.indices.filter { own.contains(links[$0].from) && own.contains(links[$0].to) }
        let whole = Self.part(members, members.map { all[$0] }, wires, links)
        let cuts = Self.cuts(whole, members, wires, links)
        guard !cuts.isEmpty else {
            add(whole, members, wires, at: .zero)
            return
        }
        var layers: [Int: Int] = [:]
        for (index, node) in members.enumerated() { layers[node] = whole.boxes[index].layer }
        let row = { (node: Int) in cuts.count { $0 <= layers[node] ?? 0 } }
        let turning = wires.filter { row(links[$0].from) != row(links[$0].to) }
        let lanes = (1...cuts.count).map { index in turning.count { row(links[$0].to) == index } }
        let side = Measure.around + Measure.lane * Double(lanes.max() ?? 0)
        // Where each row ends.
        var bottoms: [Double] = []
        for index in 0...cuts.count {
            let nodes = members.filter { row($0) == index }
            let first = index == 0 ? 0 : cuts[index - 1]
            let inside = wires.filter { row(links[$0].from) == index && row(links[$0].to) == index }
            let boxes = nodes.map { node in
                var box = all[node]
                box.layer = (layers[node] ?? 0) - first
                return box
            }
            let part = Self.part(nodes, boxes, inside, links, hasLayers: true)
            let top = bottoms.last.map { $0 + 2 * Measure.around + Measure.lane * Double(lanes[index - 1]) } ?? 0
            add(part, nodes, inside, at: SIMD2(side, top), firstLayer: first)
            bottoms.append(height)
        }
        width += side
        turn(turning, links, bottoms: bottoms, row: row)
    }

    private static func part(
        _ nodes: [Int], _ boxes: [GraphLayout.Box], _ wires: [Int], _ links: [GraphSketch.Link], hasLayers: Bool = false
    ) -> GraphPart {
        let place = Dictionary(uniqueKeysWithValues: nodes.enumerated().map { ($0.element, $0.offset) })
        let own = wires.map { wire in
            var link = links[wire]
            (link.from, link.to) = (place[link.from] ?? 0, place[link.to] ?? 0)
            return link
        }
        return GraphPart(boxes, own, hasLayers: hasLayers)
    }

    private mutating func add(
        _ part: GraphPart, _ nodes: [Int], _ wires: [Int], at corner: SIMD2<Double>, firstLayer: Int = 0
    ) {
        for (index, node) in nodes.enumerated() {
            var box = part.boxes[index]
            box.x += corner.x
            box.y += corner.y
            box.layer += firstLayer
            boxes.append((node, box))
        }
        for (index, wire) in wires.enumerated() { routes.append((wire, part.routes[index].moved(corner))) }
        width = max(width, corner.x + part.width)
        height = max(height, corner.y + part.height)
    }

    /// The columns at which rows begin, so that they are about as wide.
    private static func cuts(
        _ part: GraphPart, _ nodes: [Int], _ wires: [Int], _ links: [GraphSketch.Link]
    ) -> [Int] {
        let rows = (part.width / Measure.page).rounded(.up)
        guard rows > 1 else { return [] }
        let layers = Dictionary(
            uniqueKeysWithValues: nodes.enumerated().map { ($0.element, part.boxes[$0.offset].layer) })
        // Of each column: the wires that come into it from the one before, or nil where others pass.
        var joins = [Int?](repeating: 0, count: part.extents.count)
        for wire in wires {
            guard let from = layers[links[wire].from], let to = layers[links[wire].to] else { continue }
            if from + 1 == to {
                joins[to] = joins[to].map { $0 + 1 }
            } else {
                for column in stride(from: min(from, to) + 1, through: max(from, to), by: 1) { joins[column] = nil }
            }
        }
        let places = joins.indices.dropFirst().filter { joins[$0].map { $0 <= Measure.wrapped } ?? false }
        var cuts: [Int] = []
        for row in stride(from: 1, to: rows, by: 1) {
            let wanted = part.width * row / rows
            let nearest = places.min {
                (part.extents[$0].left - wanted).magnitude < (part.extents[$1].left - wanted).magnitude
            }
            if let nearest, nearest > cuts.last ?? 0 { cuts.append(nearest) }
        }
        return cuts
    }

    /// Wires that go on in the next row: out to the right, back between the rows, and in from the left.
    private mutating func turn(
        _ wires: [Int], _ links: [GraphSketch.Link], bottoms: [Double], row: (Int) -> Int
    ) {
        let places = Dictionary(uniqueKeysWithValues: boxes.map { ($0.node, $0.box) })
        let right = boxes.reduce(0) { max($0, $1.box.x + $1.box.width) }
        let left = boxes.reduce(Double.infinity) { min($0, $1.box.x) }
        var lanes = [Int](repeating: 0, count: bottoms.count)
        for wire in wires {
            let link = links[wire]
            guard let from = places[link.from], let to = places[link.to] else { continue }
            let index = row(link.from)
            let beside = Measure.around + Measure.lane * Double(lanes[index])
            lanes[index] += 1
            let (start, end) = (from.port(link.output, output: true), to.port(link.input, output: false))
            let y = bottoms[index] + beside
            routes.append(
                (
                    wire,
                    .back([
                        start, SIMD2(right + beside, start.y), SIMD2(right + beside, y), SIMD2(left - beside, y),
                        SIMD2(left - beside, end.y), end,
                    ])
                ))
        }
    }
}
