// SPDX-License-Identifier: Apache-2.0
import Foundation
import Graph
import GraphFile
import Host
import NodeKit

@testable import Terminal

/// A graph with a meter and a visualizer.
func sampleGraph() -> GraphDescription {
    GraphDescription(
        name: "voice",
        nodes: [
            NodeDescription(name: "tts", type: "tts"), NodeDescription(name: "meter", type: "meter"),
            NodeDescription(name: "orb", type: "visualizer"),
            NodeDescription(name: "speakers", type: "output"),
        ])
}

func sampleStatus() -> Status {
    var status = Status()
    status.driver = "jack"
    status.server = "default"
    status.client = "voice"
    status.rate = 48000
    status.block = 128
    status.load = 0.034
    status.time = 12.5
    return status
}

/// Runs a scene: speech that is 2.5 seconds old at time 10.
func scene(
    _ capabilities: TerminalCapabilities, width: Int, height: Int, style: String = "orb", preset: String? = nil,
    degraded: Bool = true, level: Float = 0.55
) -> TerminalView {
    let view = TerminalView(
        graph: sampleGraph(), capabilities: capabilities, width: width, height: height)
    view.look(style, preset, at: 7)
    var status = sampleStatus()
    if degraded { status.degraded = ["denoise": "no plugin http://example.org/rnnoise; install noise-repellent"] }
    view.update(status: status, at: 7)
    view.log("jack: connected voice:speakers_1 to system:playback_1", at: 7)
    view.log("jack: connected voice:speakers_2 to system:playback_2", at: 7)
    let text =
        "Hello, this is a glowing voice orb. It listens, it speaks, and everything you hear runs through one graph."
    view.speak(text, at: 7.5)
    view.word(17, 7, at: 9)
    for step in 0...150 {
        let time = 7.5 + Double(step) / 60
        let swing = 0.5 + 0.5 * Float(sin(time * 9))
        let peak = level * 1.5 * swing + 0.05
        view.update(
            levels: SeriesFrame(
                node: "meter", time: time, peak: [peak, peak * 0.7], rms: [peak * 0.4, peak * 0.3], orb: level),
            at: time)
        view.update(
            levels: SeriesFrame(node: "orb", time: time, peak: [step == 100 ? 1 : peak], rms: [peak * 0.4], orb: level),
            at: time)
        if step % 10 == 0 { _ = view.frame(at: time) }
    }
    view.repaint()
    return view
}

/// Writes bytes into the folder named by VOICEGRAPH_LOOK, if there is one: to be shown by a real terminal.
func look(_ bytes: [UInt8], _ name: String) throws {
    guard let folder = ProcessInfo.processInfo.environment["VOICEGRAPH_LOOK"] else { return }
    try Data(bytes).write(to: URL(fileURLWithPath: folder).appendingPathComponent(name))
}

private let catalog = NodeRegistry(search: .standard()).fullCatalog()

/// What the nodes of a graph are for people, by their types.
func parts(of graph: GraphDescription) -> FaceModel {
    FaceModel(
        graph.nodes.compactMap { node in
            guard let type = catalog.types[node.type]?.type, let descriptor = catalog.descriptor(node.type) else {
                return nil
            }
            return FaceModel.Part(
                node: node.name, declarations: NodeDeclarations(type), parameters: descriptor.layout.parameters)
        })
}

extension TerminalView {
    /// A view of a graph that plays, as `run` makes it.
    convenience init(graph: GraphDescription, capabilities: TerminalCapabilities, width: Int, height: Int) {
        self.init(graph: graph, parts: parts(of: graph), capabilities: capabilities, width: width, height: height)
    }

    func update(graph: GraphDescription, at time: Double) {
        update(graph: graph, parts: parts(of: graph), at: time)
    }

    /// A node speaks a text from now on; nil: it is silent.
    func speak(_ text: String?, _ node: String = "tts", at time: Double) {
        let fields: [String: SettingValue] = [
            "speaking": .bool(text != nil), "paused": .bool(false), "item": .integer(Int64(text?.hashValue ?? 0)),
            "text": .string(text ?? ""),
        ]
        update(event: declared(Event("speech.state", node: node, fields: fields)), at: time)
    }

    /// A word of that text is heard.
    func word(_ offset: Int64, _ length: Int64, _ node: String = "tts", at time: Double) {
        let fields: [String: SettingValue] = ["offset": .integer(offset), "length": .integer(length)]
        update(event: declared(Event("speech.word", node: node, fields: fields)), at: time)
    }

    /// The node "orb" says how it wants to be drawn.
    func look(_ style: String, _ preset: String? = nil, follow: Bool = false, at time: Double) {
        var fields: [String: SettingValue] = ["style": .string(style), "follow": .bool(follow)]
        fields["preset"] = preset.map { .string($0) }
        update(event: declared(Event("visualizer", node: "orb", fields: fields)), at: time)
    }
}

/// All types of events there are, by their names.
private let eventTypes: [String: EventType] = {
    let ofNodes = catalog.types.keys.sorted().flatMap { catalog.descriptor($0)?.events ?? [] }
    return Dictionary((HostEvent.all + ofNodes).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
}()

/// An event as it is published, with its type.
func declared(_ event: Event) -> Event {
    guard let type = eventTypes[event.name] else { return event }
    return Event(type, node: event.node, time: event.time, fields: event.fields)
}
