// SPDX-License-Identifier: Apache-2.0
import Glibc
import Host
import Terminal

/// What a run shows: the terminal view, JSON events, or a line a second.
enum LiveOutput {
    case view(TerminalDevice, TerminalView)
    case json
    case lines

    func begin(_ running: RunningGraph) {
        switch self {
        case .view(_, let view): view.update(status: running.status, at: TerminalDevice.now())
        case .json: writeOut(EventJSON.encode(running.status, pid: getpid()) + "\n")
        case .lines: writeOut(StatusLine.opening(running.status, graph: running.description.name) + "\n")
        }
    }

    func show(_ published: Published, _ line: inout StatusLine) {
        let now = TerminalDevice.now()
        switch (self, published) {
        case (.view(_, let view), .levels(let frame)): view.update(levels: frame, at: now)
        case (.view(_, let view), .event(let event)): view.update(event: event, at: now)
        case (.json, .event(let event)): writeOut(EventJSON.encode(event) + "\n")
        case (.json, .levels(let frame)): writeOut(EventJSON.encode(frame) + "\n")
        case (.lines, .event(let event)): if let text = eventText(event) { writeOut(text + "\n") }
        default: break
        }
    }

    func status(_ status: Status, everySecond: Bool) {
        switch self {
        case .view(_, let view): view.update(status: status, at: TerminalDevice.now())
        case .lines where everySecond:
            var line = StatusLine()
            if let text = line.line(status) as String? { writeOut(text + "\n") }
        default: break
        }
    }

    /// The last words: time, xruns, and what each node took.
    func report(_ running: RunningGraph) {
        let status = running.status
        if case .json = self {
            var fields: [String: SettingValue] = [
                "xruns": .integer(Int64(status.xruns)), "blocks": .integer(Int64(status.blocks)),
                "load": .number(status.load),
            ]
            var nodes: [String: SettingValue] = [:]
            for timing in running.timings {
                nodes[timing.node] = .table([
                    "average_us": .number(timing.average * 1e6), "maximum_us": .number(timing.maximum * 1e6),
                ])
            }
            fields["nodes"] = .table(nodes)
            writeOut(EventJSON.encode(Event("finished", time: status.time, fields: fields)) + "\n")
            return
        }
        var text = "\(status.blocks) blocks, \(status.xruns) xruns\n"
        for timing in running.timings {
            let average = Double(Int(timing.average * 1e7)) / 10
            let maximum = Double(Int(timing.maximum * 1e7)) / 10
            text += "  \(timing.node): \(average) us a block, at most \(maximum) us\n"
        }
        writeOut(text)
    }
}

/// Writes to standard output; a reader that has gone away ends the output, not the run.
func writeOut(_ text: String, to descriptor: Int32 = STDOUT_FILENO) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
        let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        guard written > 0 else { return }
        rest = rest.dropFirst(written)
    }
}
