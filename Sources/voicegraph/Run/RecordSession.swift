// SPDX-License-Identifier: Apache-2.0
import Config
import Glibc
import Host
import NodeKit
import System
import Terminal

/// A recording that a person looks at: a line on a terminal, a line a second elsewhere, or events as JSON.
final class RecordSession {
    static let recorder = "take"

    private let host: Host
    private let events: Subscription
    private let parts: FaceModel
    private let json: Bool
    private let isTerminal = isatty(STDOUT_FILENO) == 1
    private var line: RecordingLine
    private var isOver = false
    private var problem: String?
    private var takes: [Event] = []
    private var shownAt = 0.0

    init(host: Host, _ parts: FaceModel, events: Subscription, json: Bool) {
        self.host = host
        self.parts = parts
        self.events = events
        self.json = json
        let capabilities = TerminalCapabilities(environment: processEnvironment())
        line = RecordingLine(
            unicode: isTerminal && capabilities.unicode, color: isTerminal && capabilities.colors != .none)
    }

    /// Shows it until it ends, or somebody ends it.
    func show(until ended: EndFlag) async {
        let keyboard = isTerminal && !json ? Keyboard() : nil
        while !isOver, !ended.isSet, !isReaderGone {
            take()
            if case .number(let seconds)? = try? await host.perform("levels", on: Self.recorder)["seconds"] {
                line.update(seconds: seconds)
            }
            for key in keyboard?.pressed() ?? [] {
                switch key {
                case " ", "p": await turn()
                case "q", "Q", "\u{4}": isOver = true
                default: break
                }
            }
            draw()
            try? await Task.sleep(for: .milliseconds(100))
        }
        _ = keyboard
    }

    /// Pauses, or goes on.
    private func turn() async {
        if (try? await host.perform("pause", on: Self.recorder)) == nil {
            _ = try? await host.perform("resume", on: Self.recorder)
        }
    }

    /// Says what there is; throws when something was lost.
    func end() throws {
        take()
        if isTerminal, !json { writeOut("\r\u{1B}[K") }
        if !json { for take in takes { writeOut(summary(take) + "\n") } }
        if let problem { throw fail(problem) }
    }

    private func take() {
        while let published = events.pollShared() {
            if json, let line = published.line { writeOut(line + "\n") }
            switch published.element {
            case .frame(let frame): line.update(frame)
            case .event(let event): take(event)
            default: break
            }
        }
    }

    private func take(_ event: Event) {
        switch event.name {
        case HostEvent.log.name where event.text("level") != "debug": say(event)
        case HostEvent.sourceLost.name, HostEvent.sourceBack.name, HostEvent.serverLost.name,
            HostEvent.serverBack.name, HostEvent.dropout.name:
            say(event)
        case _ where parts.isOwn(event) && event.node == Self.recorder: take(ofRecorder: event)
        default: break
        }
    }

    private func take(ofRecorder event: Event) {
        if parts.state(event) == .records {
            line.update(event)
            if ["finished", "failed"].contains(event.text("state")) { isOver = true }
        }
        switch event.type?.kind {
        case .failure: problem = "the recording ended: \(event.text("reason") ?? "")"
        case .loss:
            say(event)
            if event.text("cause") == "disk" { problem = "the disk was too slow: frames are missing" }
        default: if event.type?.role == .take(.whole) { takes.append(event) }
        }
    }

    /// Says above the line what has happened.
    private func say(_ event: Event) {
        guard !json, let text = eventText(event) else { return }
        writeOut((isTerminal ? "\r\u{1B}[K" : "") + text + "\n", to: STDERR_FILENO)
    }

    private func draw() {
        if json { return }
        let now = monotonicSeconds()
        if isTerminal {
            var size = winsize()
            let width = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
            writeOut("\r" + line.line(width: width - 1) + "\u{1B}[K")
        } else if now - shownAt >= 1 {
            shownAt = now
            writeOut(line.line(width: 40) + "\n")
        }
    }

    private func summary(_ take: Event) -> String {
        let fields = Settings(take.fields)
        var parts = ["\(fixed(fields.number("seconds") ?? 0, 1)) s"]
        if let peak = fields.number("peak") {
            parts.append("peak \(fixed(peak, 1)) dBFS")
        } else {
            parts.append("silence")
        }
        if let loudness = fields.number("loudness") { parts.append("\(fixed(loudness, 1)) LUFS") }
        if let clipped = fields.integer("clipped"), clipped > 0 { parts.append("\(clipped) samples clipped") }
        return "\(take.text("path") ?? ""): " + parts.joined(separator: ", ")
    }
}
