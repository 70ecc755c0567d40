// SPDX-License-Identifier: Apache-2.0
import GraphFile
import Host
import NodeKit
import Picture

/// How a node says that it wants to be drawn.
struct NodeLook: Sendable, Equatable {
    var style: PictureStyle
    var preset: Preset?
    var wave: WaveForm
    var times: LevelTimes

    /// What an event that tells a style says.
    init(_ event: Event) {
        let fields = Settings(event.fields)
        style = PictureStyle(named: fields.string("style") ?? "")
        preset = fields.string("preset").map { Preset(named: $0) }
        wave = WaveForm(fields)
        times = LevelTimes(fields)
    }
}

/// One node that has levels to show.
struct NodeFace: Sendable {
    var name: String
    /// How it is drawn; nil: meters only.
    var style: PictureStyle?
    var preset: Preset?
    var wave: WaveForm { look?.wave ?? WaveForm() }
    /// What it said; keys may have changed style and colours since.
    let look: NodeLook?
    var motion: PictureMotion

    init(name: String, look: NodeLook? = nil) {
        self.name = name
        self.look = look
        style = look?.style
        preset = look?.preset
        motion = PictureMotion(times: look?.times ?? LevelTimes())
    }

    var meters: [Ballistics] { motion.meters }

    /// Takes what was measured; false: it says what was known already.
    mutating func update(_ frame: SeriesFrame, at time: Double) -> Bool {
        let known = meters.count
        var isNews = false
        for row in frame.rows where motion.take(row.name, row.values, at: time) { isNews = true }
        return isNews || meters.count != known
    }

    mutating func forgetClips() { motion.forgetClips() }

    /// The series on request that its picture needs.
    var series: [String] { (style?.series ?? []).map { "\(name).\($0)" } }
}

extension WaveForm {
    /// What a node tells of it.
    init(_ settings: Settings) {
        self.init(
            frequency: Float(settings.number("frequency") ?? 1.5), follows: settings.bool("follow") ?? false,
            density: Float(settings.number("density") ?? 1))
    }
}

extension LevelTimes {
    /// What a node tells of them.
    init(_ settings: Settings) {
        self.init()
        level = settings.number("level_time") ?? level
        view = settings.number("view_time") ?? view
        speaking = settings.number("speaking_time") ?? speaking
        end = settings.number("end_time") ?? end
    }
}

/// All that the screen shows.
struct FaceState: Sendable {
    var graph: String
    /// Those that have a picture or meters.
    var nodes: [NodeFace]
    /// All of them, in the order of the file.
    var graphNodes: [GraphNode] = []
    /// What they are for people.
    var parts = FaceModel()
    /// What keys have changed.
    var keys = FaceKeys()
    /// How recorders and who answers stand, by node.
    var recorders: [String: RecorderFace] = [:]
    var agents: [String: AgentFace] = [:]
    /// What is heard, by node.
    var dictations: [String: Dictation] = [:]
    /// Whether who speaks is held.
    var isSpeechPaused = false
    var status = Status()
    /// The size of a cell in pixels, where it is another than at the start.
    var cell: (width: Int, height: Int)?
    var speech: SpeechFace?
    var speaking: Set<String> = []
    var log = FaceLog()
    /// Where browsers find the graph, and whether those of other machines do; empty: nowhere.
    var link = ""
    var isLinkRemote = false

    init(graph: String, nodes: [NodeFace]) {
        self.graph = graph
        self.nodes = nodes
    }

    /// Takes a graph: what stays as it was goes on; nodes that are `gone` are shown no more.
    mutating func take(_ graph: GraphDescription, _ parts: FaceModel, gone: Set<String>) {
        self.parts = parts
        let (known, before) = (nodes, graphNodes)
        let listed = graph.nodes.filter { parts[$0.name]?.hasLevels == true }.map { node in
            known.first { $0.name == node.name && ($0.look == nil || parts.has(.shows, node.name)) }
                ?? NodeFace(name: node.name)
        }
        nodes =
            listed
            + known.filter { one in
                !gone.contains(one.name) && !listed.contains { $0.name == one.name } && one.look == nil
            }
        graphNodes = graph.nodes.map { node in
            var shown = GraphNode(node, in: graph, parts)
            if let old = before.first(where: { $0.name == node.name }) {
                (shown.level, shown.load) = (old.level, old.load)
            }
            return shown
        }
        speaking.subtract(gone)
        dictations = dictations.filter { !gone.contains($0.key) }
        recorders = recorders.filter { !gone.contains($0.key) }
        agents = agents.filter { !gone.contains($0.key) }
        if let node = speech?.node, gone.contains(node) { speech = nil }
    }

    /// Takes what an event tells of who speaks, is heard, records or is drawn.
    mutating func take(_ event: Event, unicode: Bool, at time: Double) {
        if event.name == HostEvent.web.name {
            (link, isLinkRemote) = (event.text("link") ?? "", event.fields["remote"] == .bool(true))
        }
        guard let node = event.node else { return }
        switch parts.state(event) {
        case .speaks: take(speech: event, of: node, unicode: unicode)
        case .records: recorders[node, default: .init()].take(event, at: time)
        case .transcribes: dictations[node, default: .init()].take(state: event.text("state"))
        case .shows:
            let look = NodeLook(event)
            if let index = nodes.firstIndex(where: { $0.name == node }), nodes[index].look != look {
                nodes[index] = NodeFace(name: node, look: look)
            }
        case .converses: agents[node, default: .init()].take(event)
        case nil: break
        }
        if event.textStage != nil, parts.has(.transcribes, node) { dictations[node, default: .init()].take(event) }
        guard event.type?.kind == .word, speech?.node == node, let offset = event.integer("offset") else { return }
        speech?.say(offset: offset, length: event.integer("length") ?? 1)
    }

    private mutating func take(speech event: Event, of node: String, unicode: Bool) {
        isSpeechPaused = event.fields["paused"] == .bool(true)
        guard event.fields["speaking"] == .bool(true) else {
            speaking.remove(node)
            if speech?.node == node { speech?.active = false }
            return
        }
        speaking.insert(node)
        let item = event.integer("item")
        if speech?.node != node || speech?.active == false || speech?.item != item {
            speech = SpeechFace(node: node, item: item, text: event.text("text") ?? "", unicode: unicode)
        }
    }

    var degraded: [(name: String, reason: String)] {
        status.degraded.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
