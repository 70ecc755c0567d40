// SPDX-License-Identifier: Apache-2.0
import Drivers
import Graph
import NodeKit
import Realtime
import System

/// The graph cannot run.
public struct HostError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong.
    public var message: String
    /// What to do; may be empty.
    public var hint: String
    /// Describes a failure.
    public init(_ message: String, hint: String = "") {
        self.message = message
        self.hint = hint
    }
    /// Message and hint.
    public var description: String { hint.isEmpty ? message : "\(message) (\(hint))" }
}

/// A checked graph on a driver: prepared, compiled, playing. `pump` does everything that is not audio; whoever owns the
/// graph calls it often, on one thread at a time.
public final class RunningGraph: @unchecked Sendable {
    // Sendable: mutable state is behind `state`; the rest is thread-safe itself.

    /// Where everything is published.
    public let bus: EventBus
    /// Who calls the audio.
    public let driver: any Driver
    /// Its nodes, in the order of the file; while it changes, those it will have.
    public var nodes: [NodeInstance] { state.withLock { $0.nodes } }
    /// What it plays; while it changes, what it will play.
    public var description: GraphDescription { state.withLock { $0.description } }

    let engine = Engine()
    let router: MessageRouter
    let time: GraphTime
    let state: Lock<State>
    let clock = TickClock()
    let dropouts: DropoutWatch
    /// What nodes tell of themselves: that they failed, or that they started again.
    private let failures: Subscription
    /// What the audio thread is given comes from one thread at a time: the owner's, or the driver's, when it asks for a
    /// new format. Nobody calls the driver while holding it, since the driver waits for it.
    let publishing = Lock(())

    struct State {
        var graph: ResolvedGraph
        var nodes: [NodeInstance]
        var description: GraphDescription
        /// What the driver gave for ports, by name.
        var handles: [String: DriverHandle] = [:]
        var change: GraphChange?
        /// The first schedule of the last change, by its number, until its first block.
        var awaited: Int?
        /// When that block began, by the counter; nil: there was none.
        var firstBlock: UInt64?
        var lastChange: ChangeTimes?
        /// What is gone from the graph, but perhaps not from the audio thread yet.
        var leaving: [NodeInstance] = []
        var latencyChanged = false
        /// Threads that help the audio thread, as the driver knows.
        var helpers = 0
        /// The latencies that the driver knows, and whose they are.
        var routes: [LatencyRoute]?
        var toldOf: Int?
        /// Nodes that are silenced because of what they give, with the reason.
        var silenced: [String: String] = [:]
        var degraded: [String: String]
        var load = 0.0
        var lastTicks: UInt64 = 0
        var lastPosition: UInt64 = 0
        var stopped = false
        var refusedTold = 0
        var prepared: (rate: Double, block: Int) = (0, 0)
    }

    /// Prepares the nodes, compiles, and starts the driver. A node that cannot be prepared is bypassed or silent and
    /// told as `node.failed`, unless it is required. [control]
    public static func start(
        _ prepared: PreparedGraph, on driver: any Driver
    ) throws(HostError) -> RunningGraph {
        let running = RunningGraph(prepared, driver)
        do {
            try running.prepare(rate: driver.info.rate, block: driver.info.block, first: true)
            running.followThreads()
            try driver.start(running.engine.audio) { [weak running] in running?.handle($0) }
        } catch let error as HostError {
            driver.stop()
            throw error
        } catch let error as DriverError {
            driver.stop()
            throw HostError(error.message, hint: error.hint)
        } catch {
            driver.stop()
            throw HostError("\(error)")
        }
        return running
    }

    private init(_ prepared: PreparedGraph, _ driver: any Driver) {
        bus = prepared.bus
        router = prepared.router
        time = prepared.time
        self.driver = driver
        dropouts = DropoutWatch(clock)
        failures = bus.subscribe(.bounded(256)) { published in
            guard case .event(let event) = published, event.node != nil, event.name != "node.failed" else {
                return false
            }
            return event.name.hasSuffix(".failed") || event.name.hasSuffix(".started")
        }
        state = Lock(
            State(
                graph: prepared.graph, nodes: prepared.graph.nodes.map(\.instance), description: prepared.description,
                degraded: prepared.degraded))
        router.connect(prepared.graph)
        for (node, reason) in prepared.degraded { tellFailure(node, reason) }
    }

    /// Prepares every node and hands the audio thread a schedule. A change under way ends with that.
    private func prepare(rate: Double, block: Int, first: Bool) throws(HostError) {
        time.rate.store(rate.bitPattern, ordering: .relaxed)
        let (graph, threads) = state.withLock { ($0.graph, $0.description.threads) }
        for node in graph.nodes { try prepare(node, rate: rate, block: block) }
        let schedule = try compile(graph, rate: rate, block: block, threads: threads)
        if first { try register(schedule.externals) }
        state.withLock {
            $0.prepared = (rate, block)
            $0.change = nil
        }
        publish(schedule)
        for node in graph.nodes { activate(node.instance) }
    }

    /// Prepares a node; one that fails is told of, and is in the way only if it is required. [control]
    func prepare(_ node: ResolvedGraph.Node, rate: Double, block: Int) throws(HostError) {
        let name = node.instance.name
        let offline = driver.info.kind == .offline
        do throws(NodeError) {
            try node.instance.prepare(Preparation(rate: rate, maxBlock: block, offline: offline))
            _ = state.withLock { $0.degraded.removeValue(forKey: name) }
        } catch {
            if node.description.required {
                throw HostError("node '\(name)' failed: \(error.message)", hint: error.hint)
            }
            state.withLock { $0.degraded[name] = error.message }
            tellFailure(name, error.message)
        }
    }

