// SPDX-License-Identifier: Apache-2.0

/// Where everything of a drawing is, for whoever draws it otherwise than as a file: in pixels, from the upper left corner.
public struct GraphPlaces: Sendable {
    /// A node's box.
    public struct Node: Sendable {
        /// Its index in the sketch.
        public var index: Int
        /// Its corner and its size.
        public var x, y, width, height: Double
        /// Where each of its ports is.
        public var inputs, outputs: [Point]
    }

    /// A place.
    public struct Point: Sendable {
        /// To the right, and down.
        public var x, y: Double
    }

    /// A wire.
    public struct Link: Sendable {
        /// What the sketch says of it.
        public var link: GraphSketch.Link
        /// Its way, as an SVG path has it.
        public var path: String
    }

    /// The size of the whole.
    public let width, height: Double
    /// In the order of the sketch.
    public let nodes: [Node]
    /// Those that can be drawn, in the order of the sketch.
    public let links: [Link]

    /// Places a sketch as `GraphSketch.svg` does.
    public init(_ sketch: GraphSketch) {
        let layout = GraphLayout(sketch)
        (width, height) = (layout.width, layout.height)
        nodes = sketch.nodes.indices.map { index in
            let box = layout.boxes[index]
            func places(_ ports: [GraphSketch.Port], output: Bool) -> [Point] {
                ports.indices.map {
                    let place = box.port($0, output: output)
                    return Point(x: place.x, y: place.y)
                }
            }
            return Node(
                index: index, x: box.x, y: box.y, width: box.width, height: box.height,
                inputs: places(sketch.nodes[index].inputs, output: false),
                outputs: places(sketch.nodes[index].outputs, output: true))
        }
        links = layout.links.enumerated().map { Link(link: $0.element, path: sketch.path(layout.routes[$0.offset])) }
    }
}
