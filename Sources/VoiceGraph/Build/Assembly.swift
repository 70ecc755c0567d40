// SPDX-License-Identifier: Apache-2.0
import GraphFile

/// A description made of parts: each node once, under a name of its own.
struct Assembly {
    private let parts: Chain
    private(set) var faults: [Diagnostic] = []
    private(set) var types: [ProgramType] = []
    private var names: [NodeIdentity: String] = [:]

    init(_ parts: Chain) { self.parts = parts }

    /// In the order in which they were mentioned first.
    mutating func nodes() -> [NodeDescription] {
        var known: [NodeIdentity: NodeDescription] = [:]
        var order: [PlacedNode] = []
        for node in parts.nodes {
            guard let before = known.updateValue(node.description, forKey: node.identity) else {
                order.append(node)
                continue
            }
            known[node.identity] = before
            if !before.isSame(as: node.description) {
                faults.append(
                    Diagnostic(
                        .error, "two nodes are called '\(before.name.isEmpty ? before.type : before.name)'",
                        at: node.description.location,
                        hint: "give one of them another name, or use the value of the first for both"))
            }
        }
        // Given names go first: those that are made up give way to them.
        var taken = Set(order.map(\.description.name))
        for node in order where node.description.name.isEmpty {
            let type = node.description.type
            let name = ([type] + (2...order.count + 1).map { "\(type)-\($0)" }).first { !taken.contains($0) } ?? type
            taken.insert(name)
            names[node.identity] = name
        }
        types = order.compactMap(\.type)
        return order.map { node in
            var description = node.description
            if description.name.isEmpty { description.name = names[node.identity] ?? description.type }
            names[node.identity] = description.name
            return description
        }
    }

    /// After `nodes`.
    func links() -> [LinkDescription] {
        parts.links.map { link in
            LinkDescription(from: endpoint(link.from), to: endpoint(link.to), gainDB: link.gainDB)
        }
    }

    private func endpoint(_ end: Chain.End) -> Endpoint {
        let place = parts.nodes.first { $0.identity == end.node }?.description.location ?? SourceLocation()
        return Endpoint(names[end.node] ?? "", end.port, location: place)
    }
}

extension NodeDescription {
    /// Whether both say the same, wherever they stand.
    fileprivate func isSame(as other: NodeDescription) -> Bool {
        type == other.type && entries.mapValues(\.value) == other.entries.mapValues(\.value)
            && commonEntries.mapValues(\.value) == other.commonEntries.mapValues(\.value)
    }
}
