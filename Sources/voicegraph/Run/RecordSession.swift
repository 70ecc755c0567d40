// SPDX-License-Identifier: Apache-2.0
import Config
import Glibc
import Host
import NodeKit
import System
import Terminal

/// A recording that a person looks at: two lines on a terminal, a line a second elsewhere, or events as JSON.
final class RecordSession {
    static let recorder = "take"
    static let meter = "meter"

    private let host: Host
    private let events: Subscription
    private let parts: FaceModel
    private let json: Bool
    /// Whether lines can be drawn over.
    private let isTerminal: Bool
    private var view: RecordingView
    /// Lines that are drawn, and stand where the cursor is.
    private var drawn = 0
    private var isOver = false
    private var problem: String?
    private var takes: [Event] = []
    private var shownAt = 0.0

    init(host: Host, _ parts: FaceModel, events: Subscription, json: Bool) {
        self.host = host
        self.parts = parts
        self.events = events
        self.json = json
        var capabilities = TerminalCapabilities(environment: processEnvironment())
        isTerminal = !json && capabilities.addressable && isatty(STDOUT_FILENO) == 1
        if isTerminal { capabilities.ask() }
        view = RecordingView(capabilities: capabilities)
    }

    /// Shows it until it ends, or somebody ends it.
    func show(until ended: EndFlag) async {
        let keyboard = json ? nil : Keyboard()
        var askedAt = -Double.infinity
        while !isOver, !ended.isSet, !isReaderGone {
            take()
            if monotonicSeconds() - askedAt >= 0.1 {
                askedAt = monotonicSeconds()
                let levels = try? await host.perform("levels", on: Self.recorder)
                if case .number(let seconds)? = levels?["seconds"] { view.update(seconds: seconds) }
            }
            for key in keyboard?.pressed() ?? [] {
                switch RecordKeys.act(key) {
                case .pause: await turn()
                case .finish: isOver = true
                case nil: break
                }
            }
            draw()
            try? await Task.sleep(for: .milliseconds(isTerminal ? 40 : 100))
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
        erase()
        if !json { for take in takes { writeOut(summary(take) + "\n") } }
        if let problem { throw fail(problem) }
    }

    private func take() {
        while let published = events.pollShared() {
            if json, let line = published.line { writeOut(line + "\n") }
            switch published.element {
            case .frame(let frame) where frame.node == Self.meter: view.update(frame, at: monotonicSeconds())
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
            view.update(event)
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

    /// Says above what is drawn what has happened.
    private func say(_ event: Event) {
        guard !json, let text = eventText(event) else { return }
        erase()
        writeOut(text + "\n", to: STDERR_FILENO)
    }

    private func draw() {
        if json { return }
        let now = monotonicSeconds()
        guard isTerminal else {
            guard now - shownAt >= 1 else { return }
            shownAt = now
            writeOut(view.sentence(at: now) + "\n")
            return
        }
        var size = winsize()
        let width = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
        let rows = view.rows(width: width - 1, at: now)
        // Without wrapping, should the terminal be narrower by now.
        writeOut(start + "\u{1B}[?7l" + rows.joined(separator: "\u{1B}[K\r\n") + "\u{1B}[K\u{1B}[?7h")
        drawn = rows.count
    }

    /// To the beginning of what is drawn.
    private var start: String { drawn > 1 ? "\r\u{1B}[\(drawn - 1)A" : "\r" }

    private func erase() {
        guard drawn > 0 else { return }
        writeOut(start + "\u{1B}[J")
        drawn = 0
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
