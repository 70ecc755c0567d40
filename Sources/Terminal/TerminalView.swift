// SPDX-License-Identifier: Apache-2.0
import Graph
import Host
import NodeKit
import Picture
import System

/// The screen of `voicegraph run`: takes what the host publishes, gives the bytes that bring a terminal up to date.
/// It draws nothing by itself and knows no clock: every call brings its time, in seconds of any steady clock. All
/// calls may come from any thread.
public final class TerminalView: DeviceView {
    private struct Inner: Sendable {
        var state: FaceState
        var painter: Painter
        var width: Int
        var height: Int
        var changedAt = -Double.infinity
        var loadShownAt = -Double.infinity
        var painted = false
        /// Every node of the graph, and those that it had once.
        var names: Set<String>
        var gone: Set<String> = []

        mutating func update(peak: Float, of node: String, at time: Double) {
            guard let index = state.graphNodes.firstIndex(where: { $0.name == node }) else { return }
            let isNews = state.graphNodes[index].level == nil
            var level = state.graphNodes[index].level ?? Ballistics()
            guard isNews || peak > 0 || level.reading(at: time).held > -.infinity else { return }
            level.update(rms: peak, peak: peak, at: time)
            state.graphNodes[index].level = level
            changedAt = time
        }
    }

    private let inner: Lock<Inner>
    private let screen: Screen
    private let unicode: Bool
    /// What keys ask of the host, in their order.
    public let commands: AsyncStream<FaceCommand>
    private let asked: AsyncStream<FaceCommand>.Continuation

    /// Seconds after the last change at which everything has come to rest: a held peak has fallen, a clip sign has
    /// gone.
    private static let restTime = 6.0

