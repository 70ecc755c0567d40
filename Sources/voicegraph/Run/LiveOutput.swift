// SPDX-License-Identifier: Apache-2.0
import Archive
import ArgumentParser
import Config
import Glibc
import Graph
import GraphFile
import Host
import NodeKit
import System
import Terminal

/// How a terminal shows pictures.
enum PictureChoice: String, CaseIterable, ExpressibleByArgument {
    case auto, kitty, sixel, cells
}

/// What a run shows: the terminal view, JSON events, or a line a second.
final class LiveOutput: Sendable {
    private enum Face {
        case view(TerminalDevice, TerminalView)
        case json(EventFilter)
        case lines
    }

    private let face: Face
    private let keyboard: Keyboard?
    private let graph: GraphDescription
    private let line = Lock(StatusLine())
    private let timingsAt = Lock(-Double.infinity)
    /// Only what happens is told, and how it is where that is asked for.
    private let isPlain: Bool

    /// The terminal view if standard output is a terminal that can show it, and `plain` does not forbid it.
    init(
        _ graph: GraphDescription, _ parts: FaceModel, json: EventFilter?, plain: Bool, pictures: PictureChoice
    ) {
        self.graph = graph
        isPlain = plain
        let environment = processEnvironment()
        var capabilities = TerminalCapabilities(environment: environment)
        let hasLines = plain || !capabilities.addressable
        // A terminal on which nothing can be drawn still has keys.
        keyboard = json == nil && hasLines && isatty(STDOUT_FILENO) == 1 ? Keyboard() : nil
        if json == nil, !hasLines { capabilities.ask(for: pictures, environment) }
        if let json {
            face = .json(json)
        } else if !hasLines, let device = TerminalDevice(capabilities: capabilities) {
            let (width, height) = device.size
            face = .view(
                device,
                TerminalView(graph: graph, parts: parts, capabilities: capabilities, width: width, height: height))
        } else {
            face = .lines
        }
    }

    func begin(_ status: Status) {
        switch face {
        case .view(_, let view): view.update(status: status, at: monotonicSeconds())
        case .json(let filter) where filter.wants(HostEvent.running.name):
            writeOut(EventJSON.encode(status) + "\n")
        case .json: break
        case .lines:
            let keys = isPlain && keyboard != nil ? "\ns or Enter tells how it is, q quits" : ""
            writeOut(StatusLine.opening(status, graph: graph.name) + keys + "\n")
        }
    }

    /// Draws what comes until it is cancelled, where it is a view; true: the user asks to quit.
    func draw(_ events: Subscription, framesPerSecond: Double) async -> Bool {
        guard case .view(let device, let view) = face else { return false }
        return await device.show(view, framesPerSecond: framesPerSecond) { [self] in
            while let publication = events.pollShared() { show(publication) }
            if let series = view.wantedSeries() { events.ask(for: series) }
        }
    }

    /// Tells what comes until nothing more does, where it is no view.
    func tell(_ events: Subscription) async {
        if case .view = face { return }
        while let publication = await events.nextShared() { show(publication) }
    }

    /// Takes keys where there is no view, but a keyboard; true: the user asks to quit. Enter and s tell how it is.
    func takeKeys(_ status: Status) -> Bool {
        guard case .lines = face, let keyboard else { return false }
        for key in keyboard.pressed() {
            switch key {
            case .text("q"), .text("Q"): return true
            case .text("s"), .text("S"), .enter:
                let text = line.withLock { line in
                    defer { line.forgetLevels() }
                    return line.sentences(status)
                }
                writeOut(text + "\n")
            default: break
            }
        }
        return false
    }

    /// Does what keys ask of the host, until it is cancelled.
    func obey(_ host: Host) async {
        guard case .view(_, let view) = face else { return }
        for await command in view.commands {
            do {
                if case .keep(let node, let text) = command {
                    let graph = await host.description?.name ?? node
                    let number = try Archive.add(text, speaker: "you", graph: graph)
                    view.kept(node, as: number, at: monotonicSeconds())
                } else {
                    try await Author.$current.withValue("terminal") { try await host.obey(command) }
                }
            } catch { view.log("\(error)", at: monotonicSeconds()) }
        }
    }

    private func show(_ publication: Publication) {
        let published = publication.element
        let now = monotonicSeconds()
        switch (face, published) {
        case (.view(_, let view), .frame(let frame)): view.update(levels: frame, at: now)
        case (.view(_, let view), .event(let event)): view.update(event: event, at: now)
        case (.json(let filter), _): if let line = filter.line(publication) { writeOut(line + "\n") }
        case (.lines, .frame(let frame)): line.withLock { $0.update(frame) }
        case (.lines, .event(let event)):
            // A text that grows is told when it is whole.
            if !event.isPartialText, let text = eventText(event) { writeOut(printableLines(text) + "\n") }
        default: break
        }
    }

