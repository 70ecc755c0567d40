// SPDX-License-Identifier: Apache-2.0
import GraphFile
import Glibc
import NodeKit

/// Joins ports: from links between names to links between port indices.
struct LinkResolver {
    var report: Report
    private let description: GraphDescription
    private let catalog: NodeCatalog
    private let made: [MadeNode]
    private let nodePorts: [NodePorts?]
    /// Index of each node in the resolved graph, -1 for those not in it.
    private let position: [Int]
    private var links: [ResolvedGraph.Link] = []
    /// Whether each of `links` replaces links through a node that was left out.
    private var spliced: [Bool] = []
    /// Whether links could not be followed, so that a node without links is no news.
    private var lacksLinks: Bool
    private var joined: [ResolvedGraph.Link: Int] = [:]
    /// Links from nodes that were left out for which others stand.
    private var replaced: Set<NamedLink.Joint> = []

    init(_ description: GraphDescription, _ made: [MadeNode], _ catalog: NodeCatalog, _ report: Report) {
        self.description = description
        self.made = made
        self.catalog = catalog
        self.report = report
        lacksLinks = description.isPartial
        nodePorts = made.map { if case .instance(let instance) = $0 { NodePorts(instance) } else { nil } }
        var next = 0
        position = nodePorts.map {
            guard $0 != nil else { return -1 }
            defer { next += 1 }
            return next
        }
    }

    mutating func resolve() -> ResolvedGraph {
        let named = namedLinks()
        let namedLinks = splice(
            named, leavingOut: made.map { if case .leftOut = $0 { true } else { false } })
        for namedLink in namedLinks { join(namedLink) }
        judgeAbsences(named)
        var graph = ResolvedGraph()
        for (node, made) in zip(description.nodes, made) {
            if case .instance(let instance) = made { graph.nodes.append(.init(instance: instance, description: node)) }
        }
        graph.links = withoutCycles(graph)
        warnOfLooseNodes(named)
        return graph
    }

    // MARK: names

    private mutating func namedLinks() -> [NamedLink] {
        var index: [String: Int] = [:]
        for (position, node) in description.nodes.enumerated() where index[node.name] == nil {
            index[node.name] = position
        }
        var namedLinks: [NamedLink] = []
        namedLinks.reserveCapacity(description.links.count)
        for link in description.links {
            let from = find(link.from, index)
            let to = find(link.to, index)
            if let from, let to { namedLinks.append(NamedLink(fromNode: from, toNode: to, link: link)) }
        }
        return namedLinks
    }

    private mutating func find(_ end: Endpoint, _ index: [String: Int]) -> Int? {
        if let found = index[end.node] { return found }
        lacksLinks = true
        let (name, isType) = (shortened(end.node), catalog.types[end.node] != nil)
        // A link that was asked for while the graph plays stands in no file.
        let add =
            end.nodeLocation.line == 0
            ? "add it first: voicegraph ctl add \(name) \(isType ? end.node : "TYPE")"
            : "add [node.\(name)] with type = \"\(isType ? end.node : "...")\""
        report.error(
            "unknown node '\(shortened(end.node))'", at: end.nodeLocation,
            hint: report.suggester.hint(end.node, among: index.keys, otherwise: add))
        return nil
    }

    // MARK: joining

    private mutating func join(_ namedLink: NamedLink) {
        guard let from = nodePorts[namedLink.fromNode], let to = nodePorts[namedLink.toNode] else {
            // One end is faulty, which is told already.
            if let joint = namedLink.replaces { replaced.insert(joint) }
            return
        }
        let link = namedLink.link
        let source = from.select(link.from, VG_OUTPUT)
        let target = to.select(link.to, VG_INPUT)
        if source == nil { unknownPort(link.from, from, VG_OUTPUT, namedLink) }
        if target == nil { unknownPort(link.to, to, VG_INPUT, namedLink) }
        guard let source, let target else { return }

        switch (source, target) {
        case (.whole, .whole): joinWhole(namedLink, from, to)
        case (.ports(let kind, let ports), .whole):
            let inputs = to.inputs.ports(kind)
            if inputs.isEmpty {
                mismatch(namedLink, kind, nil, from, to)
            } else {
                pair(namedLink, kind, ports, inputs, from, to)
            }
        case (.whole, .ports(let kind, let ports)):
            let outputs = from.outputs.ports(kind)
            if outputs.isEmpty {
                mismatch(namedLink, nil, kind, from, to)
            } else {
                pair(namedLink, kind, outputs, ports, from, to)
            }
        case (.ports(let kind, let outputs), .ports(let other, let inputs)):
            if kind == other {
                pair(namedLink, kind, outputs, inputs, from, to)
            } else {
                mismatch(namedLink, kind, other, from, to)
            }
        case (_, .parameter(let parameter)): drive(parameter, namedLink, source, from, to)
        case (.parameter, _): return  // outputs are never parameters
        }
    }

