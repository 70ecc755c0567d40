// SPDX-License-Identifier: Apache-2.0
import Drivers
import Glibc
import Graph
import GraphFile
import NodeKit
import Synchronization
import System

/// A change of a running graph that is under way: the schedules that are still to come.
struct GraphChange: Sendable {
    /// Next first; the last is the new graph itself.
    var schedules: ArraySlice<Schedule>
}

/// A graph that was built to follow one that plays.
struct NextGraph: Sendable {
    var description: GraphDescription
    var graph: ResolvedGraph
    var degraded: [String: String]
    /// What parameters of nodes that stay should be.
    var values: [ParameterValue]
    /// What their live settings are to become.
    var settings: [SettingChange] = []

    /// What the parameters that will be turned are set to before that.
    var turned: [EditHistory.Place: Float] {
        let changed = values.filter { $0.instance.value($0.index) != $0.value }
        return Dictionary(
            changed.map { wanted in
                let key = wanted.instance.parameters[wanted.index].key
                return (EditHistory.Place(node: wanted.instance.name, key: key), wanted.instance.value(wanted.index))
            }, uniquingKeysWith: { first, _ in first })
    }
}

/// How a graph changes while it plays. Everything here is called by the owner, who also pumps.
extension RunningGraph {
    /// Whether the audio thread is still on the way to what `change` asked for. [control]
    var isChanging: Bool {
        let isHeard = driver.status.state == .running
        return state.withLock { $0.change != nil || $0.isAwaited && isHeard && !$0.stopped }
    }

    /// When the first block of the last change began, by the counter of `vg_ticks`; nil: none did. [control]
    var firstBlock: UInt64? { state.withLock(\.firstBlock) }

    /// Whether it plays no more. [control]
    var isStopped: Bool { state.withLock(\.stopped) }