    /// Lets a node begin, and turn its own parameters. [control]
    func activate(_ node: NodeInstance) {
        node.onSetParameter { [weak engine, weak node] place, value, atOnce in
            guard let engine, let node else { return false }
            return engine.set(node, parameter: place, to: value, atOnce: atOnce)
        }
        node.activate()
    }

    func compile(
        _ graph: ResolvedGraph, rate: Double, block: Int, threads: Threads, after previous: Schedule? = nil
    ) throws(HostError) -> Schedule {
        let limit = threads.limit
        let sharers = Sharers(limit: limit, costs: limit > 1 ? engine.costs : [:])
        do {
            return try Compiler.compile(graph, rate: rate, maxBlock: block, after: previous, sharers: sharers)
        } catch {
            throw HostError("the graph cannot be compiled: \(error)")
        }
    }

    /// Asks the driver for ports. [control]
    func register(_ ports: [ExternalPort]) throws(HostError) {
        do throws(DriverError) {
            let handles = try driver.register(ports).map(DriverHandle.init)
            state.withLock { for (port, handle) in zip(ports, handles) { $0.handles[port.name] = handle } }
        } catch {
            throw HostError(error.message, hint: error.hint)
        }
    }

    /// Hands a schedule to the audio thread.
    func publish(_ schedule: Schedule) {
        let handles = state.withLock { $0.handles }
        schedule.setHandles(schedule.externals.map { handles[$0.name]?.pointer })
        engine.publish(schedule)
    }

    /// Lets the driver have as many helpers as there is use for. [control]
    func followThreads() {
        let helpers = engine.threads - 1
        let isNews = state.withLock { state in
            defer { state.helpers = helpers }
            return state.helpers != helpers
        }
        if isNews { driver.setHelpers(helpers) }
    }

    func tellFailure(_ node: String, _ reason: String) {
        bus.publish(.event(Event("node.failed", node: node, time: time.now, fields: ["reason": .string(reason)])))
    }

    private func handle(_ event: DriverEvent) {
        func tell(_ name: String, _ fields: [String: SettingValue] = [:]) {
            bus.publish(.event(Event(name, time: time.now, fields: fields)))
        }
        switch event {
        case .rateOrBlockChanged(let rate, let block):
            // Audio waits meanwhile: nodes are not processed while they are prepared again.
            publishing.withLock { _ in
                do throws(HostError) { try prepare(rate: rate, block: block, first: false) } catch {
                    tell("failed", ["reason": .string(error.message)])
                }
            }
            tell("format.changed", ["rate": .number(rate), "block": .integer(Int64(block))])
        case .xrun(let delay): dropouts.report(delay: delay)
        case .stalled: tell("stalled")
        case .resumed: tell("resumed")
        case .serverLost(let reason): tell("server.lost", ["reason": .string(reason)])
        case .serverBack: tell("server.back")
        case .reactivated: tell("reactivated")
        case .connected(let from, let to): tell("connected", ["from": .string(from), "to": .string(to)])
        }
    }

    /// Everything that is not audio: lets nodes publish, delivers messages, frees what the audio thread gave back. [control]
    public func pump() {
        time.position.store(engine.counters.position, ordering: .relaxed)
        for node in nodes where node.wantsPoll { node.poll() }
        router.deliver()
        tellRefused()
        while let note = engine.nextNote() { publish(note) }
        while case .event(let event) = failures.poll() {
            guard let node = event.node else { continue }
            let reason = event.name.hasSuffix(".failed") ? event.reason ?? event.name : nil
            state.withLock { $0.degraded[node] = reason }
        }
        tellDropouts()
        watchGuards()
        advance()
        followThreads()
    }

    /// Messages are lost only when a node sends more than others take; that must not go unseen.
    private func tellRefused() {
        let refused = router.refused
        let news = state.withLock { state in
            defer { state.refusedTold = refused }
            return refused - state.refusedTold
        }
        guard news > 0 else { return }
        bus.publish(.event(Event("messages.refused", time: time.now, fields: ["count": .integer(Int64(news))])))
    }

    private func publish(_ note: vg_note) {
        if note.kind == VG_NOTE_LATENCY { state.withLock { $0.latencyChanged = true } }
        let name = nodes.first { $0.number == note.node }?.name
        let text = note.text.map { String(cString: $0) } ?? ""
        let at = Double(note.position) / max(1, driver.info.rate)
        let kind = note.kind == VG_NOTE_LOG ? "log" : note.kind == VG_NOTE_LATENCY ? "latency" : text
        bus.publish(
            .event(Event(kind, node: name, time: at, fields: ["text": .string(text), "value": .number(note.value)])))
    }

    /// Whether no node has anything of its own left to play and no message waits. [control]
    public var isIdle: Bool { router.isEmpty && nodes.allSatisfy(\.isIdle) }

    /// Offline: returns when every node can give `frames` without a gap. [control]
    public func wait(frames: Int) { for node in nodes { node.wait(frames: frames) } }

    /// Ends the audio and lets the nodes finish what they hold: what they tell of it is on the bus when this returns.
    /// [control]
    public func stop() {
        if state.withLock({ state in
            defer { state.stopped = true }
            return state.stopped
        }) {
            return
        }
        driver.stop()
        pump()
        tellDropouts(all: true)
        for node in nodes + state.withLock({ $0.leaving }) { node.deactivate() }
        pump()
        state.withLock { $0.leaving = [] }
        router.disconnect()
        failures.cancel()
    }
}

/// What a driver gave for a port.
struct DriverHandle: @unchecked Sendable {
    // Sendable: only passed on.
    var pointer: UnsafeMutableRawPointer?
    init(_ pointer: UnsafeMutableRawPointer?) { self.pointer = pointer }
}
