// SPDX-License-Identifier: Apache-2.0
import Control
import Glibc
import Graph
import Host
import JSON
import Picture
import System

/// The graph that a host plays, with what its nodes do now.
func liveSketch(_ host: HostChoice) throws -> GraphSketch {
    let connection = try connect(host)
    func ask(_ call: String) throws -> JSON {
        do throws(Fault) {
            let answer = try connection.call(call).answer
            if let error = answer["error"] { throw Fault(error["message"]?.string ?? "the host refuses") }
            return answer
        } catch { throw fail("\(error)") }
    }
    // Listening takes a moment; the rest is asked for afterwards, so that all is of about the same time.
    let levels = try ask("levels")["levels"]?.fields ?? [:]
    let timings = try ask("timings")["timings"]?.fields ?? [:]
    let status = Status(try ask("status")["status"] ?? .null)
    let graph = try ask("nodes")
    let period = status.rate > 0 ? Double(status.block) / status.rate : 0

    var sketch = GraphSketch(name: graph["graph"]?.string ?? connection.name)
    var places: [String: Int] = [:]
    for json in graph["nodes"]?.items ?? [] {
        let (name, type) = (json["name"]?.string ?? "", json["type"]?.string ?? "")
        var node = GraphSketch.Node(name, type, failure: json["degraded"]?.string)
        for port in json["ports"]?.items ?? [] {
            let shown = GraphSketch.Port(port["symbol"]?.string ?? "", kind(port))
            if port["input"]?.bool == true { node.inputs.append(shown) } else { node.outputs.append(shown) }
        }
        node.isMuted = json["mute"]?.bool == true
        node.isBypassed = json["bypass"]?.bool == true
        node.plugin = json["plugin"]?.string
        let level = levels[name]?.double.map { 20 * log10(max($0, 1e-7)) }
        let share = timings[name].map { NodeTiming(node: name, $0).recent }.flatMap { period > 0 ? $0 / period : nil }
        node.live = GraphSketch.Live(level: level, load: share)
        places[name] = sketch.nodes.count
        sketch.nodes.append(node)
    }
    for wire in graph["wires"]?.items ?? [] {
        guard let from = wire["from"]?.string.flatMap({ places[$0] }),
            let to = wire["to"]?.string.flatMap({ places[$0] }),
            let output = sketch.nodes[from].outputs.firstIndex(where: { $0.name == wire["output"]?.string }),
            let name = wire["input"]?.string
        else { continue }
        let known = sketch.nodes[to].inputs.firstIndex { $0.name == name }
        // A parameter becomes a port of the drawing once something turns it.
        if known == nil { sketch.nodes[to].inputs.append(GraphSketch.Port(name, .control)) }
        sketch.links.append(
            GraphSketch.Link(
                from, output, to: to, known ?? sketch.nodes[to].inputs.count - 1, kind(wire),
                gain: wire["gain"]?.double ?? 1))
    }
    return sketch
}

private func kind(_ json: JSON) -> GraphSketch.Kind {
    json["kind"]?.string.flatMap(GraphSketch.Kind.init(rawValue:)) ?? .audio
}
