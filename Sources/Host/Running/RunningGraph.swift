// SPDX-License-Identifier: Apache-2.0
import Drivers
import Glibc
import Graph
import GraphFile
import NodeKit
import Realtime
import Synchronization
import System

/// A checked graph on a driver: prepared, compiled, playing. `pump` does everything regular that is not audio, 60 to 120
/// times a second: on a thread of its own after `startPumping`, otherwise whenever the owner calls it. It waits for no node.
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
    let context: GraphContext
    let state: Lock<State>
    let clock = TickClock()
    let turned = TurnedValues()
    /// What the driver knows of it.
    let ports: DriverPorts
    let losses: LossWatch
    let guards: GuardWatch
    let levels: LevelWatch
    let sources: SourceWatch
    let outputs: OutputWatch
    let load: LoadMeter
    /// What the audio thread is given comes from one thread at a time: that of an edit, the driver's, when it asks for a
    /// new format, or that of the pump, which does not wait for it. Nobody calls the driver while holding it, since the
    /// driver waits for it.
    let publishing = Monitor()
    /// One round of the pump at a time.
    let round = Monitor()
    let polls = PollRounds()
    let pumping = PumpThread()
    /// How often the pump's thread went round.
    let rounds = Atomic<UInt64>(0)

    var router: MessageRouter { context.router }
    var time: GraphTime { context.time }
    var reports: NodeReports { context.reports }
    /// Whether nothing happens by itself: whoever drives the graph's time also does what waits for its nodes.
    let isDriven: Bool
    /// How long a format change waits for nodes that are busy, in seconds.
    static let patience = 2.0

    /// What rounds of the pump are for.
    enum Pace: Double {
        /// Nobody waits for anything: 60 a second.
        case resting = 60
        /// Somebody reads series, some of which come 60 times a second.
        case read = 120
        /// The graph changes, and somebody waits for that.
        case changing = 480
    }

    /// Seconds from one round of everything that is not audio to the next: as `pace` says, but while nobody rests no less than
    /// a block, before which there is nothing new.
    static func pumpPeriod(block: Int, rate: Double, _ pace: Pace) -> Double {
        let rest = 1 / Pace.resting.rawValue
        return pace == .resting ? rest : min(max(Double(block) / max(rate, 1), 1 / pace.rawValue), rest)
    }

    struct State {
        var graph: ResolvedGraph
        var nodes: [NodeInstance]
        var description: GraphDescription
        var change: GraphChange?
        /// The first schedule of the last change, by its number, until its first block.
        var awaited: Int?
        /// Of a change that only turns parameters: the frame behind which nobody waits for a block that has them.
        var awaitedFrame: UInt64?
        /// When that block began, by the counter; nil: there was none.
        var firstBlock: UInt64?
        var lastChange: ChangeTimes?
        /// What is gone from the graph, but perhaps not from the audio thread yet.
        var leaving: [NodeInstance] = []
        var latencyChanged = false
        /// Nodes that were too busy for a new format, and will be taken in again.
        var late: [NodeInstance] = []
        /// Who waits until the graph has become what it is becoming.
        var waiters: [CheckedContinuation<Void, Never>] = []
        var stopped = false
        var prepared: (rate: Double, block: Int) = (0, 0)

        /// Whether the audio thread has not yet what it was given.
        var isAwaited: Bool { awaited != nil || awaitedFrame != nil }
    }

    /// Prepares the nodes, compiles, and starts the driver. A node that cannot be prepared is bypassed or silent, which its
    /// health tells, unless it is required. [control]
    public static func start(
        _ prepared: PreparedGraph, on driver: any Driver, releasesCode: Bool = false
    ) throws(Fault) -> RunningGraph {
        let running = RunningGraph(prepared, driver)
        do throws(Fault) {
            try running.prepare(rate: driver.info.rate, block: driver.info.block, first: true)
            running.ports.setHelpers(running.engine.threads - 1)
            if releasesCode { LockedMemory.releaseCode() }
            do throws(DriverError) {
                try driver.start(running.engine.audio) { [weak running] in running?.handle($0) }
            } catch { throw error.fault }
        } catch {
            driver.stop()
            throw error
        }
        return running
    }

    private init(_ prepared: PreparedGraph, _ driver: any Driver) {
        bus = prepared.bus
        context = prepared.context
        self.driver = driver
        isDriven = driver.info.kind == .offline
        ports = DriverPorts(driver)
        losses = LossWatch(engine, driver, context, clock)
        guards = GuardWatch(context)
        levels = LevelWatch(context)
        sources = SourceWatch(context)
        outputs = OutputWatch(driver, context)
        load = LoadMeter(clock)
        state = Lock(
            State(
                graph: prepared.graph, nodes: prepared.graph.nodes.map(\.instance), description: prepared.description))
        for node in prepared.graph.nodes { node.instance.isDriven = isDriven }
        context.keep(prepared.description)
        bus.follow(context.time)
        router.connect(prepared.graph)
        context.calls.connect(prepared.graph)
        for (node, reason) in prepared.degraded { reports.set(node, .failed(reason)) }
    }

    /// Prepares every node and hands the audio thread a schedule. A change under way ends with that. For another format
    /// each is activated with the call that prepares it: one that is busy again by then would hold up all others.
    private func prepare(rate: Double, block: Int, first: Bool) throws(Fault) {
        time.begin(rate: rate, at: engine.counters.position)
        let (graph, threads) = state.withLock { ($0.graph, $0.description.threads) }
        let deadline = monotonicSeconds() + Self.patience
        for node in graph.nodes {
            try prepare(
                node, rate: rate, block: block, activating: !first,
                patience: first ? .infinity : max(0, deadline - monotonicSeconds()))
        }
        let schedule = try compile(graph, rate: rate, block: block, threads: threads)
        if first { try ports.register(schedule.externals) }
        state.withLock {
            $0.prepared = (rate, block)
            $0.change = nil
        }
        publish(schedule)
        if first { for node in graph.nodes { activate(node.instance) } }
    }

    /// Prepares a node; one that fails is told of, and is in the way only if it is required. One that is busy for too long
    /// is left out until it is free. [control]
    func prepare(
        _ node: ResolvedGraph.Node, rate: Double, block: Int, activating: Bool = false, patience: Double = .infinity
    ) throws(Fault) {
        let (instance, name) = (node.instance, node.instance.name)
        let before = reports.health(name)
        do throws(NodeError) {
            try instance.prepare(
                Preparation(rate: rate, maxBlock: block, offline: isDriven), activating: activating,
                patience: patience)
            // What the node says of itself meanwhile stays.
            if reports.health(name) == before { reports.set(name, .ok) }
        } catch {
            if instance.isBusy, !patience.isInfinite {
                instance.leaveOut()
                state.withLock { $0.late.append(instance) }
                followLate(node)
            } else if node.description.required == true {
                throw Fault("node '\(name)' failed: \(error.message)", hint: error.hint)
            }
            reports.set(name, .failed(error.message))
        }
    }

    /// Waits, on a thread that has nothing else to do, until a node that was too busy for a new format can be prepared for
    /// it, and lets it play again.
    private func followLate(_ node: ResolvedGraph.Node) {
        ControlThreads.shared.submit { [weak self] in
            node.instance.waitUntilFree()
            guard let self, !isStopped else { return }
            publishing.locked {
                let (rate, block) = state.withLock { $0.prepared }
                guard state.withLock({ $0.nodes.contains { $0 === node.instance } }) else { return }
                try? prepare(node, rate: rate, block: block, activating: true, patience: Self.patience)
                state.withLock { state in
                    state.late.removeAll { $0 === node.instance }
                    state.latencyChanged = true
                }
            }
        }
    }

    /// Lets a node begin, and turn its own parameters. [control]
    func activate(_ node: NodeInstance) {
        node.isDriven = isDriven
        node.onSetParameter { [weak engine, weak node, turned] place, value, atOnce, position in
            guard let engine, let node else { return false }
            return turned.turn(
                node, place, to: value, atOnce: atOnce, at: position, by: Author.plugin, with: engine)
        }
        node.activate()
    }

    func compile(
        _ graph: ResolvedGraph, rate: Double, block: Int, threads: Threads, after previous: Schedule? = nil
    ) throws(Fault) -> Schedule {
        let limit = threads.limit
        let sharers = Sharers(limit: limit, costs: limit > 1 ? engine.costs : [:])
        do {
            return try Compiler.compile(graph, rate: rate, maxBlock: block, after: previous, sharers: sharers)
        } catch {
            throw Fault("the graph cannot be compiled: \(error)")
        }
    }

    /// Hands a schedule to the audio thread.
    func publish(_ schedule: Schedule) {
        ports.fill(schedule)
        driver.lockMemory()
        engine.publish(schedule)
    }

    /// Publishes an event of the host's own. [any]
    func tell(_ kind: EventType, node: String? = nil, _ fields: [String: SettingValue] = [:]) {
        context.tell(kind, node: node, fields)
    }

    private func followServer(_ problem: String?) {
        sources.follow(server: problem, in: state.withLock(\.graph))
    }

    private func handle(_ event: DriverEvent) {
        switch event {
        case .rateOrBlockChanged(let rate, let block):
            // Audio waits meanwhile: nodes are not processed while they are prepared again.
            publishing.locked {
                // What plays goes on where only the length of blocks differs: nodes begin anew when they are prepared.
                let prepared = state.withLock(\.prepared)
                if prepared.rate == rate, driver.dividesBlocks || block <= prepared.block { return }
                do throws(Fault) { try prepare(rate: rate, block: block, first: false) } catch {
                    tell(HostEvent.failed, ["reason": .string(error.message)])
                }
            }
            tell(HostEvent.format, ["rate": .number(rate), "block": .integer(Int64(block))])
        case .xrun(let delay): losses.dropouts.report(delay: delay)
        case .stalled:
            tell(HostEvent.stalled)
            followServer("the JACK server hangs")
        case .resumed:
            tell(HostEvent.resumed)
            followServer(nil)
        case .serverLost(let reason):
            tell(HostEvent.serverLost, ["reason": .string(reason)])
            followServer("the JACK server is gone")
        case .serverBack:
            tell(HostEvent.serverBack)
            followServer(nil)
        case .serverFound:
            followServer(nil)
            let info = driver.info
            tell(
                HostEvent.serverFound,
                [
                    "driver": .string(info.kind.rawValue), "server": .string(info.server),
                    "client": .string(info.client),
                ])
        case .reactivated:
            tell(HostEvent.reactivated)
            followServer(nil)
        case .connected(let from, let to): tell(HostEvent.connected, ["from": .string(from), "to": .string(to)])
        case .connectionRefused(let from, let to, let isIgnored):
            tell(
                HostEvent.connectionRefused,
                [
                    "from": .string(from), "to": .string(to),
                    "reason": .string(
                        (isIgnored ? "the server said that it was made, and it was not" : "the server refused it")
                            + ": was it started to keep programs from connecting themselves (jackd -a)? "
                            + "start it without that, or connect it by hand"),
                ])
        case .source(let node, let isThere): sources.follow(node, isThere: isThere, in: state.withLock(\.graph))
        }
    }
}
