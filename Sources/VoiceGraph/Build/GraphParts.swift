// SPDX-License-Identifier: Apache-2.0

/// What stands between the braces of a `Graph`: a node, one of its ports, or nodes in a chain.
public protocol GraphPart: Sendable {
    /// All that it names.
    var chain: Chain { get }
}

/// Nodes that are linked one after the other.
public struct Chain: GraphPart {
    var nodes: [PlacedNode] = []
    var links: [Link] = []
    /// What is linked to it, and to what it is linked; nil: it names no node.
    var first: End?
    var last: End?
    /// Of the link that leads to it, in dB.
    var gainDB = 0.0

    /// One end of a link.
    struct End: Sendable, Equatable {
        var node: NodeIdentity
        var port: String?
    }

    /// What goes from one to another.
    struct Link: Sendable {
        var from, to: End
        var gainDB: Double
    }

    /// The same.
    public var chain: Chain { self }

    /// The same, but what is linked to it comes through a gain.
    public func at(_ gainDB: Double) -> Chain {
        var chain = self
        chain.gainDB = gainDB
        return chain
    }

    mutating func append(_ other: Chain) {
        nodes += other.nodes
        links += other.links
    }
}

extension GraphPart {
    /// The same, but what is linked to it comes through a link of so many dB: `music => mix.at(-12)`.
    public func at(_ gainDB: Double) -> Chain { chain.at(gainDB) }
}

precedencegroup GraphLinkPrecedence {
    associativity: left
    lowerThan: TernaryPrecedence
    higherThan: AssignmentPrecedence
}

infix operator => : GraphLinkPrecedence

/// Links the end of one part to the beginning of another, as `->` does in a file.
public func => (from: some GraphPart, to: some GraphPart) -> Chain {
    var chain = from.chain
    let next = to.chain
    chain.append(next)
    if let last = chain.last, let first = next.first {
        chain.links.append(Chain.Link(from: last, to: first, gainDB: next.gainDB))
    }
    chain.first = chain.first ?? next.first
    chain.last = next.last ?? chain.last
    return chain
}

/// Collects the parts of a graph: statements of nodes and chains, with `if` and `for` around them.
@resultBuilder public enum GraphParts {
    /// One part.
    public static func buildExpression(_ part: some GraphPart) -> Chain { part.chain }
    /// Several.
    public static func buildBlock(_ parts: Chain...) -> Chain { buildArray(parts) }
    /// Those of a loop.
    public static func buildArray(_ parts: [Chain]) -> Chain {
        var all = Chain()
        for part in parts { all.append(part) }
        return all
    }
    /// Those of an `if` without `else`.
    public static func buildOptional(_ part: Chain?) -> Chain { part ?? Chain() }
    /// Those of one branch.
    public static func buildEither(first: Chain) -> Chain { first }
    /// Those of the other.
    public static func buildEither(second: Chain) -> Chain { second }
    /// Those behind an `if #available`.
    public static func buildLimitedAvailability(_ part: Chain) -> Chain { part }
}
