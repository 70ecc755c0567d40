// SPDX-License-Identifier: Apache-2.0
import GraphFile
import NodeKit

/// A link between nodes that exist in the description, by index.
struct NamedLink {
    var fromNode: Int
    var toNode: Int
    var link: LinkDescription
    /// What it stands for: a link from a node that was left out; nil: for itself.
    var replaces: Joint?
    /// Whether it replaces links through a node that was left out. What cannot be joined then is dropped silently:
    /// the missing node is reported.
    var isSpliced: Bool { replaces != nil }

    /// From where to where.
    struct Joint: Hashable {
        var fromNode: Int
        var to: Endpoint
    }

    /// Where it leads, wherever in the file it stands.
    var joint: Joint { Joint(fromNode: fromNode, to: Endpoint(link.to.node, link.to.port)) }
}

/// More replacement links than this are not made.
private let spliceLimit = 10_000

/// Takes nodes out: what went into one goes to what it fed. Links that name ports of such a node are dropped.
func splice(_ namedLinks: [NamedLink], leavingOut gone: [Bool]) -> [NamedLink] {
    guard gone.contains(true) else { return namedLinks }
    var namedLinks = namedLinks
    var alive = [Bool](repeating: true, count: namedLinks.count)
    var ins: [Int: [Int]] = [:]
    var outs: [Int: [Int]] = [:]
    for (index, namedLink) in namedLinks.enumerated() {
        if gone[namedLink.fromNode] { outs[namedLink.fromNode, default: []].append(index) }
        if gone[namedLink.toNode] { ins[namedLink.toNode, default: []].append(index) }
    }
    var made = 0
    for node in gone.indices where gone[node] {
        let sources = (ins[node] ?? []).filter { alive[$0] }
        let targets = (outs[node] ?? []).filter { alive[$0] }
        for index in sources + targets { alive[index] = false }
        var pairs: Set<[Endpoint]> = []
        let before = sources.map { namedLinks[$0] }.filter { $0.link.to.port == nil && $0.fromNode != node }
        let after = targets.map { namedLinks[$0] }.filter { $0.link.from.port == nil && $0.toNode != node }
        for source in before {
            for target in after {
                guard made < spliceLimit else { break }
                let ends = [source.link.from, target.link.to].map { Endpoint($0.node, $0.port) }
                guard pairs.insert(ends).inserted else { continue }
                made += 1
                if gone[source.fromNode] { outs[source.fromNode, default: []].append(namedLinks.count) }
                if gone[target.toNode] { ins[target.toNode, default: []].append(namedLinks.count) }
                namedLinks.append(
                    NamedLink(
                        fromNode: source.fromNode, toNode: target.toNode,
                        link: LinkDescription(
                            from: source.link.from, to: target.link.to,
                            gainDB: source.link.gainDB + target.link.gainDB, location: target.link.location),
                        replaces: target.replaces ?? target.joint))
                alive.append(true)
            }
        }
    }
    return namedLinks.indices.filter { alive[$0] }.map { namedLinks[$0] }
}
