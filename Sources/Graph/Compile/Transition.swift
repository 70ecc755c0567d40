// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// How a running graph becomes another one without a click: the graphs that are played in between.
///
/// Normally that is one graph that is both at once. Nodes that both have run once; links that only one has fall or
/// rise; a link whose waiting time changes counts as two. Inputs of new nodes rise first, and what they give only when
/// it has had the time to arrive. Controls and events, which cannot be faded, go over at the start.
///
/// Where both cannot run at once (together they would be a cycle, or want the same port of the driver), the old graph
/// falls silent where it changes, then the new one rises.
public struct Transition: Sendable {
    /// What is played one after the other, before the new graph; empty: the new graph can follow at once.
    public var stages: [ResolvedGraph]

    /// Finds the way from what `schedule` plays to `graph`, whose nodes are prepared. [control]
    public init(from schedule: Schedule, to graph: ResolvedGraph) throws(CompileError) {
        let plan = try Compiler.plan(graph, verifying: false)
        let old = Steady(schedule.graph, waits: schedule.waits)
        let new = Steady(graph, waits: plan.waits, arrival: plan.arrival)
        stages = []
        if let both = Self.together(old, new, schedule) {
            if both.fades == nil { return }
            if (try? order(both)) != nil {
                stages = [both]
                return
            }
        }
        stages = [Self.leaving(old, new), Self.entered(old, new, schedule)].filter { $0.fades != nil }
    }

    /// A graph in which nothing fades.
    private struct Steady {
        var graph: ResolvedGraph
        /// Which of its nodes is this one.
        var index: [ObjectIdentifier: Int]
        /// How often it has each link.
        var links: [NamedLink: Int] = [:]
        var arrival: [Int]

        init(_ steady: ResolvedGraph, waits: [Int], arrival: [Int] = []) {
            graph = steady
            self.arrival = arrival
            index = Dictionary(
                graph.nodes.enumerated().map { (ObjectIdentifier($1.instance), $0) }, uniquingKeysWith: { a, _ in a })
            for place in graph.links.indices where graph.links[place].portKind == VG_AUDIO_PORT {
                graph.links[place].wait = waits[place]
                links[NamedLink(graph.links[place], graph), default: 0] += 1
            }
        }

        func has(_ node: ResolvedGraph.Node) -> Bool { index[ObjectIdentifier(node.instance)] != nil }
    }

    /// A link by what it joins, whichever graph it is in.
    private struct NamedLink: Hashable {
        var from: ObjectIdentifier
        var to: ObjectIdentifier
        var port: Int
        var target: ResolvedGraph.Target
        var gain: Float
        var wait: Int?

        init(_ link: ResolvedGraph.Link, _ graph: ResolvedGraph) {
            from = ObjectIdentifier(graph.nodes[link.fromNode].instance)
            to = ObjectIdentifier(graph.nodes[link.toNode].instance)
            (port, target, gain, wait) = (link.fromPort, link.target, link.gain, link.wait)
        }
    }

    /// Both graphs at once; nil where two nodes want the same port of the driver.
    private static func together(_ old: Steady, _ new: Steady, _ schedule: Schedule) -> ResolvedGraph? {
        let removed = old.graph.nodes.filter { !new.has($0) }
        let externals = Set(new.graph.nodes.lazy.filter { $0.instance.isExternal && !old.has($0) }.map(\.instance.name))
        if removed.contains(where: { $0.instance.isExternal && externals.contains($0.instance.name) }) { return nil }

        var result = entered(old, new, schedule)
        var place = new.index
        for node in removed {
            place[ObjectIdentifier(node.instance)] = result.nodes.count
            result.nodes.append(node)
        }
        var left = new.links
        for var link in old.graph.links {
            let (from, to) = (old.graph.nodes[link.fromNode], old.graph.nodes[link.toNode])
            let isAudio = link.portKind == VG_AUDIO_PORT
            // Controls and events of nodes that stay come from the new graph alone.
            if new.has(to), !isAudio { continue }
            if link.portKind == VG_MIDI_PORT, to.instance.isExternal {
                // The receiver at a port that goes away is told that the notes end.
                result.fades = result.fades ?? ResolvedGraph.Fades()
                continue
            }
            if isAudio, let count = left[NamedLink(link, old.graph)], count > 0 {
                left[NamedLink(link, old.graph)] = count - 1
                continue
            }
            // A port of the driver that goes away falls silent first.
            let ends = isAudio && (new.has(to) || to.instance.isExternal)
            link.fade = ends ? .falling : .steady
            if ends { result.fades = result.fades ?? ResolvedGraph.Fades() }
            link.fromNode = place[ObjectIdentifier(from.instance)]!
            link.toNode = place[ObjectIdentifier(to.instance)]!
            result.links.append(link)
        }
        return result
    }

