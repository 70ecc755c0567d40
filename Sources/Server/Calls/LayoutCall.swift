// SPDX-License-Identifier: Apache-2.0
import API
import Host
import NodeKit
import Picture

/// The call that tells where the graph is drawn, so that a page draws it as `voicegraph graph` does.
enum LayoutCall {
    static let call = HostCall(
        "layout", "where nodes and links of the graph are drawn, in pixels", change: false, right: .operator,
        results: [
            Field("width", VG_NUMBER, "of the whole"), Field("height", VG_NUMBER, "of the whole"),
            Field(
                "nodes", VG_LIST,
                "name, type, plugin (what an LV2 plugin calls itself), x, y, width, height, inputs and outputs of each, "
                    + "with name, kind, x, y"),
            Field("links", VG_LIST, "from, output, to, input, kind, gain and the way of each, as an SVG path has it"),
        ]
    ) { host, _ in
        guard let wiring = await host.wiring, let description = await host.description else {
            throw Fault("no graph is playing")
        }
        let degraded = await host.status?.degraded ?? [:]
        var sketch = GraphSketch(
            resolved: wiring, description: description, degraded: degraded, plugins: description.pluginNames)
        // Room for a level below the ports.
        for index in sketch.nodes.indices { sketch.nodes[index].live = GraphSketch.Live() }
        let places = GraphPlaces(sketch)
        return [
            ("width", .number(places.width)), ("height", .number(places.height)),
            ("nodes", .list(places.nodes.map { node(sketch.nodes[$0.index], $0) })),
            ("links", .list(places.links.map { link(sketch, $0) })),
        ]
    }

    private static func node(_ node: GraphSketch.Node, _ place: GraphPlaces.Node) -> SettingValue {
        func ports(_ ports: [GraphSketch.Port], _ points: [GraphPlaces.Point]) -> SettingValue {
            .list(
                zip(ports, points).map { port, point in
                    .table([
                        "name": .string(port.name), "kind": .string("\(port.kind)"), "x": .number(point.x),
                        "y": .number(point.y),
                    ])
                })
        }
        var fields: [String: SettingValue] = [
            "name": .string(node.name), "type": .string(node.type),
            "x": .number(place.x), "y": .number(place.y),
            "width": .number(place.width), "height": .number(place.height),
            "inputs": ports(node.inputs, place.inputs), "outputs": ports(node.outputs, place.outputs),
        ]
        if let plugin = node.plugin { fields["plugin"] = .string(plugin) }
        if let failure = node.failure { fields["failure"] = .string(failure) }
        return .table(fields)
    }

    private static func link(_ sketch: GraphSketch, _ place: GraphPlaces.Link) -> SettingValue {
        let link = place.link
        let (from, to) = (sketch.nodes[link.from], sketch.nodes[link.to])
        return .table([
            "from": .string(from.name), "output": .string(from.outputs[link.output].name), "to": .string(to.name),
            "input": .string(to.inputs[link.input].name), "kind": .string("\(link.kind)"),
            "gain": .number(link.gain), "path": .string(place.path),
        ])
    }
}
