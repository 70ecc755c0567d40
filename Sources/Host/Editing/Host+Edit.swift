// SPDX-License-Identifier: Apache-2.0
import Config
import Graph
import GraphFile
import NodeKit
import Realtime

/// A graph that changes while it plays: no call interrupts the audio or clicks. Changes are made one after the other, in
/// the order of the calls; each call returns when its change is heard. What cannot be done throws, and changes nothing.
extension Host {
    /// Reads the graph's file again, or another one in its place, with the overrides it was loaded with. Nodes of which
    /// only parameters differ go on with what they hold; what was changed by other calls becomes again what the file
    /// says. Throws `InvalidGraph` with all that is wrong with the file.
    @discardableResult
    public func reload(_ path: String? = nil) async throws -> GraphDifference {
        do {
            return try await Author.$current.withValue(Author.file) { try await read(path) }
        } catch {
            running?.tellFailure(error)
            throw error
        }
    }

    private func read(_ path: String?) async throws -> GraphDifference {
        guard let source else { throw Fault("no graph is playing", hint: "load and run one") }
        let path = path ?? source.path
        let overrides = source.overrides
        let difference = try await edit("reload", resetting: true) { description in
            let (read, diagnostics) = ConfigFile.load(path: path, overrides: overrides, onlyFiles: true)
            guard var read, !diagnostics.contains(where: { $0.severity == .error }) else {
                throw InvalidGraph(diagnostics: diagnostics)
            }
            // The name is the JACK client's, which stays.
            read.name = description.name
            description = read
        }
        self.source?.path = path
        return difference
    }

    /// Adds a node, unlinked, or into a link, written as in a file: what flows there then goes through the node. The gain
    /// of the link stays before it.
    @discardableResult
    public func add(_ node: NodeDescription, into link: String? = nil) async throws -> GraphDifference {
        let fading = fading
        let links = try link.map(Self.links) ?? []
        return try await edit("add \(node.name)" + (link.map { " into \($0)" } ?? "")) { description in
            // One that only sounds on makes room.
            if fading.contains(node.name) {
                description.nodes.removeAll { $0.name == node.name }
                description.links.removeAll { $0.from.node == node.name }
            }
            if description.nodes.contains(where: { $0.name == node.name }) {
                throw Fault("there is a node '\(node.name)' already", hint: "choose another name, or remove it first")
            }
            description.nodes.append(node)
            for link in links {
                let index = try description.index(of: link)
                let end = description.links[index].to
                description.links[index].to = Endpoint(node.name)
                description.links.insert(LinkDescription(from: Endpoint(node.name), to: end), at: index + 1)
            }
        }
    }

    /// Removes a node and its links. With `tail = "spill"` it sounds on, until nothing is heard of it any more.
    @discardableResult
    public func remove(_ node: String) async throws -> GraphDifference {
        try await edit("remove \(node)") { description in
            let index = try description.index(of: node)
            description.nodes.remove(at: index)
            description.links.removeAll { $0.from.node == node || $0.to.node == node }
        }
    }

    /// Adds links, written as in a file: "a -> b.in_2 -> c". Those that there are get the gain, if one is given.
    @discardableResult
    public func link(_ text: String, gainDB: Double? = nil) async throws -> GraphDifference {
        let links = try Self.links(text)
        var told = LinkDescription()
        if let gainDB, let fault = LinkDescription.gain.read(&told, Entry(.number(gainDB))) { throw fault }
        let gain = told.gainDB
        return try await edit("link \(text)") { description in
            for var link in links {
                link.gainDB = gain
                guard let index = description.links.firstIndex(where: { $0.joins(link) }) else {
                    description.links.append(link)
                    continue
                }
                guard gainDB != nil, description.links[index].gainDB != gain else {
                    throw Fault(
                        "\(link.from) -> \(link.to) is linked already", hint: "give it another gain, or unlink it first"
                    )
                }
                description.links[index].gainDB = gain
            }
        }
    }

    /// Removes links, written as in the file.
    @discardableResult
    public func unlink(_ text: String) async throws -> GraphDifference {
        let links = try Self.links(text)
        return try await edit("unlink \(text)") { description in
            for link in links { description.links.remove(at: try description.index(of: link)) }
        }
    }

