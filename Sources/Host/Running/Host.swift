// SPDX-License-Identifier: Apache-2.0
import Config
import Drivers
import Graph
import GraphFile
import NodeKit
import System

/// A graph file has errors; none of it runs.
public struct InvalidGraph: Error, Sendable, CustomStringConvertible {
    /// Everything that is wrong, warnings included.
    public var diagnostics: [Diagnostic]

    /// Describes what is wrong.
    public init(diagnostics: [Diagnostic]) { self.diagnostics = diagnostics }

    /// As text for people, with the lines of the file.
    public var description: String { DiagnosticFormat(color: false).text(diagnostics) }
}

/// The host as a library: reads a graph, plays it, and tells what happens in it.
///
///     let host = Host()
///     let events = host.subscribe(.bounded(256))
///     try await host.load("voice.conf")
///     try await host.run()
///     try await host.say("Hello")
///     for await case .frame(let frame) in events { print(frame.node, frame.peak) }
///
/// One graph at a time; `stop` ends it, after which another can be loaded.
public actor Host {
    let registry: NodeRegistry
    private nonisolated let bus = EventBus()
    private var loaded: PreparedGraph?
    private(set) var running: RunningGraph?
    private var closed = false
    private nonisolated let opened = Lock(false)
    /// What nodes of the graph find in this program, and lives no shorter than they may be made.
    private var parts: (any Sendable)?
    /// Where the graph was read from, and with what said on top.
    var source: (path: String, overrides: [String])?
    /// The change that was asked for last; the next one waits for it.
    var lastChange: Task<Void, Never>?
    /// Nodes that were removed and sound on.
    var fading: Set<String> = []
    /// How long the nodes of an edit have to be made; then it is given up.
    var patience = NodesInMaking.Patience()
    /// Edits that wait for those before them.
    let waitingEdits = Lock(0)
    /// What can be taken back.
    var history = EditHistory()

    /// Looks for plugins where `search` says; reads nothing yet. [any]
    public init(plugins search: PluginSearch = .standard()) { registry = NodeRegistry(search: search) }

    /// From now on graphs may have nodes of a type of this program, under the name that its descriptor says; again: nothing.
    /// Throws where that name is taken. Such nodes run in this process alone. [any]
    public nonisolated func register<N: Node>(_ type: N.Type) throws(Fault) { try registry.register(type) }

    /// With node types of its own, for tests. [any]
    init(registry: NodeRegistry) { self.registry = registry }

    deinit {
        running?.stop()
        bus.finish()
    }

    /// One consumer's view of what this and every later graph publishes, from now until `close`, or until something that
    /// `isLast`: of a recording the event `record.state` that tells `finished`, which who subscribes after it is given, too.
    /// Subscribe before `run` to miss nothing. `series`: those that are measured only for whoever asks for them, as
    /// `Subscription.ask` takes them. [any]
    public nonisolated func subscribe(
        _ delivery: Delivery, series: Set<String> = [],
        where wants: @escaping @Sendable (Published) -> Bool = { _ in true },
        until isLast: @escaping @Sendable (Published) -> Bool = { _ in false }
    ) -> Subscription {
        bus.subscribe(delivery, series: series, where: wants, until: isLast)
    }

    /// The newest states and frames that whoever subscribes now is given first, those that are wanted, in the order in which
    /// they came. [any]
    public nonisolated func retained(where wants: (Published) -> Bool) -> [Publication] { bus.retained(where: wants) }

    /// Publishes one of `HostEvent.all` for who works for the host, as the archive does. [any]
    public nonisolated func tell(_ event: EventType, _ fields: [String: SettingValue] = [:]) { bus.tell(event, fields) }

    /// Reads, checks and builds a graph; returns its warnings. Throws `InvalidGraph` with all diagnostics if there is an
    /// error among them, `Fault` while another graph plays and after `close`.
    @discardableResult
    public func load(_ path: String, overrides: [String] = []) throws -> [Diagnostic] {
        guard !closed else { throw Fault("this host is closed", hint: "make another") }
        guard running == nil else { throw Fault("a graph is playing", hint: "stop it first") }
        // From here on it means the same, wherever a plugin goes.
        let place = absolute(path)
        let (prepared, diagnostics) = try PreparedGraph.load(
            path: path, overrides: overrides, registry: registry, bus: bus)
        guard let prepared else { throw InvalidGraph(diagnostics: diagnostics) }
        loaded = prepared
        source = (place, overrides)
        return diagnostics
    }

    /// Checks and builds a graph that no file says; returns its warnings, and throws as the other `load` does.
    @discardableResult
    public func load(_ description: GraphDescription) throws -> [Diagnostic] { try load(description, keeping: nil) }

    /// The same; `parts` live as long as this graph can be played or edited.
    @discardableResult
    package func load(_ description: GraphDescription, keeping parts: (any Sendable)?) throws -> [Diagnostic] {
        guard !closed else { throw Fault("this host is closed", hint: "make another") }
        guard running == nil else { throw Fault("a graph is playing", hint: "stop it first") }
        let (prepared, diagnostics) = try PreparedGraph.make(description, registry: registry, bus: bus)
        guard let prepared else { throw InvalidGraph(diagnostics: diagnostics) }
        loaded = prepared
        source = nil
        self.parts = parts
        return diagnostics
    }

    /// The description of the graph that was loaded; nil before.
    public var description: GraphDescription? { running?.description ?? loaded?.description }

    /// Opens a driver and plays the loaded graph. Without a request: the driver that its description wants, with the
    /// graph's name as the client's. When no driver can be opened, the graph stays loaded for another try.
    public func run(_ request: DriverRequest? = nil) throws(Fault) {
        guard running == nil else { throw Fault("a graph is playing", hint: "stop it first") }
        guard let prepared = loaded else { throw Fault("no graph is loaded", hint: "load one") }
        let driver: any Driver
        let wanted = request ?? DriverRequest(prepared.description.driver, client: prepared.description.name)
        do { driver = try DriverChooser.open(wanted) } catch {
            // What the server printed is often the only reason there is.
            throw error.details.isEmpty ? error.fault : Fault(error.description)
        }
        loaded = nil
        opened.withLock { $0 = true }
        let graph = try RunningGraph.start(prepared, on: driver, releasesCode: wanted.releasesCode)
        running = graph
        history = EditHistory()
        graph.startPumping()
        Self.judgeInputs(graph)
        graph.judgeOutputs()
    }

    /// Whether `run` has opened a driver, and so what nodes do may have begun: a recording, for one. [any]
    public nonisolated var hasBegun: Bool { opened.withLock { $0 } }

    /// What is measured now; nil unless a graph plays.
    public var status: Status? { running?.status }

    /// How often everything regular that is not audio was done since the graph began to play, 60 to 120 times a second; 0
    /// unless a graph plays. A number that stands still is that of a host that hangs, whatever the server does.
    public var rounds: UInt64 { running?.rounds.load(ordering: .relaxed) ?? 0 }

    /// How long each node took per block; empty unless a graph plays.
    public var timings: [NodeTiming] { running?.timings ?? [] }

    /// The last hundred dropouts, oldest first, with their causes; empty unless a graph plays. See `Status.dropouts` for
    /// all of them.
    public var dropouts: [Dropout] { running?.losses.dropouts.recent ?? [] }

    /// Whether no node has anything of its own left to play and no message waits.
    public var isIdle: Bool { running?.isIdle ?? true }

    /// The loudest sample that the driver was given since the last call, linear; of outputs without a guard nothing is
    /// known.
    public func takeOutputPeak() -> Float {
        running?.levels.takeOutputPeak() ?? 0
    }

    /// Turns a parameter; what it does to the sound is smoothed. With a time of the graph, in seconds, it begins at that
    /// frame.
    public func set(_ node: String, _ parameter: String, to value: Float, at time: Double? = nil) throws(Fault) {
        let was = try graph().value(node, parameter)
        try graph().set(node, parameter, to: value, at: time)
        // A trigger has fired: nothing takes that back.
        if try graph().parameter(node, parameter)?.isTrigger != true { remember(node, parameter, was: was) }
    }

    /// Does an action of a node, as `voicegraph describe` lists them, and returns its results. It waits for its turn among
    /// the node's calls, unless it is urgent, and for the node to end it; after `patience` seconds it throws. Other calls go
    /// on meanwhile.
    @discardableResult
    public func perform(
        _ action: String, on node: String, _ arguments: [String: SettingValue] = [:], patience: Double = 10
    ) async throws(Fault) -> [String: SettingValue] {
        let graph = try graph()
        let result = await withCheckedContinuation { continuation in
            graph.perform(node, action, arguments, patience: patience) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    /// The actions of a node, in the order in which its type declares them.
    public func actions(of node: String) throws(Fault) -> [Action] {
        try graph().instance(node).declarations.actions
    }

    /// The settings of a node that can be changed while it plays, by their keys.
    public func liveSettings(of node: String) throws(Fault) -> [String] {
        try graph().instance(node).declarations.settings.filter(\.isLive).map(\.key)
    }

    /// The node that `say` means: the one that has the action "speak".
    public func speaker() throws(Fault) -> String {
        let speakers = try graph().nodes.filter { $0.has(VG_ACTION_SPEAK) }.map(\.name)
        guard let first = speakers.first else {
            throw Fault("no node speaks", hint: "add a node of type \"tts\"")
        }
        guard speakers.count == 1 else {
            throw Fault("several nodes speak", hint: "name one: \(speakers.joined(separator: ", "))")
        }
        return first
    }

    /// Speaks: the action "speak" of `node`, by default of the one node that has it.
    public func say(_ text: String, on node: String? = nil) async throws(Fault) {
        let speaker = if let node { node } else { try speaker() }
        try await perform(VG_ACTION_SPEAK, on: speaker, ["text": .string(text)])
    }

    /// Saves every node that has something to keep and says where, with `state = "FOLDER"`; returns their names. The others
    /// are saved even if one cannot be.
    @discardableResult
    public func saveStates() async throws(Fault) -> [String] {
        var saved: [String] = []
        var failure: Fault?
        let folders = try graph().stateFolders()
        for (node, folder) in folders {
            do throws(Fault) {
                try await perform(VG_ACTION_SAVE, on: node, ["folder": .string(folder)])
                saved.append(node)
            } catch { failure = Fault("it cannot be saved: \(error.message)", hint: error.hint) }
        }
        if let failure { throw failure }
        return saved
    }

    /// Sends a message to a message input of a node.
    public func send(_ message: Message, to node: String, port: String) throws(Fault) {
        try graph().send(message, to: node, port: port)
    }

    /// Ends the audio; nodes finish what they hold: a recording is complete when this returns. Returns what was
    /// measured; nil if no graph was playing.
    @discardableResult
    public func stop() -> (status: Status, timings: [NodeTiming], dropouts: [Dropout])? {
        guard let graph = running.take() else { return nil }
        graph.stop()
        return (graph.status, graph.timings, graph.losses.dropouts.recent)
    }

    /// Stops, and ends all subscriptions after everything kept was read.
    public func close() {
        stop()
        closed = true
        loaded = nil
        bus.finish()
    }

    func graph() throws(Fault) -> RunningGraph {
        guard let running else { throw Fault("no graph is playing", hint: "load and run one") }
        return running
    }
}