    /// The nodes that may go on in a next graph, by name. [control]
    var playing: [String: ResolvedGraph.Node] {
        Dictionary(
            state.withLock { $0.graph.nodes }.map { ($0.instance.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Prepares what `next` has and this graph has not; it may take its time, the graph plays on. [control]
    func prepareNew(_ next: NextGraph, _ making: NodesInMaking? = nil) throws(Fault) {
        let (rate, block) = state.withLock { $0.prepared }
        let known = Set(nodes.map(ObjectIdentifier.init))
        for node in next.graph.nodes where !known.contains(ObjectIdentifier(node.instance)) {
            making?.begins(node.instance.name)
            try prepare(node, rate: rate, block: block)
            guard making?.isGivenUp != true else { throw Fault("nobody waits for the change any more") }
        }
    }

    /// Begins to become `next`; `pump` goes on with it until `isChanging` is false. What cannot be played, or needs a
    /// server that does not answer, is refused, and nothing changes; so is a node that does not begin within `patience` seconds.
    /// `author` turns the parameters. [control]
    func change(
        to next: NextGraph, patience: Double = 30, by author: String = Author.current
    ) throws(Fault) {
        let before = state.withLock { ($0.graph, $0.prepared) }
        // What several threads share is divided by what it takes, which is known better each time.
        let isShared = next.description.threads.limit > 1 || description.threads.limit > 1
        let goesOn = !isShared && next.graph.isPlayed(as: before.0)
        let stays = Set(next.graph.nodes.map { ObjectIdentifier($0.instance) })
        let gone = before.0.nodes.filter { !stays.contains(ObjectIdentifier($0.instance)) }
        let wanted = try portsWanted(by: next.graph, and: gone)
        if !wanted.isEmpty { try ports.register(wanted) }
        try publishing.locked { () throws(Fault) in
            guard !isStopped else { throw Fault("the graph was stopped") }
            // The driver asked for another format meanwhile: what is new is prepared for that.
            if state.withLock({ $0.prepared }) != before.1 { try prepareNew(next) }
            context.keep(next.description)
            let known = Set(before.0.nodes.map { ObjectIdentifier($0.instance) })
            for node in next.graph.nodes where !known.contains(ObjectIdentifier(node.instance)) {
                try activate(node.instance, within: patience)
            }
            if goesOn {
                state.withLock { $0.firstBlock = nil }
            } else {
                try begin(next.graph, next.description.threads)
            }
            state.withLock { state in
                state.graph = next.graph
                state.nodes = next.graph.nodes.map(\.instance)
                state.description = next.description
                state.leaving += gone.map(\.instance)
            }
            router.connect(next.graph)
            context.calls.connect(next.graph)
        }
        let names = Set(next.graph.nodes.map(\.instance.name))
        for node in before.0.nodes where !names.contains(node.instance.name) { reports.forget(node.instance.name) }
        forgetTurned(gone.map(\.instance))
        for (name, reason) in next.degraded { reports.set(name, .failed(reason)) }
        ports.setHelpers(engine.threads - 1)
        let turned = next.turned
        turn(next.values, by: author)
        if goesOn, !turned.isEmpty { awaitBlock() }
    }

    /// From now on the graph changes until the audio thread has what was turned until now: a block that runs may not have.
    private func awaitBlock() {
        engine.awaitCycle()
        // Its times may not be taken.
        let patience = 4 * (engine.schedule?.maxBlock ?? 0)
        state.withLock { $0.awaitedFrame = engine.counters.position &+ UInt64(patience) }
        pumping.wake()
    }

    /// Lets a new node begin, on a thread that is lost if it never comes back.
    private func activate(_ node: NodeInstance, within seconds: Double) throws(Fault) {
        // Of an offline run all is done on one thread.
        if isDriven { return activate(node) }
        let isDone = Lock(false)
        ControlThreads.shared.submit { [self] in
            activate(node)
            isDone.withLock { $0 = true }
            isDone.signal()
        }
        guard isDone.wait(until: monotonicSeconds() + seconds, { $0 ? true : nil }) == true else {
            throw NodesInMaking.late("node '\(node.name)'", seconds)
        }
    }

    /// All ports of the driver that are needed until a change is done; empty if those that there are will do.
    private func portsWanted(by graph: ResolvedGraph, and gone: [ResolvedGraph.Node]) throws(Fault) -> [ExternalPort] {
        let wanted = graph.externals
        var ports = wanted
        let names = Set(wanted.map(\.name))
        for port in gone.flatMap(\.externals) {
            if !names.contains(port.name) { ports.append(port) }
            if wanted.contains(where: { $0.name == port.name && !$0.isLike(port) }) {
                throw Fault(
                    "'\(port.node)' cannot become something else while it plays",
                    hint: "remove it first, or give the new node another name")
            }
        }
        let known = engine.schedule?.externals ?? []
        guard ports.contains(where: { !known.contains($0) }) else { return [] }
        // On a busy machine a server misses a few cycles now and then, which is no reason to refuse.
        let deadline = monotonicSeconds() + Self.patience
        while driver.status.state == .stalled, monotonicSeconds() < deadline { usleep(10_000) }
        guard [.running, .stopped].contains(driver.status.state) else {
            throw Fault("the JACK server does not answer, so ports cannot change", hint: "try again when it is back")
        }
        return ports
    }

    /// Compiles the way to `graph` and publishes its first schedule.
    private func begin(_ graph: ResolvedGraph, _ threads: Threads) throws(Fault) {
        guard let current = engine.schedule else { return }
        let transition: Transition
        do { transition = try Transition(from: current, to: graph) } catch {
            throw Fault("the graph cannot be compiled: \(error)")
        }
        var schedules: [Schedule] = []
        for stage in transition.stages + [graph] {
            schedules.append(
                try compile(
                    stage, rate: current.rate, block: current.maxBlock, threads: threads,
                    after: schedules.last ?? current))
        }
        publish(schedules[0])
        let left = schedules.dropFirst()
        state.withLock {
            $0.change = left.isEmpty ? nil : GraphChange(schedules: left)
            $0.awaited = schedules[0].number
            $0.firstBlock = nil
        }
        pumping.wake()
    }

    /// Goes on with a change, when the fades of the schedule that plays have ended; lets go of nodes that the audio
    /// thread does not need any more.
    func advance() {
        // Without cycles no fade ends, and nobody hears one.
        let isHeard = driver.status.state == .running
        state.withLock { state in
            if let last = state.awaitedFrame {
                let start = engine.awaitedCycle
                if start != nil || time.position.load(ordering: .relaxed) > last {
                    (state.awaitedFrame, state.firstBlock) = (nil, start)
                }
            }
            guard let awaited = state.awaited, let time = engine.adoption(of: awaited) else { return }
            state.awaited = nil
            state.firstBlock = time
        }
        // Whoever holds it publishes a schedule, and may be waiting for a node.
        if publishing.tryAcquire() {
            defer { publishing.release() }
            if let next = state.withLock({ $0.change?.schedules.first }), engine.schedule?.isSettled == true || !isHeard
            {
                publish(next)
                state.withLock { state in
                    state.change?.schedules.removeFirst()
                    if state.change?.schedules.isEmpty == true { state.change = nil }
                }
            }
            followLatency(isHeard)
        }
        release(isHeard)
        tellLatencies()
    }

    /// Tells the driver of latencies that are not what they were.
    private func tellLatencies() {
        guard let schedule = engine.schedule, schedule.isSettled, state.withLock({ $0.change == nil }),
            ports.isNews(schedule)
        else { return }
        context.pathLatencies.withLock { $0 = schedule.outputLatencies }
        ports.tellLatencies(of: schedule)
    }

    /// Paths that are longer or shorter than they were are aligned anew.
    private func followLatency(_ isHeard: Bool) {
        let next = state.withLock { state -> (ResolvedGraph, Threads)? in
            guard state.latencyChanged, state.change == nil, isHeard else { return nil }
            state.latencyChanged = false
            return (state.graph, state.description.threads)
        }
        guard let (graph, threads) = next else { return }
        do { try begin(graph, threads) } catch {
            tell(HostEvent.failed, ["reason": .string(error.message)])
        }
    }

    private func release(_ isHeard: Bool) {
        let leaving = state.withLock { state -> [NodeInstance] in
            guard isHeard, !state.leaving.isEmpty, state.change == nil, engine.liveSchedules == 1 else { return [] }
            defer { state.leaving = [] }
            return state.leaving
        }
        guard !leaving.isEmpty else { return }
        // What they hold is finished, and told, on threads that may take their time.
        for node in leaving {
            let end: @Sendable () -> Void = {
                node.finish()
                node.deactivate()
            }
            if isDriven { end() } else { ControlThreads.shared.submit(end) }
        }
        ports.retire(leaving, but: Set(state.withLock(\.graph).externals.map(\.name)))
    }
}