    /// Lets what goes into a node through in place of what comes out, or the node again. It runs meanwhile.
    @discardableResult
    public func bypass(_ node: String, _ bypassed: Bool = true) async throws -> GraphDifference {
        if let fault = try graph().instance(node).bypassFault {
            throw Fault("'\(node)' cannot be bypassed: \(fault)", hint: "mute it instead")
        }
        return try await edit("\(bypassed ? "bypass" : "unbypass") \(node)") { description in
            let index = try description.index(of: node)
            description.nodes[index].bypass = bypassed
        }
    }

    /// Silences a node, or lets it be heard again. It runs meanwhile.
    @discardableResult
    public func mute(_ node: String, _ muted: Bool = true) async throws -> GraphDifference {
        // A node of type `mute` has a switch of its own.
        if let index = try graph().instance(node).parameterIndex("muted"), index >= 0 {
            try set(node, "muted", to: muted ? 1 : 0)
            return GraphDifference(switched: [node: muted ? .muted : .unmuted])
        }
        return try await edit("\(muted ? "mute" : "unmute") \(node)") { description in
            let index = try description.index(of: node)
            description.nodes[index].mute = muted
        }
    }

    /// What a parameter was last set to; one that follows a control may be elsewhere.
    public func value(_ node: String, _ parameter: String) throws(Fault) -> Float {
        try graph().value(node, parameter)
    }

    private static func links(_ text: String) throws(Fault) -> [LinkDescription] {
        let (links, diagnostics) = LinkDescription.parse(text)
        if let fault = diagnostics.first { throw Fault("\(text): \(fault.message)", hint: fault.hint) }
        return links
    }

    /// Changes the description and the graph with it; it can be taken back by its title, if it has one. `resetting`:
    /// parameters become what the description says, and what nodes refuse of it is a warning.
    func edit(
        _ title: String?, resetting: Bool = false, _ change: @escaping @Sendable (inout GraphDescription) throws -> Void
    ) async throws -> GraphDifference {
        let asked = vg_ticks()
        let (edited, number) = try await afterOthers { try await self.perform(title, resetting, asked, change) }
        // Nodes may take their time to say whether they take a setting: other edits are made, and taken back, meanwhile.
        do {
            let difference = try await settle(edited, warns: resetting)
            if difference.isEmpty { history.forget(number) }
            return difference
        } catch {
            history.forget(number)
            throw error
        }
    }

    /// Performs a change; the second result is its number in the history.
    private func perform(
        _ title: String?, _ resetting: Bool, _ asked: UInt64,
        _ change: @Sendable (inout GraphDescription) throws -> Void
    ) async throws -> (Edited, Int) {
        let edited = try await perform(resetting, asked, change)
        guard let title, !edited.difference.isEmpty else { return (edited, 0) }
        return (edited, history.add(EditHistory.Step(title: title, before: edited.back, values: edited.turned)))
    }

