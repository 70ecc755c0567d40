// SPDX-License-Identifier: Apache-2.0
import Config
import Drivers
import Graph
import NodeKit

/// A graph file has errors; none of it runs.
public struct InvalidGraph: Error, Sendable, CustomStringConvertible {
    /// Everything that is wrong, warnings included.
    public var diagnostics: [Diagnostic]
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
///     for await case .levels(let frame) in events { print(frame.orb) }
///
/// One graph at a time; `stop` ends it, after which another can be loaded.
public actor Host {
    let registry: NodeRegistry
    private nonisolated let bus = EventBus()
    private var loaded: PreparedGraph?
    private(set) var running: RunningGraph?
    private var pumping: Task<Void, Never>?
    private var closed = false
    /// Where the graph was read from, and with what said on top.
    var source: (path: String, overrides: [String])?
    /// The change that was asked for last; the next one waits for it.
    var lastChange: Task<Void, Never>?
    /// Nodes that were removed and sound on.
    var fading: Set<String> = []
    /// Who waits until the graph has become what it is becoming.
    var waiters: [CheckedContinuation<Void, Never>] = []

    /// Rounds a second of everything that is not audio: twice the rate of the level frames.
    static let pumpRate = 120

    /// Looks for plugins where `search` says; reads nothing yet. [any]
    public init(plugins search: PluginSearch = .standard()) { registry = NodeRegistry(search: search) }

    deinit {
        pumping?.cancel()
        running?.stop()
        bus.finish()
    }

    /// One consumer's view of what this and every later graph publishes, from now until `close`. Subscribe before
    /// `run` to miss nothing. [any]
    public nonisolated func subscribe(
        _ delivery: Delivery, where wants: @escaping @Sendable (Published) -> Bool = { _ in true }
    ) -> Subscription {
        bus.subscribe(delivery, where: wants)
    }

    /// Reads, checks and builds a graph; returns its warnings. Throws `InvalidGraph` with all diagnostics if there is an
    /// error among them, `HostError` while another graph plays and after `close`.
    @discardableResult
    public func load(_ path: String, overrides: [String] = []) throws -> [Diagnostic] {
        guard !closed else { throw HostError("this host is closed", hint: "make another") }
        guard running == nil else { throw HostError("a graph is playing", hint: "stop it first") }
        let (prepared, diagnostics) = try PreparedGraph.load(
            path: path, overrides: overrides, registry: registry, bus: bus)
        guard let prepared else { throw InvalidGraph(diagnostics: diagnostics) }
        loaded = prepared
        source = (path, overrides)
        return diagnostics
    }

    /// The description of the graph that was loaded; nil before.
    public var description: GraphDescription? { running?.description ?? loaded?.description }

    /// Opens a driver and plays the loaded graph. Without a request: the driver that its description wants, with the
    /// graph's name as the client's. When no driver can be opened, the graph stays loaded for another try.
    public func run(_ request: DriverRequest? = nil) throws(HostError) {
        guard running == nil else { throw HostError("a graph is playing", hint: "stop it first") }
        guard let prepared = loaded else { throw HostError("no graph is loaded", hint: "load one") }
        let driver: any Driver
        let wanted = request ?? DriverRequest(prepared.description.driver, client: prepared.description.name)
        do { driver = try DriverChooser.open(wanted) } catch {
            // What the server printed is often the only reason there is.
            if error.details.isEmpty { throw HostError(error.message, hint: error.hint) }
            throw HostError(error.description)
        }
        loaded = nil
        let graph = try RunningGraph.start(prepared, on: driver)
        running = graph
        // Weak: a host that nobody holds any more ends, and its graph with it.
        pumping = Task { [weak self] in
            while !Task.isCancelled {
                await self?.pump()
                try? await Task.sleep(for: .seconds(1) / Self.pumpRate)
            }
        }
    }

    private func pump() {
        running?.pump()
        if running?.isChanging != true { resumeWaiters() }
    }

    func resumeWaiters() {
        let waiting = waiters
        waiters = []
        for waiter in waiting { waiter.resume() }
    }

    /// What is measured now; nil unless a graph plays.
    public var status: Status? { running?.status }

    /// How long each node took per block; empty unless a graph plays.
    public var timings: [NodeTiming] { running?.timings ?? [] }

    /// The last hundred dropouts, oldest first, with their causes; empty unless a graph plays. See `Status.dropouts` for
    /// all of them.
    public var dropouts: [Dropout] { running?.dropouts.recent ?? [] }

    /// Whether no node has anything of its own left to play and no message waits.
    public var isIdle: Bool { running?.isIdle ?? true }

    /// Turns a parameter; what it does to the sound is smoothed.
    public func set(_ node: String, _ parameter: String, to value: Float) throws(HostError) {
        try graph().set(node, parameter, to: value)
    }

    /// Goes over to a preset of a node, by label or URI, without a click.
    public func loadPreset(_ node: String, _ preset: String) throws(HostError) {
        try graph().loadPreset(node, preset)
    }

    /// Sets a property of a node: a file, a text or another value that it takes by message.
    public func setProperty(_ node: String, _ key: String, to value: SettingValue) throws(HostError) {
        try graph().setProperty(node, key, to: value)
    }

    /// What a property of a node is now. Throws when the node has not told it after `patience`; a node tells in its next
    /// blocks, so that none does while no audio runs.
    public func property(
        _ node: String, _ key: String, patience: Duration = .seconds(2)
    ) async throws(HostError) -> SettingValue {
        let answers = bus.subscribe(.latest) {
            if case .event(let event) = $0 {
                event.node == node && event.name == "property" && event.property(key) != nil
            } else {
                false
            }
        }
        defer { answers.cancel() }
        try graph().askProperty(node, key)
        let end = ContinuousClock.now + patience
        repeat {
            if case .event(let event) = answers.poll(), let value = event.property(key) { return value }
            try? await Task.sleep(for: .milliseconds(4))
        } while ContinuousClock.now < end && !Task.isCancelled
        throw HostError(
            "node '\(node)' does not tell \(key)", hint: "not every plugin answers, and none while no audio runs")
    }

    /// Saves every node that has something to keep and says where, with `state = "FOLDER"`; returns their names.
    @discardableResult
    public func saveStates() throws(HostError) -> [String] { try graph().saveStates() }

    /// Speaks: sends `text` to the message input "text" of `node`, by default the first node that has one.
    public func say(_ text: String, on node: String? = nil) throws(HostError) {
        let graph = try graph()
        guard let speaker = node ?? graph.nodes.first(where: { $0.messageInput("text") != nil })?.name else {
            throw HostError("no node speaks", hint: "add a node of type \"tts\"")
        }
        try graph.send(.text(text), to: speaker, port: "text")
    }

    /// Sends a message to a message input of a node.
    public func send(_ message: Message, to node: String, port: String) throws(HostError) {
        try graph().send(message, to: node, port: port)
    }

    /// Ends the audio; nodes finish what they hold: a recording is complete when this returns. Returns what was
    /// measured; nil if no graph was playing.
    @discardableResult
    public func stop() -> (status: Status, timings: [NodeTiming], dropouts: [Dropout])? {
        guard let graph = running.take() else { return nil }
        pumping?.cancel()
        pumping = nil
        graph.stop()
        resumeWaiters()
        return (graph.status, graph.timings, graph.dropouts.recent)
    }

    /// Stops, and ends all subscriptions after everything kept was read.
    public func close() {
        stop()
        closed = true
        loaded = nil
        bus.finish()
    }

    func graph() throws(HostError) -> RunningGraph {
        guard let running else { throw HostError("no graph is playing", hint: "load and run one") }
        return running
    }
}