    private mutating func joinWhole(_ namedLink: NamedLink, _ from: NodePorts, _ to: NodePorts) {
        if !from.outputs.main.isEmpty, !to.inputs.main.isEmpty {
            return pair(namedLink, VG_AUDIO_PORT, from.outputs.main, to.inputs.main, from, to)
        }
        let kinds = [VG_MIDI_PORT, VG_MESSAGE_PORT, VG_CONTROL_PORT].filter {
            !from.outputs.ports($0).isEmpty && !to.inputs.ports($0).isEmpty
        }
        if kinds.count == 1 {
            return pair(namedLink, kinds[0], from.outputs.ports(kinds[0]), to.inputs.ports(kinds[0]), from, to)
        }
        guard !kinds.isEmpty else { return mismatch(namedLink, nil, nil, from, to) }
        fail(
            namedLink,
            "'\(namedLink.link.from)' and '\(namedLink.link.to)' can be linked in more than one way: "
                + kinds.map(kindName).joined(separator: ", "), at: namedLink.link.location,
            hint: example(namedLink, kinds[0], from, to))
    }

    private mutating func pair(
        _ namedLink: NamedLink, _ kind: vg_port_kind, _ outputs: [Int], _ inputs: [Int], _ from: NodePorts,
        _ to: NodePorts
    ) {
        if kind != VG_AUDIO_PORT, namedLink.link.gainDB != 0 {
            fail(
                namedLink, "gain_db is for audio links, and this one carries \(kindName(kind))",
                at: namedLink.link.location,
                hint: "take gain_db away")
        }
        if outputs.count == inputs.count {
            for (output, input) in zip(outputs, inputs) { add(namedLink, kind, output, .port(input)) }
        } else if kind == VG_AUDIO_PORT, outputs.count == 1 {
            for input in inputs { add(namedLink, kind, outputs[0], .port(input)) }
        } else if kind == VG_AUDIO_PORT, inputs.count == 1 {
            warnOfSum(namedLink, outputs, inputs[0], to)
            for output in outputs { add(namedLink, kind, output, .port(inputs[0])) }
        } else {
            fail(
                namedLink,
                "'\(namedLink.link.from)' has \(from.count(outputs, kind)), '\(namedLink.link.to)' has \(to.count(inputs, kind))",
                at: namedLink.link.location,
                hint: "name the ports, for example \"\(name(from, outputs[0])) -> \(name(to, inputs[0]))\"")
        }
    }

    /// Several channels in one are as loud as all of them, which few mean: one who gives the link a gain does. Side chains,
    /// and nodes that only listen, are heard by nobody.
    private mutating func warnOfSum(_ namedLink: NamedLink, _ outputs: [Int], _ input: Int, _ to: NodePorts) {
        let link = namedLink.link
        let onlyListens = to.outputs.main.isEmpty && !to.outputs.symbols.isEmpty
        guard !namedLink.isSpliced, link.gainDB == 0, to.instance.ports[input].bus == nil, !onlyListens else { return }
        let decibels = Int((20 * log10(Double(outputs.count))).rounded())
        let lower = "{ from = \"\(link.from)\", to = \"\(link.to)\", gain_db = -\(decibels) } in place of the link"
        let hasChannels = to.instance.declarations.settings.contains { $0.key == "channels" }
        report.warning(
            "\(outputs.count) channels of '\(link.from)' are added into 1 of '\(link.to)', up to \(decibels) dB louder",
            at: link.location,
            hint: (hasChannels ? "give [node.\(link.to.node)] channels = \(outputs.count), or write " : "write ")
                + lower
                + " for their mean")
    }

    private mutating func drive(
        _ parameter: Int, _ namedLink: NamedLink, _ source: NodePorts.Selection, _ from: NodePorts, _ to: NodePorts
    ) {
        let outputs: [Int]
        switch source {
        case .ports(VG_CONTROL_PORT, let ports): outputs = ports
        case .whole: outputs = from.outputs.ports(VG_CONTROL_PORT)
        default: outputs = []
        }
        if outputs.count == 1 { return add(namedLink, VG_CONTROL_PORT, outputs[0], .parameter(parameter)) }
        let some = outputs.isEmpty
        fail(
            namedLink,
            "only one control output can drive the parameter '\(namedLink.link.to)', and '\(namedLink.link.from)' "
                + (some ? "is none" : "has \(from.count(outputs, VG_CONTROL_PORT))"), at: namedLink.link.from.location,
            hint: some
                ? "'\(namedLink.link.from.node)' has \(from.summary(VG_OUTPUT))"
                : "say which, for example \(name(from, outputs[0]))")
    }