    /// A view of a graph; its meter and visualizer nodes are shown in the order of the file, others as they turn up.
    public init(graph: GraphDescription, capabilities: TerminalCapabilities, width: Int, height: Int) {
        screen = Screen(theme: Theme(capabilities))
        unicode = capabilities.unicode
        (commands, asked) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(64))
        var state = FaceState(graph: graph.name, nodes: Self.faces(graph))
        state.graphNodes = graph.nodes.map { GraphNode($0, in: graph) }
        inner = Lock(
            Inner(
                state: state, painter: Painter(capabilities), width: width, height: height,
                names: Set(graph.nodes.map(\.name))))
    }

    private static func faces(_ graph: GraphDescription) -> [NodeFace] {
        graph.nodes.compactMap { node in
            func setting(_ key: String) -> String? {
                if case .string(let text)? = node.entries[key]?.value { text } else { nil }
            }
            switch node.type {
            case "visualizer":
                let settings = Settings(node.entries.mapValues(\.value))
                return NodeFace(
                    name: node.name, style: PictureStyle(named: setting("style") ?? "orb"),
                    preset: setting("preset").map { Preset(named: $0) }, wave: WaveForm(settings),
                    times: LevelTimes(settings))
            case "meter": return NodeFace(name: node.name)
            default: return nil
            }
        }
    }

    /// Takes a graph that has changed: nodes that are gone are shown no more, and their last levels, which may still
    /// come, are not either. Those that stay as they were go on. [any]
    public func update(graph: GraphDescription, at time: Double) {
        inner.withLock { inner in
            let names = Set(graph.nodes.map(\.name))
            inner.gone = inner.gone.union(inner.names).subtracting(names)
            inner.names = names
            let known = inner.state.nodes
            let listed = Self.faces(graph).map { face in
                known.first {
                    $0.name == face.name && $0.style == face.style && $0.preset == face.preset && $0.wave == face.wave
                        && $0.times == face.times
                } ?? face
            }
            let others = known.filter { one in
                !inner.gone.contains(one.name) && !listed.contains { $0.name == one.name } && one.style == nil
            }
            inner.state.nodes = listed + others
            let before = inner.state.graphNodes
            inner.state.graphNodes = graph.nodes.map { node in
                var shown = GraphNode(node, in: graph)
                if let old = before.first(where: { $0.name == node.name }) {
                    (shown.level, shown.load) = (old.level, old.load)
                }
                return shown
            }
            inner.state.speaking.subtract(inner.gone)
            inner.state.dictations = inner.state.dictations.filter { !inner.gone.contains($0.key) }
            if let node = inner.state.speech?.node, inner.gone.contains(node) { inner.state.speech = nil }
            inner.changedAt = time
        }
    }

    /// The series on request that it shows, as `Subscription.ask` takes them. [any]
    public var series: Set<String> {
        inner.withLock { Set($0.state.nodes.flatMap(\.series)).union([Host.output.name]) }
    }

    /// Takes levels, bands, and how loud nodes are. [any]
    public func update(levels: SeriesFrame, at time: Double) {
        inner.withLock { inner in
            guard !inner.gone.contains(levels.node) else { return }
            if let peak = levels[Host.output.name].first { return inner.update(peak: peak, of: levels.node, at: time) }
            let index = inner.state.nodes.firstIndex { $0.name == levels.node }
            // What has no meter has no face.
            guard index != nil || !levels.peak.isEmpty else { return }
            if index == nil { inner.state.nodes.append(NodeFace(name: levels.node)) }
            let place = index ?? inner.state.nodes.count - 1
            if inner.state.status.rate > 0 { inner.state.nodes[place].motion.rate = inner.state.status.rate }
            let changed = inner.state.nodes[place].update(levels, at: time)
            if changed || index == nil { inner.changedAt = time }
        }
    }

    /// Takes what each node takes of a block. [any]
    public func update(timings: [NodeTiming], at time: Double) {
        inner.withLock { inner in
            let status = inner.state.status
            guard status.rate > 0, status.block > 0 else { return }
            let period = Double(status.block) / status.rate
            let shares = Dictionary(timings.map { ($0.node, $0.recent / period) }, uniquingKeysWith: { $1 })
            for index in inner.state.graphNodes.indices {
                // As it is written: what is smaller is no news.
                let share = shares[inner.state.graphNodes[index].name].map { ($0 * 1e4).rounded() / 1e4 }
                guard share != inner.state.graphNodes[index].load else { continue }
                inner.state.graphNodes[index].load = share
                inner.changedAt = time
            }
        }
    }

    /// Takes the host's state; the load is shown at most twice a second. [any]
    public func update(status: Status, at time: Double) {
        inner.withLock { inner in
            var next = status
            if time - inner.loadShownAt < 0.5 {
                next.load = inner.state.status.load
            } else {
                inner.loadShownAt = time
            }
            next.time = status.time.rounded(.down)
            next.blocks = 0
            guard next != inner.state.status else { return }
            inner.state.status = next
            inner.changedAt = time
        }
    }

    /// Takes an event. [any]
    public func update(event: Event, at time: Double) {
        inner.withLock { inner in
            inner.changedAt = time
            let node = event.node ?? ""
            switch event.name {
            case "speech.started":
                inner.state.speaking.insert(node)
                inner.state.speech = SpeechFace(node: node, text: event.text("text") ?? "", unicode: unicode)
            case "speech.word":
                guard inner.state.speech?.node == node else { break }
                if let offset = event.integer("offset") {
                    inner.state.speech?.say(offset: offset, length: event.integer("length") ?? 1)
                } else if let word = event.text("word") ?? event.text("text") {
                    inner.state.speech?.say(word: word)
                }
            case "speech.state":
                if case .bool(let isPaused)? = event.fields["paused"] { inner.state.isSpeechPaused = isPaused }
            case _ where event.name.hasPrefix("transcribe."): inner.state.dictations[node, default: .init()].take(event)
            case "record.state": inner.state.recordings[node] = event.text("state")
            case "speech.finished", "speech.stopped", "speech.failed":
                inner.state.speaking.remove(node)
                if inner.state.speech?.node == node { inner.state.speech?.active = false }
            default: break
            }
            let failed = event.name.hasSuffix(".failed")
            guard let text = eventText(event), failed || !event.name.hasPrefix("speech.") else { return }
            let level = event.text("level") ?? (failed ? "error" : event.name == "dropout" ? "warning" : "")
            // A text that grows is one line.
            let isText = event.textStage != nil
            inner.state.log.note(
                text, level == "error" ? .error : level == "warning" ? .warning : .plain,
                key: isText ? "\(node) \(event.integer("item") ?? 0)" : nil, at: inner.state.status.time)
        }
    }

    /// Takes keys; what they ask of the host comes out of `commands`. [any]
    public func press(_ keys: [KeyPress], at time: Double) -> Bool {
        inner.withLock { inner in
            inner.changedAt = time
            for key in keys {
                guard let command = inner.state.press(key, on: inner.painter.shown) else { continue }
                if command == .quit { return true }
                asked.yield(command)
            }
            return false
        }
    }

    /// What a node has heard is kept under a number. [any]
    public func kept(_ node: String, as number: Int64, at time: Double) {
        inner.withLock { $0.state.dictations[node]?.clear() }
        log("\(node): kept as text \(number)", at: time)
    }

    /// Adds a line to the log. [any]
    public func log(_ text: String, at time: Double) {
        inner.withLock { inner in
            inner.state.log.note(text, at: inner.state.status.time)
            inner.changedAt = time
        }
    }

    /// Takes the terminal's size; another one paints everything anew. [any]
    public func resize(width: Int, height: Int) {
        inner.withLock { inner in
            guard width != inner.width || height != inner.height else { return }
            inner.width = width
            inner.height = height
            inner.painted = false
        }
    }

    /// A cell of the terminal has another size than before, in pixels. [any]
    public func resizeCell(width: Int, height: Int) {
        inner.withLock { inner in
            inner.state.cell = (width, height)
            inner.painter.forget()
            inner.painted = false
        }
    }

    /// The terminal was used by others: the next frame paints everything. [any]
    public func repaint() {
        inner.withLock { inner in
            inner.painter.forget()
            inner.painted = false
        }
    }

    /// The bytes that bring the terminal up to date; none when it is. While nothing changes this costs next to
    /// nothing. [any]
    public func frame(at time: Double) -> [UInt8] {
        inner.withLock { inner in
            if inner.painted && time - inner.changedAt > TerminalView.restTime { return [] }
            inner.painted = true
            let canvas = screen.draw(&inner.state, width: inner.width, height: inner.height, at: time)
            return inner.painter.frame(canvas)
        }
    }
}
