// SPDX-License-Identifier: Apache-2.0
import Foundation
import GraphFile
import NodeKit

/// Random changes of a graph in which a sine runs from "sine" to "out". Links go from lower to higher numbers, so that
/// most can be made; what they add up to stays bounded.
public struct RandomEdits: Sendable {
    /// The graph they start from.
    public static let start = """
        [graph]
        name = "edits"
        links = ["sine -> n5 -> out"]
        [node.sine]
        type = "tone"
        frequency = 200
        level_db = -12
        [node.n5]
        type = "gain"
        [node.out]
        type = "output"
        channels = 1
        """

    private var random: TestRandom
    private let gains = [0.0, -3, -6, -12]

    private let late: Bool

    /// Starts a sequence; equal seeds give equal sequences. With `late`, the graph knows the type `late`, an effect.
    public init(seed: UInt64, late: Bool = true) {
        random = TestRandom(seed: seed)
        self.late = late
    }

    /// What an edit asks for.
    public enum Edit: Sendable {
        /// Adds a node, unlinked.
        case add(NodeDescription)
        /// Removes a node and its links.
        case remove(String)
        /// Adds a link.
        case link(LinkDescription)
        /// Removes the link at a place.
        case unlink(Int)
        /// Makes the link at a place so loud, in dB.
        case gain(Int, Double)
        /// Switches the bypass of a node.
        case bypass(String, Bool)
        /// Switches the mute of a node.
        case mute(String, Bool)
        /// Turns a parameter of a node.
        case set(String, String, Double)
        /// Puts another node in the place of one.
        case replace(String, NodeDescription)
    }

    /// The next edit of a graph as it is now.
    public mutating func next(_ graph: GraphDescription) -> Edit {
        let inner = graph.nodes.filter { $0.name.hasPrefix("n") }
        func pick<T>(_ items: [T]) -> T? { items.randomElement(using: &random) }
        // What is silent shows nothing.
        if let muted = pick(graph.nodes.filter(\.mute)), Bool.random(using: &random) { return .mute(muted.name, false) }
        if graph.loudest < 0.1 {
            let from = pick(inner) ?? graph.nodes[0]
            let isFed =
                from.name == "sine" || graph.links.contains { $0.from.node == "sine" && $0.to.node == from.name }
            let to = isFed ? "out" : from.name
            if !graph.links.contains(where: { $0.from.node == (isFed ? from.name : "sine") && $0.to.node == to }) {
                return .link(LinkDescription(from: Endpoint(isFed ? from.name : "sine"), to: Endpoint(to)))
            }
        }
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<18 where inner.count < 8:
            let number = Int.random(in: 1...99, using: &random)
            return .add(node("n\(number)"))
        case 18..<28: if let node = pick(inner) { return .remove(node.name) }
        case 28..<55:
            let ends = [graph.nodes[0]] + inner + graph.nodes.filter { $0.name == "out" }
            if let from = pick(ends), let to = pick(ends), order(from.name) < order(to.name), graph.links.count < 16 {
                let gain = pick(gains)!
                return .link(LinkDescription(from: Endpoint(from.name), to: Endpoint(to.name), gainDB: gain))
            }
        case 55..<65: if !graph.links.isEmpty { return .unlink(Int.random(in: 0..<graph.links.count, using: &random)) }
        case 65..<70:
            if !graph.links.isEmpty {
                return .gain(Int.random(in: 0..<graph.links.count, using: &random), pick(gains)!)
            }
        case 70..<80: if let node = pick(inner) { return .bypass(node.name, !node.bypass) }
        case 80..<88: if let node = pick(graph.nodes) { return .mute(node.name, !node.mute) }
        case 88..<95:
            if let node = pick(inner), node.type == "gain" {
                return .set(node.name, "gain_db", Double.random(in: -20...0, using: &random))
            }
        default: if let node = pick(inner) { return .replace(node.name, self.node(node.name)) }
        }
        return .set("sine", "level_db", Double.random(in: -20 ... -12, using: &random))
    }

    private mutating func node(_ name: String) -> NodeDescription {
        switch Int.random(in: 0..<(late ? 3 : 2), using: &random) {
        case 0:
            let gain = Double.random(in: -12...0, using: &random)
            return NodeDescription(
                name: name, type: "gain", entries: ["gain_db": Entry(.number(gain))], keys: ["gain_db"])
        case 1:
            let frames = Int.random(in: 300...3000, using: &random)
            return NodeDescription(
                name: name, type: "delay", entries: ["ms": Entry(.number(Double(frames) / 48))], keys: ["ms"])
        default: return NodeDescription(name: name, type: "late", entries: [:], keys: [])
        }
    }

    private func order(_ name: String) -> Int { name == "sine" ? 0 : Int(name.dropFirst()) ?? 100 }
}

extension GraphDescription {
    /// Makes the change; false where there is nothing to change.
    public mutating func make(_ edit: RandomEdits.Edit) -> Bool {
        func place(_ name: String) -> Int { nodes.firstIndex { $0.name == name }! }
        switch edit {
        case .add(let node):
            if nodes.contains(where: { $0.name == node.name }) { return false }
            nodes.append(node)
        case .remove(let name):
            nodes.removeAll { $0.name == name }
            links.removeAll { $0.from.node == name || $0.to.node == name }
        case .link(let link):
            if links.contains(where: { $0.from.node == link.from.node && $0.to.node == link.to.node }) { return false }
            links.append(link)
        case .unlink(let index): links.remove(at: index)
        case .gain(let index, let gain): links[index].gainDB = gain
        case .bypass(let name, let value): nodes[place(name)].bypass = value
        case .mute(let name, let value): nodes[place(name)].mute = value
        case .set(let name, let key, let value):
            nodes[place(name)].entries[key] = Entry(.number(value))
            if !nodes[place(name)].keys.contains(key) { nodes[place(name)].keys.append(key) }
        case .replace(let name, let node): nodes[place(name)] = node
        }
        return true
    }

    /// The sum of the gains of all ways from the sine to the output: no sample is larger than this times the sine's.
    public var loudest: Double {
        var sums: [String: Double] = ["sine": 1]
        let order = nodes.map(\.name).sorted { Int($0.dropFirst()) ?? 0 < Int($1.dropFirst()) ?? 0 }
        for name in order.filter({ $0.hasPrefix("n") }) + ["out"] {
            sums[name] = links.filter { $0.to.node == name }.reduce(0) {
                $0 + (sums[$1.from.node] ?? 0) * pow(10, $1.gainDB / 20)
            }
        }
        return sums["out"] ?? 0
    }
}