    private mutating func add(
        _ namedLink: NamedLink, _ kind: vg_port_kind, _ output: Int, _ target: ResolvedGraph.Target
    ) {
        if let joint = namedLink.replaces { replaced.insert(joint) }
        let from = position[namedLink.fromNode]
        let to = position[namedLink.toNode]
        // Two links are the same whatever their gain and place.
        let key = ResolvedGraph.Link(fromNode: from, fromPort: output, toNode: to, target: target, kind: kind)
        if let first = joined[key] {
            guard !namedLink.isSpliced else { return }
            let line = links[first].location.line
            report.warning(
                "'\(namedLink.link.from) -> \(namedLink.link.to)' links what is linked already; this one is ignored",
                at: namedLink.link.location, hint: line > 0 ? "the first one is in line \(line)" : "")
            return
        }
        joined[key] = links.count
        var link = key
        link.gain = namedLink.link.gainDB == 0 ? 1 : Float(pow(10, namedLink.link.gainDB / 20))
        link.location = namedLink.link.location
        links.append(link)
        spliced.append(namedLink.isSpliced)
    }

    // MARK: what can be wrong

    private mutating func fail(_ namedLink: NamedLink, _ message: String, at location: SourceLocation, hint: String) {
        if !namedLink.isSpliced { report.error(message, at: location, hint: hint) }
    }

    private mutating func unknownPort(
        _ end: Endpoint, _ node: NodePorts, _ direction: vg_direction, _ namedLink: NamedLink
    ) {
        let port = end.port ?? ""
        let other = direction == VG_INPUT ? VG_OUTPUT : VG_INPUT
        if let kind = node.side(other).symbols[port] ?? node.side(other).buses[port]?.first {
            let text = kindName(node.instance.ports[kind].kind)
            return direction == VG_INPUT
                ? fail(
                    namedLink, "'\(end)' is an output (\(text)); a link ends in an input", at: end.location,
                    hint: listing(node.names(direction)))
                : fail(
                    namedLink, "'\(end)' is an input (\(text)); a link starts at an output", at: end.location,
                    hint: listing(node.names(direction)))
        }
        let names = node.names(direction)
        let word = direction == VG_INPUT ? "input" : "output"
        fail(
            namedLink, "node '\(end.node)' has no \(word) '\(shortened(port))'", at: end.portLocation,
            hint: report.suggester.hint(
                port, among: names, otherwise: names.isEmpty ? "it has no \(word)s" : listing(names)))
    }

    private mutating func mismatch(
        _ namedLink: NamedLink, _ kind: vg_port_kind?, _ other: vg_port_kind?, _ from: NodePorts, _ to: NodePorts
    ) {
        let (source, target) = (namedLink.link.from, namedLink.link.to)
        if kind == nil, from.names(VG_OUTPUT).isEmpty {
            return fail(
                namedLink, "node '\(source.node)' has no outputs", at: source.nodeLocation,
                hint: "a link starts at an output")
        }
        if other == nil, to.inputs.symbols.isEmpty {
            return fail(
                namedLink, "node '\(target.node)' has no inputs", at: target.nodeLocation,
                hint: "a link ends in an input")
        }
        let left = kind.map { "is \(kindName($0))" } ?? "has \(from.summary(VG_OUTPUT))"
        let right = other.map { "is \(kindName($0))" } ?? "has \(to.summary(VG_INPUT))"
        var hint = "a link joins ports of one kind"
        if kind == VG_CONTROL_PORT || (kind == nil && !from.outputs.ports(VG_CONTROL_PORT).isEmpty),
            let parameter = to.instance.parameters.first
        {
            hint = "to drive a parameter, name it, for example \(target.node).\(parameter.key)"
        }
        fail(
            namedLink, "cannot link '\(source)' to '\(target)': '\(source)' \(left), '\(target)' \(right)",
            at: namedLink.link.location, hint: hint)
    }

    private func name(_ nodePorts: NodePorts, _ port: Int) -> String {
        "\(nodePorts.instance.name).\(nodePorts.instance.ports[port].symbol)"
    }

    private func example(_ namedLink: NamedLink, _ kind: vg_port_kind, _ from: NodePorts, _ to: NodePorts) -> String {
        "name the ports, for example "
            + "\"\(name(from, from.outputs.ports(kind)[0])) -> \(name(to, to.inputs.ports(kind)[0]))\""
    }
}

// MARK: - the graph as a whole

