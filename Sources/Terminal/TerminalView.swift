// SPDX-License-Identifier: Apache-2.0
import Graph
import GraphFile
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
        /// What is drawn of all but pictures, meters and nodes; nil: something of it has changed.
        var still: Screen.Still?
        var loadShownAt = -Double.infinity
        var painted = false
        /// Every node of the graph, and those that it had once.
        var names: Set<String>
        var gone: Set<String> = []
        /// What was measured for it at last.
        var series: Set<String> = []

        /// Something but levels has changed.
        mutating func change(at time: Double) {
            changedAt = time
            still = nil
        }

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

    /// A view of a graph; nodes that measure levels are shown in the order of the file, others as they turn up.
    public init(
        graph: GraphDescription, parts: FaceModel, capabilities: TerminalCapabilities, width: Int, height: Int
    ) {
        screen = Screen(theme: Theme(capabilities))
        unicode = capabilities.unicode
        (commands, asked) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(64))
        var state = FaceState(graph: graph.name, nodes: [])
        state.take(graph, parts, gone: [])
        inner = Lock(
            Inner(
                state: state, painter: Painter(capabilities), width: width, height: height,
                names: Set(graph.nodes.map(\.name))))
    }

    /// Takes a graph that has changed: nodes that are gone are shown no more, and their last levels, which may still
    /// come, are not either. Those that stay as they were go on. [any]
    public func update(graph: GraphDescription, parts: FaceModel, at time: Double) {
        inner.withLock { inner in
            let names = Set(graph.nodes.map(\.name))
            inner.gone = inner.gone.union(inner.names).subtracting(names)
            inner.names = names
            inner.state.take(graph, parts, gone: inner.gone)
            inner.change(at: time)
        }
    }

    /// The series on request that it shows, as `Subscription.ask` takes them; nil: the same as at the last call. [any]
    public func wantedSeries() -> Set<String>? {
        inner.withLock { inner in
            let wanted = Set(inner.state.nodes.flatMap(\.series)).union([Host.output.name])
            guard wanted != inner.series else { return nil }
            inner.series = wanted
            return wanted
        }
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
            if index == nil { inner.change(at: time) } else if changed { inner.changedAt = time }
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
                inner.change(at: time)
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
            inner.change(at: time)
        }
    }

    /// Takes an event. [any]
    public func update(event: Event, at time: Double) {
        inner.withLock { inner in
            inner.change(at: time)
            inner.state.take(event, unicode: unicode, at: time)
            let kind = event.type?.kind
            let isTrouble = kind == .failure || kind == .loss
            // What is spoken is shown in a place of its own.
            let parts = inner.state.parts
            let isShown = isTrouble || !parts.has(.speaks, event.node) || !parts.isOwn(event)
            guard isShown, let text = eventText(event) else { return }
            let level = event.text("level") ?? (kind == .failure ? "error" : isTrouble ? "warning" : "")
            // A text that grows is one line.
            let isText = event.textStage != nil
            inner.state.log.note(
                text, level == "error" ? .error : level == "warning" ? .warning : .plain,
                key: isText ? "\(event.node ?? "") \(event.integer("item") ?? 0)" : nil, at: inner.state.status.time)
        }
    }

    /// Takes keys; what they ask of the host comes out of `commands`. [any]
    public func press(_ keys: [KeyPress], at time: Double) -> Bool {
        inner.withLock { inner in
            inner.change(at: time)
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
            inner.change(at: time)
        }
    }

    /// Takes the terminal's size; another one paints everything anew. [any]
    public func resize(width: Int, height: Int) {
        inner.withLock { inner in
            guard width != inner.width || height != inner.height else { return }
            inner.width = width
            inner.height = height
            inner.painted = false
            inner.still = nil
        }
    }

    /// A cell of the terminal has another size than before, in pixels. [any]
    public func resizeCell(width: Int, height: Int) {
        inner.withLock { inner in
            inner.state.cell = (width, height)
            inner.painter.forget()
            inner.painted = false
            inner.still = nil
        }
    }

    /// The terminal was used by others: the next frame paints everything. [any]
    public func repaint() {
        inner.withLock { inner in
            inner.painter.forget()
            inner.painted = false
            inner.still = nil
        }
    }

    /// The bytes that bring the terminal up to date; none when it is. While nothing changes this costs next to
    /// nothing. [any]
    public func frame(at time: Double) -> [UInt8] {
        inner.withLock { inner in
            if inner.painted && time - inner.changedAt > TerminalView.restTime { return [] }
            inner.painted = true
            let canvas = screen.draw(
                &inner.state, &inner.still, width: inner.width, height: inner.height, at: time)
            return inner.painter.frame(canvas)
        }
    }
}
