// SPDX-License-Identifier: Apache-2.0
import Foundation
import Graph
import Host
import NodeKit

@testable import Terminal

/// A graph with a meter and a visualizer.
func sampleGraph(style: String = "orb", preset: String? = nil) -> GraphDescription {
    var entries = ["style": Entry(.string(style))]
    if let preset { entries["preset"] = Entry(.string(preset)) }
    return GraphDescription(
        name: "voice",
        nodes: [
            NodeDescription(name: "tts", type: "tts"), NodeDescription(name: "meter", type: "meter"),
            NodeDescription(name: "orb", type: "visualizer", entries: entries),
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
        graph: sampleGraph(style: style, preset: preset), capabilities: capabilities, width: width, height: height)
    var status = sampleStatus()
    if degraded { status.degraded = ["denoise": "no plugin http://example.org/rnnoise; install noise-repellent"] }
    view.update(status: status, at: 7)
    view.log("jack: connected voice:speakers_1 to system:playback_1", at: 7)
    view.log("jack: connected voice:speakers_2 to system:playback_2", at: 7)
    let text =
        "Hello, this is a glowing voice orb. It listens, it speaks, and everything you hear runs through one graph."
    view.update(event: Event("speech.started", node: "tts", fields: ["text": .string(text)]), at: 7.5)
    view.update(
        event: Event("speech.word", node: "tts", fields: ["offset": .integer(17), "length": .integer(7)]), at: 9)
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

/// All types of events there are, by their names.
private let eventTypes: [String: EventType] = {
    let catalog = NodeRegistry(search: .standard()).fullCatalog()
    let ofNodes = catalog.types.keys.sorted().flatMap { catalog.descriptor($0)?.events ?? [] }
    return Dictionary((HostEvent.all + ofNodes).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
}()

/// An event as it is published, with its type.
func declared(_ event: Event) -> Event {
    guard let type = eventTypes[event.name] else { return event }
    return Event(type, node: event.node, time: event.time, fields: event.fields)
}