extension LinkResolver {
    /// Tells of every node that cannot be made: a warning if the rest plays on without it, else an error.
    private mutating func judgeAbsences(_ named: [NamedLink]) {
        for (node, made) in made.enumerated() {
            guard case .leftOut(let absent?) = made else { continue }
            guard let loss = loss(without: node, named) else {
                absent.warn(&report)
                continue
            }
            // Without a gate the rest would be open: then that is no way out.
            var isControl = false
            switch nodePorts[loss.toNode]?.select(loss.link.to, VG_INPUT) {
            case .parameter?, .ports(VG_CONTROL_PORT, _)?: isControl = true
            default: break
            }
            absent.fail(neededBy: loss.link, isControl: isControl, &report)
        }
    }

    /// A link that leads nowhere, or comes from nowhere, without a node that was left out; nil: others stand for them all.
    private func loss(without node: Int, _ named: [NamedLink]) -> NamedLink? {
        let outgoing = named.filter { $0.fromNode == node && $0.toNode != node }
        let incoming = named.filter { $0.toNode == node && $0.fromNode != node }
        // It is a source, or a sink.
        if incoming.isEmpty || outgoing.isEmpty { return outgoing.first ?? incoming.first }
        return outgoing.first { nodePorts[$0.toNode] != nil && !replaced.contains($0.joint) }
    }

    /// Reports cycles; those that only exist because a node was left out are cut silently.
    private mutating func withoutCycles(_ graph: ResolvedGraph) -> [ResolvedGraph.Link] {
        var kept = links
        var cycles = findLoops(nodes: graph.nodes.map(\.instance), links: kept)
        if !cycles.isEmpty, spliced.contains(true) {
            kept = zip(links, spliced).filter { link, isSpliced in
                !isSpliced || !cycles.contains { $0.nodes.contains(link.fromNode) && $0.nodes.contains(link.toNode) }
            }.map(\.0)
            cycles = findLoops(nodes: graph.nodes.map(\.instance), links: kept)
        }
        for cycle in cycles {
            let names = cycle.path.map { graph.nodes[$0].instance.name }
            let shown = names.count <= 12 ? names : names.prefix(6) + ["..."] + names.suffix(5)
            report.error(
                names.count == 1
                    ? "'\(names[0])' is linked to itself"
                    : "a cycle: \((shown + [names[0]]).joined(separator: " -> "))",
                at: cycle.location, hint: "put a `delay` node into it: it breaks the cycle by at least one block")
        }
        return kept
    }

    /// Links as they could be written of the nodes that there are; nil: of these none can be linked.
    private var anyLink: String? {
        let ports = nodePorts.compactMap(\.self)
        let from = ports.first { !$0.outputs.symbols.isEmpty && $0.inputs.symbols.isEmpty }
        let to = ports.first { !$0.inputs.symbols.isEmpty && $0.outputs.symbols.isEmpty }
        // A node with both comes last.
        guard let from = from ?? ports.first(where: { !$0.outputs.symbols.isEmpty && $0.instance !== to?.instance }),
            let to = to ?? ports.first(where: { !$0.inputs.symbols.isEmpty && $0.instance !== from.instance })
        else { return nil }
        return "links = [\"\(from.instance.name) -> \(to.instance.name)\"]"
    }

    private mutating func warnOfLooseNodes(_ namedLinks: [NamedLink]) {
        guard !lacksLinks else { return }
        if description.links.isEmpty, nodePorts.count > 1, nodePorts.allSatisfy({ $0 != nil }) {
            return report.warning(
                "nothing is linked: the graph has no links", at: description.location,
                hint: anyLink.map { "add [graph] with \($0)" } ?? "")
        }
        var isSource = [Bool](repeating: false, count: description.nodes.count)
        var isTarget = isSource
        // Links that could not be joined count too: their own message is enough. So do links with nodes that are left
        // out or faulty.
        for namedLink in namedLinks {
            isSource[namedLink.fromNode] = true
            isTarget[namedLink.toNode] = true
        }
        for (index, nodePorts) in nodePorts.enumerated() {
            guard let nodePorts, !nodePorts.instance.ports.isEmpty else { continue }
            let node = description.nodes[index]
            if !isSource[index], !isTarget[index] {
                report.warning(
                    node.isUnlinkedText, at: node.location,
                    hint: "link it, or take it out of the file")
            } else if !isTarget[index], !nodePorts.inputs.main.isEmpty, !nodePorts.outputs.main.isEmpty {
                report.warning(
                    "nothing goes into '\(node.name)', so nothing comes out of it", at: node.location,
                    hint: "link something to it")
            }
        }
    }
}

extension NodeDescription {
    /// What is said of a node without links.
    public var isUnlinkedText: String { "node '\(name)' is not linked to anything" }
}
