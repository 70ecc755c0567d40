// SPDX-License-Identifier: Apache-2.0
import Config
import Graph
import GraphFile
import NodeKit

/// What was switched of a node.
public enum Switching: String, Sendable { case muted, unmuted, bypassed, unbypassed }

/// What a change did.
public struct GraphDifference: Sendable, Equatable {
    /// Names of nodes that are new, or were made anew.
    public var added: [String] = []
    /// Names of nodes that are gone, or were made anew.
    public var removed: [String] = []
    /// Links that are new.
    public var linked = 0
    /// Links that are gone.
    public var unlinked = 0
    /// Parameters that were turned.
    public var parameters = 0
    /// Live settings that were changed.
    public var settings = 0
    /// What was switched of nodes, by their names.
    public var switched: [String: Switching] = [:]
    /// What was found on the way.
    public var warnings: [Diagnostic] = []
    /// How long it took; nil: only a parameter was turned.
    public var times: ChangeTimes?
    /// Seconds from the request until the last fade had ended.
    public var seconds: Double { times?.done ?? 0 }

    /// Whether nothing is different.
    public var isEmpty: Bool {
        added.isEmpty && removed.isEmpty && linked == 0 && unlinked == 0 && parameters == 0 && settings == 0
            && switched.isEmpty
    }
}

extension GraphDifference {
    init(_ nodes: [NodeInstance], _ old: GraphDescription, _ next: NextGraph) {
        let after = next.graph.nodes.map(\.instance)
        let (here, there) = (Set(nodes.map(ObjectIdentifier.init)), Set(after.map(ObjectIdentifier.init)))
        added = after.filter { !here.contains(ObjectIdentifier($0)) }.map(\.name)
        removed = nodes.filter { !there.contains(ObjectIdentifier($0)) }.map(\.name)
        let (links, were) = (next.description.links.map(WholeLink.init), old.links.map(WholeLink.init))
        let (present, past) = (Set(links), Set(were))
        linked = links.count { !past.contains($0) }
        unlinked = were.count { !present.contains($0) }
        settings = next.settings.count
        parameters = next.values.count { $0.instance.value($0.index) != $0.value }
        let before = Dictionary(old.nodes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for node in next.description.nodes {
            guard let was = before[node.name] else { continue }
            if node.bypass != was.bypass { switched[node.name] = node.bypass ? .bypassed : .unbypassed }
            if node.mute != was.mute { switched[node.name] = node.mute ? .muted : .unmuted }
        }
    }
}

extension RunningGraph {
    /// Publishes why a file was not taken.
    func tellFailure(_ error: any Error) {
        var fields: [String: SettingValue] = [:]
        switch error {
        case let error as InvalidGraph:
            let faults = error.diagnostics.filter { $0.severity == .error }
            fields["reason"] = .string(faults.first?.summary(faults.count) ?? "the graph is faulty")
            fields["diagnostics"] = .list(DiagnosticFormat.bounded(error.diagnostics).map(\.withoutText.fields))
        default: fields["reason"] = .string("\(error)")
        }
        tell(HostEvent.reloadFailed, fields)
    }

    /// Publishes what a change did.
    func tell(_ difference: GraphDifference) {
        tell(HostEvent.changed, difference.fields)
        tell(switched: difference.switched.keys, by: Author.current)
    }
}

extension GraphDifference {
    /// What the change did, by the names that other programs see.
    public var fields: [String: SettingValue] {
        func names(_ names: [String]) -> SettingValue { .list(names.map(SettingValue.string)) }
        return (times?.fields ?? [:]).merging([
            "added": names(added), "removed": names(removed), "linked": .integer(Int64(linked)),
            "unlinked": .integer(Int64(unlinked)), "parameters": .integer(Int64(parameters)),
            "settings": .integer(Int64(settings)), "switched": .table(switched.mapValues { .string($0.rawValue) }),
            "seconds": .number(seconds), "text": .string(text),
        ]) { $1 }
    }

    /// What the change did, in a few words.
    public var text: String {
        func count(_ number: Int, _ noun: String, _ verb: String) -> String? {
            number == 0 ? nil : "\(number) \(noun)\(number == 1 ? "" : "s") \(verb)"
        }
        let both = Set(added).intersection(removed)
        var parts = removed.filter { !both.contains($0) }.map { "-\($0)" }
        parts += added.map { both.contains($0) ? "\($0) anew" : "+\($0)" }
        parts += switched.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        parts += [
            count(linked, "link", "added"), count(unlinked, "link", "removed"),
            count(parameters, "parameter", "turned"), count(settings, "setting", "changed"),
        ].compactMap(\.self)
        guard !parts.isEmpty else { return "nothing changed" }
        return parts.joined(separator: ", ") + (times.map { "; \($0.text)" } ?? "")
    }
}

extension Diagnostic {
    /// In a line, with its place and how many there are.
    func summary(_ count: Int) -> String {
        let place = location.line > 0 ? "\(location.file):\(location.line):\(location.column): " : ""
        return place + message + (count > 1 ? ", and \(count - 1) more" : "")
    }
}

extension LinkDescription {
    /// Whether it has the same ends.
    func joins(_ other: LinkDescription) -> Bool {
        from.description == other.from.description && to.description == other.to.description
    }
}

/// All that makes a link what it is.
private struct WholeLink: Hashable {
    var from, to: String
    var gainDB: Double

    init(_ link: LinkDescription) {
        (from, to, gainDB) = (link.from.description, link.to.description, link.gainDB)
    }
}

extension GraphDescription {
    /// Puts back the nodes of `old` that are gone but sound on, with nothing that goes in; returns their names.
    mutating func keepTails(of old: GraphDescription) -> [String] {
        let left = Set(nodes.map(\.name))
        let tails = old.nodes.filter { node in node.tail == .spill && !left.contains(node.name) }
        for node in tails where old.links.contains(where: { $0.to.node == node.name }) {
            nodes.append(node)
            links += old.links.filter { $0.from.node == node.name && left.contains($0.to.node) }
        }
        return tails.map(\.name).filter { name in nodes.contains { $0.name == name } }
    }

    /// Whether anything is linked to a node.
    func hasLinks(_ node: String) -> Bool { links.contains { $0.from.node == node || $0.to.node == node } }

    /// The place of a node.
    func index(of node: String) throws(Fault) -> Int {
        if let index = nodes.firstIndex(where: { $0.name == node }) { return index }
        throw Fault("there is no node '\(node)'", hint: "nodes: \(nodes.map(\.name).joined(separator: ", "))")
    }

    /// The place of a link.
    func index(of link: LinkDescription) throws(Fault) -> Int {
        if let index = links.firstIndex(where: { $0.joins(link) }) { return index }
        let known = links.filter { $0.from.node == link.from.node }.map { "\($0.from) -> \($0.to)" }
        throw Fault(
            "there is no link \(link.from) -> \(link.to)",
            hint: known.isEmpty ? "nothing leaves '\(link.from.node)'" : known.joined(separator: ", "))
    }
}
