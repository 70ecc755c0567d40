// SPDX-License-Identifier: Apache-2.0
import Drivers
import Graph
import GraphFile
import NodeKit

/// A sound file, played offline, as fast as it goes, to a node that listens to it.
struct FilePass {
    /// Of the graph.
    var name: String
    /// The sound file.
    var path: String
    /// Hz.
    var rate: Double
    /// Channels that are listened to; nil: as many as the file has.
    var channels: Int?
    /// Series on request that are wanted.
    var series: Set<String> = []
    /// Frames of silence that are played behind it at least, for what measures the middle of what it has heard.
    var tail = 0
    /// A node that hears the file too, and tells the listener of it: from its port to one of the listener's.
    var witness: (node: NodeDescription, from: String, to: String)?

    private static let block = 4096
    /// The names of both nodes.
    static let (source, listener) = ("file", "listener")

    /// Plays it to the node that `listener` describes for so many channels. What the nodes publish goes to `take`, which
    /// returns why the rest is of no use, if so; the seconds done go to `progress`, which ends it by returning false. The
    /// listener goes to `adjust` now and then, and at the end to `finish`. Returns the seconds that were played. Throws
    /// if the file cannot be read, or a node fails. [control]
    func run(
        registry: NodeRegistry, listener: (Int) -> NodeDescription, progress: (Double) -> Bool,
        take: (Published) -> String?, adjust: (NodeInstance) throws(NodeError) -> Void = { _ in },
        finish: (NodeInstance) throws(NodeError) -> Void = { _ in }
    ) throws(Fault) -> Double {
        let bus = EventBus()
        let published = bus.subscribe(.lossless, series: series) {
            if case .event(let event) = $0 { event.node != nil } else { true }
        }
        let running = try RunningGraph.start(
            try prepared(bus, registry, listener), on: OfflineDriver(rate: rate, maxBlock: Self.block))
        guard let driver = running.driver as? OfflineDriver else { throw Fault("there is no offline driver") }
        defer { bus.finish() }
        var fault: String?
        func read() {
            // A node publishes one series after the other: whoever draws them needs them in the order of time.
            var frames: [SeriesFrame] = []
            while let next = published.poll() {
                if case .frame(let frame) = next {
                    frames.append(frame)
                    continue
                }
                if case .event(let event) = next {
                    if event.node == Self.source, event.type?.kind == .failure {
                        fault = "\(path): \(event.text("reason") ?? "")"
                    } else if event.name == HostEvent.health.name, event.text("state") == "failed" {
                        fault = event.text("reason")
                    }
                }
                fault = fault ?? take(next)
            }
            let ordered = frames.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
            for frame in ordered { fault = fault ?? take(.frame(frame.element)) }
        }
        func give(_ node: NodeInstance?, to use: (NodeInstance) throws(NodeError) -> Void) {
            guard fault == nil, let node else { return }
            do throws(NodeError) { try use(node) } catch { fault = "\(error)" }
        }
        let listener = running.nodes.first { $0.name == Self.listener }
        func play() {
            running.wait(frames: Self.block)
            driver.process(frames: Self.block)
            running.pump()
            read()
        }
        var (frames, isWhole) = (0, true)
        while fault == nil, isWhole, !running.isIdle {
            play()
            frames += Self.block
            give(listener, to: adjust)
            isWhole = progress(Double(frames) / rate)
        }
        for _ in stride(from: 0, to: tail, by: Self.block) where fault == nil && isWhole { play() }
        give(listener, to: finish)
        running.stop()
        read()
        if let fault { throw Fault(fault) }
        return Double(frames) / rate
    }

    private func prepared(
        _ bus: EventBus, _ registry: NodeRegistry, _ listener: (Int) -> NodeDescription
    ) throws(Fault) -> PreparedGraph {
        var settings = ["path": SettingValue.string(absolute(path))]
        settings["channels"] = channels.map { .integer(Int64($0)) }
        let file = NodeDescription(
            name: Self.source, type: StandardType.file, entries: settings.mapValues { Entry($0) }, required: true)
        var description = GraphDescription(name: name, nodes: [file])
        let context = GraphContext(bus)
        func build() throws(Fault) -> BuildResult {
            let built = PreparedGraph.build(description, registry: registry, context: context)
            if let error = built.diagnostics.first(where: { $0.severity == .error }) {
                throw error.fault
            }
            return built
        }
        // How many channels it has is known when there is one.
        var count = channels ?? 1
        if channels == nil, let file = try build().graph?.nodes.first {
            count = file.instance.ports.count { $0.kind == VG_AUDIO_PORT }
        }
        var node = listener(count)
        node.name = Self.listener
        node.required = true
        description.nodes.append(node)
        description.links = [LinkDescription(from: Endpoint(Self.source), to: Endpoint(Self.listener))]
        if let witness {
            description.nodes.insert(witness.node, at: 1)
            description.links += [
                LinkDescription(from: Endpoint(Self.source), to: Endpoint(witness.node.name)),
                LinkDescription(
                    from: Endpoint(witness.node.name, witness.from), to: Endpoint(Self.listener, witness.to)),
            ]
        }
        let built = try build()
        guard let graph = built.graph else { throw Fault("\(path) cannot be played") }
        return PreparedGraph(
            description: description, graph: graph, degraded: built.degraded, bus: bus, context: context)
    }
}
