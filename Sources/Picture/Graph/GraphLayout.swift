// SPDX-License-Identifier: Apache-2.0

/// Where everything of a drawing goes: each connected part by itself, and the parts beside and below each other.
struct GraphLayout {
    struct Box {
        var layer = 0
        /// What is of one kind keeps the order of the file.
        var kind = ""
        var x = 0.0
        var y = 0.0
        var width = 0.0
        var height = 0.0

        /// Where a wire leaves or enters it.
        func port(_ index: Int, output: Bool) -> SIMD2<Double> { SIMD2(output ? x + width : x, y + port(index)) }

        /// The same, from its top.
        func port(_ index: Int) -> Double { Measure.header + (Double(index) + 0.5) * Measure.row }
    }

    /// The way of a wire.
    enum Route {
        /// With the stream: pieces that run from left to right at one height, past everything that stands in their column;
        /// curves join them between the columns.
        case forward([(left: Double, right: Double, y: Double)])
        /// Against the stream: the corners of a way around below the boxes.
        case back([SIMD2<Double>])

        func moved(_ by: SIMD2<Double>) -> Route {
            switch self {
            case .forward(let pieces): .forward(pieces.map { ($0.left + by.x, $0.right + by.x, $0.y + by.y) })
            case .back(let corners): .back(corners.map { $0 + by })
            }
        }
    }

    /// Measures of the drawing, in pixels.
    enum Measure {
        static let header = 44.0
        static let row = 20.0
        static let columnGap = 84.0
        static let rowGap = 26.0
        static let partGap = 40.0
        static let margin = 28.0
        static let bendHeight = 14.0
        /// What a live box has below its ports.
        static let live = 22.0
        /// From a box to a wire that goes around it, and from there to the next one.
        static let around = 18.0
        static let lane = 7.0
        /// A part that is wider goes on in another row.
        static let page = 2000.0
        /// So many wires at most go on there.
        static let wrapped = 12
    }

    private(set) var boxes: [Box]
    /// Of each sound link.
    private(set) var routes: [Route]
    private(set) var width = 0.0
    private(set) var height = 0.0
    let links: [GraphSketch.Link]

    init(_ sketch: GraphSketch) {
        links = sketch.soundLinks
        boxes = sketch.nodes.map(Self.box)
        routes = links.map { _ in .back([]) }
        let parts = Self.parts(boxes.count, links)
        // Those that are wired come first.
        pack(parts.filter { $0.count > 1 } + parts.filter { $0.count == 1 })
    }

    private static func box(_ node: GraphSketch.Node) -> Box {
        var box = Box()
        box.kind = node.type
        let longest = max(textWidth(node.name, 14), textWidth(node.kindText, 11))
        let ins = node.inputs.map { textWidth($0.name, 10.5) }.max() ?? 0
        let outs = node.outputs.map { textWidth($0.name, 10.5) }.max() ?? 0
        box.width = max(node.live == nil ? 96 : 150, longest + 32, ins + outs + 44)
        let rows = max(node.inputs.count, node.outputs.count)
        box.height = Measure.header + Double(rows) * Measure.row + (rows > 0 ? 8 : 2)
        if node.live != nil { box.height += Measure.live }
        return box
    }

    /// The nodes that hang together, each part in the order of the file.
    private static func parts(_ count: Int, _ links: [GraphSketch.Link]) -> [[Int]] {
        var leader = Array(0..<count)
        func find(_ node: Int) -> Int {
            var node = node
            while leader[node] != node {
                leader[node] = leader[leader[node]]
                node = leader[node]
            }
            return node
        }
        for link in links {
            let (a, b) = (find(link.from), find(link.to))
            leader[max(a, b)] = min(a, b)
        }
        var members: [Int: [Int]] = [:]
        for node in 0..<count { members[find(node), default: []].append(node) }
        return members.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Puts the parts into rows that are as wide as the widest of them, or as a page.
    private mutating func pack(_ parts: [[Int]]) {
        let placed = parts.map { members in WrappedPart(members, boxes, links) }
        let room = max(placed.map(\.width).max() ?? 0, 1000)
        var (x, y, tall) = (0.0, 0.0, 0.0)
        for part in placed {
            if x > 0, x + part.width > room { (x, y, tall) = (0, y + tall + Measure.partGap, 0) }
            let corner = SIMD2(Measure.margin + x, Measure.margin + y)
            for (node, box) in part.boxes {
                boxes[node] = box
                boxes[node].x += corner.x
                boxes[node].y += corner.y
            }
            for (wire, route) in part.routes { routes[wire] = route.moved(corner) }
            width = max(width, x + part.width)
            tall = max(tall, part.height)
            x += part.width + Measure.partGap
        }
        width += 2 * Measure.margin
        height = y + tall + 2 * Measure.margin
    }
}

/// About how wide text is in a sans-serif face: wide enough for every system's.
func textWidth(_ text: String, _ size: Double) -> Double {
    text.unicodeScalars.reduce(0) { $0 + ($1.value < 0x1100 ? 0.6 : 1.05) * size }
}