    /// Does something after the edits that were asked for before.
    func afterOthers<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let before = lastChange
        waitingEdits.withLock { $0 += 1 }
        let task = Task { [waitingEdits] () throws -> Result in
            await before?.value
            waitingEdits.withLock { $0 -= 1 }
            return try await body()
        }
        lastChange = Task { _ = await task.result }
        return try await task.value
    }

    /// Changes the graph; it is heard when this returns. Only what runs `afterOthers` may.
    func perform(
        _ resetting: Bool, _ asked: UInt64, _ change: @Sendable (inout GraphDescription) throws -> Void
    ) async throws -> Edited {
        let graph = try graph()
        await graph.settled()
        let old = graph.description
        var wanted = old
        try change(&wanted)
        if wanted.hasVariables { wanted.readVariables(registry.catalog(for: wanted)) }
        let tails = wanted.keepTails(of: old)
        let live = graph.liveDescription()
        let registry = registry
        let description = wanted
        // On a thread of its own: a node may take its time to be made, but not for ever.
        let making = NodesInMaking(description)
        let (built, next) = try await making.wait(
            patience, isAwaited: { [waitingEdits] in waitingEdits.withLock { $0 > 0 } }
        ) {
            () throws -> (BuildResult, NextGraph) in
            let built = PreparedGraph.build(
                description, registry: registry, playing: graph.playing, context: graph.context, making: making)
            guard !making.isGivenUp else { throw Fault("nobody waits for the change any more") }
            guard let resolved = built.graph else {
                // An edit is not asked what else the graph says.
                throw InvalidGraph(diagnostics: built.diagnostics.filter { resetting || $0.severity == .error })
            }
            let next = NextGraph(
                description: description, graph: resolved, degraded: built.degraded,
                values: resetting ? built.values : [], settings: built.settings)
            try graph.prepareNew(next, making)
            return (built, next)
        }
        // An alignment to a new latency may be under way again.
        await graph.settled()
        guard graph === (try self.graph()) else { throw Fault("the graph was stopped") }
        var difference = GraphDifference(graph.nodes, old, next)
        let faded = fading
        let turned = next.turned
        // The server may take its time to give ports.
        let (patience, author) = (patience.awaited, Author.current)
        try await onControlThread { try graph.change(to: next, patience: patience, by: author) }
        let answers = graph.apply(next.settings)
        // A name that is another node's by now, or that of a node that is wanted again.
        fading.subtract(difference.added)
        fading.subtract(description.links.map(\.to.node))
        await graph.settled()
        difference.warnings = built.diagnostics.filter { fault in
            // A new node has no links yet, and one that had none has none.
            resetting || !wanted.nodes.contains { $0.isUnlinkedText == fault.message && !old.hasLinks($0.name) }
        }
        for table in old.tables.differing(from: description.tables) {
            difference.warnings.append(
                Diagnostic(
                    .warning, "[\(table)] has changed, which counts from the next run on", at: description.location))
        }
        return Edited(
            graph: graph, before: old, after: description,
            back: Self.described(old, ended: difference.removed, as: live, without: faded), turned: turned,
            difference: conclude(difference, graph, asked, tails, isTold: answers.isEmpty), answers: answers)
    }

    private func conclude(
        _ difference: GraphDifference, _ graph: RunningGraph, _ asked: UInt64, _ tails: [String], isTold: Bool
    ) -> GraphDifference {
        var difference = difference
        let times = ChangeTimes(
            firstBlock: graph.firstBlock.map { graph.clock.seconds($0 &- asked) },
            done: graph.clock.seconds(vg_ticks() &- asked))
        difference.times = times
        graph.state.withLock { $0.lastChange = times }
        if isTold { graph.tell(difference) }
        for name in tails { fadeAway(name, graph) }
        return difference
    }

    /// Removes a node that nothing goes into any more, when nothing is heard of it any more.
    private func fadeAway(_ name: String, _ graph: RunningGraph) {
        guard let instance = try? graph.instance(name) else { return }
        fading.insert(name)
        Task { [weak self] in
            let clock = ContinuousClock()
            let end = clock.now + .seconds(Self.longestTail)
            var quiet = 0
            let listener = instance.listen()
            while clock.now < end, quiet < Self.quietLooks, !graph.isStopped {
                try? await Task.sleep(for: .milliseconds(50))
                // Nodes that nobody can listen to have no tail of their own.
                quiet = (listener.take() ?? 0) < Self.inaudible ? quiet + 1 : 0
            }
            if graph.playing[name]?.instance === instance { await self?.faded(name) }
            _ = try? await self?.edit(nil) { description in
                // It may have been wanted again, or made anew.
                guard graph.playing[name]?.instance === instance,
                    !description.links.contains(where: { $0.to.node == name })
                else { return }
                description.nodes.removeAll { $0.name == name }
                description.links.removeAll { $0.from.node == name }
            }
        }
    }

    private func faded(_ name: String) { fading.remove(name) }

    /// A tail is cut after so many seconds; it is over when it was below -90 dBFS for four looks, a fifth of a second.
    private static let longestTail = 60.0
    private static let inaudible: Float = 3.2e-5
    private static let quietLooks = 4
}

/// Runs `body` on a thread that may be blocked.
private func onControlThread<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        ControlThreads.shared.submit { continuation.resume(with: Swift.Result(catching: body)) }
    }
}
