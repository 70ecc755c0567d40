// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What somebody may ask for; each includes those before it. Every call says from which one on it is answered.
public enum Right: String, Sendable, Comparable, CaseIterable {
    /// Talks with the graph and listens to it.
    case visitor
    /// Turns parameters, mutes, does actions, sees and edits takes and transcripts.
    case `operator`
    /// Changes the graph.
    case owner

    /// What to do for who lacks it.
    var hint: String { "use the \(rawValue)'s link: voicegraph web --right \(rawValue)" }

    /// By how much they allow.
    public static func < (one: Right, other: Right) -> Bool {
        allCases.firstIndex(of: one)! < allCases.firstIndex(of: other)!  // each is a case
    }
}

/// Who asks.
public struct Caller: Sendable {
    /// What they may ask for.
    public var right: Right
    /// Whether they may name what the graph's file does not: programs, files outside its folder, variables of the
    /// environment, addresses.
    public var isTrusted: Bool
    /// The actions that they may do, as NODE.ACTION with * for any part of it; nil: all.
    public var actions: [String]?
    /// Those that they may do as a visitor beside the public ones, in the same way.
    public var granted: [String]

    /// What events call them that tell what they have turned.
    public var name: String

    /// Describes who asks; without a name, whoever asks over HTTP.
    public init(
        _ right: Right, trusted isTrusted: Bool = false, actions: [String]? = nil, granted: [String] = [],
        name: String? = nil
    ) {
        self.right = right
        self.isTrusted = isTrusted
        self.actions = actions
        self.granted = granted
        self.name = name ?? "browser (\(right.rawValue))"
    }

    /// The user whose host it is, at a terminal of the same machine.
    public static let user = Caller(.owner, trusted: true, name: "control socket")

    /// Whether they may do an action of a node.
    func may(_ action: String, of node: String, isPublic: Bool) -> Bool {
        func isNamed(_ patterns: [String]) -> Bool { patterns.contains { fnmatch($0, "\(node).\(action)", 0) == 0 } }
        guard right > .visitor else { return isPublic || isNamed(granted) }
        return actions.map(isNamed) ?? true
    }
}