    /// The new graph, where what it has more than the old one rises.
    private static func entered(_ old: Steady, _ new: Steady, _ schedule: Schedule) -> ResolvedGraph {
        var result = new.graph
        var fades = ResolvedGraph.Fades()
        var isMoving = false
        var hasEntering = false
        for index in result.nodes.indices {
            let node = result.nodes[index]
            guard let before = old.index[ObjectIdentifier(node.instance)] else { continue }
            result.nodes[index].previousMode = old.graph.nodes[before].outputMode
            guard result.nodes[index].previousMode != node.outputMode else { continue }
            isMoving = true
            // The signal that stands in for the node comes out of a delay line that is empty at first.
            if node.outputMode == .bypassed { fades.rising = max(fades.rising, node.instance.latency) }
        }
        let fed = Set(result.links.lazy.filter { $0.portKind == VG_AUDIO_PORT }.map(\.toNode))
        var left = old.links
        for index in result.links.indices where result.links[index].portKind == VG_AUDIO_PORT {
            let link = result.links[index]
            let namedLink = NamedLink(link, new.graph)
            if let count = left[namedLink], count > 0 {
                left[namedLink] = count - 1
                continue
            }
            let (from, to) = (result.nodes[link.fromNode], result.nodes[link.toNode])
            let isFilled = old.has(from) && schedule.hasLine(from.instance, link)
            if old.has(to) {
                result.links[index].fade = .rising
                if !isFilled { fades.rising = max(fades.rising, new.arrival[link.toNode]) }
            } else if old.has(from) || !fed.contains(link.fromNode) {
                result.links[index].fade = .entering
                hasEntering = true
                if !isFilled { fades.entering = max(fades.entering, link.wait ?? 0) }
            } else {
                continue
            }
            isMoving = true
        }
        if hasEntering { fades.rising += fades.entering + Int(schedule.rate * Schedule.fadeTime) }
        result.fades = isMoving ? fades : nil
        return result
    }

    /// The old graph, where what the new one has not falls.
    private static func leaving(_ old: Steady, _ new: Steady) -> ResolvedGraph {
        var result = old.graph
        var left = new.links
        for index in result.links.indices where result.links[index].portKind == VG_AUDIO_PORT {
            let link = result.links[index]
            if let count = left[NamedLink(link, old.graph)], count > 0 {
                left[NamedLink(link, old.graph)] = count - 1
                continue
            }
            let to = result.nodes[link.toNode]
            guard new.has(to) || to.instance.isExternal else { continue }
            result.links[index].fade = .falling
            result.fades = ResolvedGraph.Fades()
        }
        let count = result.links.count
        result.links.removeAll { link in
            let to = old.graph.nodes[link.toNode]
            return link.portKind == VG_MIDI_PORT && to.instance.isExternal && !new.has(to)
        }
        if result.links.count < count { result.fades = ResolvedGraph.Fades() }
        return result
    }
}

extension Schedule {
    /// Whether the delay line that a link needs is filled.
    fileprivate func hasLine(_ node: NodeInstance, _ link: ResolvedGraph.Link) -> Bool {
        guard let wait = link.wait, wait > 0 else { return true }
        return lines[
            Plan.Line(
                node: ObjectIdentifier(node), isInput: false, port: node.rank(ofOutput: link.fromPort), frames: wait)]
            != nil
    }
}