    /// The graph has changed.
    func update(_ graph: GraphDescription, _ parts: FaceModel) {
        if case .view(_, let view) = face { view.update(graph: graph, parts: parts, at: monotonicSeconds()) }
        line.withLock { $0.keep(Set(graph.nodes.map(\.name))) }
    }

    func status(_ status: Status, everySecond: Bool) {
        switch face {
        case .view(_, let view): view.update(status: status, at: monotonicSeconds())
        case .json(let filter) where everySecond && filter.wants(HostEvent.status.name):
            writeOut(EventJSON.encode(status, event: HostEvent.status.name) + "\n")
        case .lines where everySecond && !isPlain: writeOut(line.withLock { $0.line(status) } + "\n")
        default: break
        }
    }

    /// What each node takes of a block is asked for twice a second where it is shown.
    func showTimings(of host: Host) async {
        guard case .view(_, let view) = face else { return }
        let now = monotonicSeconds()
        let isDue = timingsAt.withLock { last in
            guard now - last >= 0.5 else { return false }
            last = now
            return true
        }
        if isDue { view.update(timings: await host.timings, at: now) }
    }

    /// Gives the terminal back.
    func close() { if case .view(let device, _) = face { device.close() } }

    /// The last words: time, dropouts and their causes, and what each node took of a block.
    func report(_ status: Status, _ timings: [NodeTiming], _ dropouts: [Dropout], dropped: Int) {
        if case .json(let filter) = face {
            guard filter.wants(HostEvent.finished.name) else { return }
            let nodes = timings.map { ($0.node, SettingValue.table($0.fields)) }
            let told: Set = [
                "driver", "server", "notice", "xruns", "blocks", "load", "dropouts", "unrecorded", "lost_midi",
                "scheduling",
            ]
            var fields = Dictionary(
                uniqueKeysWithValues: status.fields.filter { told.contains($0.key) }.map { ($0.key, $0.value) })
            fields["events_dropped"] = .integer(Int64(dropped))
            fields["recent_dropouts"] = .list(dropouts.map { .table($0.fields) })
            fields["nodes"] = .table(Dictionary(uniqueKeysWithValues: nodes))
            writeOut(
                EventJSON.encode(
                    Event(HostEvent.finished.name, time: status.time, wallTime: calendarTime(), fields: fields)) + "\n")
        } else {
            let text = FinalReport.text(status, timings, dropouts, dropped: dropped)
            // A terminal that takes nothing any more must not hold up the end.
            if case .view(let device, _) = face { device.print(text) } else { writeOut(text) }
        }
    }
}

extension Host {
    /// Does what a key of the terminal view asks.
    fileprivate func obey(_ command: FaceCommand) async throws {
        switch command {
        case .mute(let node, let isOn): try await mute(node, isOn)
        case .bypass(let node, let isOn): try await bypass(node, isOn)
        case .gain(let node, let decibels):
            guard let gain = try parameters(of: node).first(where: { $0.parameter.key == FaceModel.gain }) else {
                throw Fault("'\(node)' has no gain to turn", hint: "choose a node that has one")
            }
            let range = gain.parameter.range
            try set(
                node, FaceModel.gain, to: min(max(gain.value + Float(decibels), range.lowerBound), range.upperBound))
        case .say(let text): try await say(text)
        case .ask(let node, let text): _ = try await perform(VG_ACTION_SEND, on: node, ["text": .string(text)])
        case .perform(let node, let action): _ = try await perform(action, on: node)
        case .quit, .keep: break
        }
    }
}

extension TerminalCapabilities {
    /// Asks the terminal what it can show; pixels only where they are wanted, and are likely to be cheap.
    fileprivate mutating func ask(for pictures: PictureChoice, _ environment: [String: String]) {
        // The console of Linux would write the question down.
        let isDistant = environment["SSH_CONNECTION"]?.isEmpty == false || environment["TERM"] == "linux"
        let isAsked = pictures == .kitty || pictures == .sixel || pictures == .auto && !isDistant && colors != .none
        ask(images: isAsked)
        guard let forced = Graphics.Encoding(rawValue: pictures.rawValue) else { return }
        graphics =
            graphics.map { Graphics(forced, cellWidth: $0.cellWidth, cellHeight: $0.cellHeight) } ?? Graphics(forced)
    }
}
