// SPDX-License-Identifier: Apache-2.0
import Drivers
import Host
import NodeKit
import Picture

/// One plain line a second, for output that is not a terminal: logs, pipes.
public struct StatusLine: Sendable {
    private var loudest: [String: Float] = [:]
    private var order: [String] = []

    /// Nothing seen yet.
    public init() {}

    /// Whether it shows anything of what was published: series other than levels have no place in it.
    public static func shows(_ published: Published) -> Bool {
        if case .frame(let frame) = published { !frame.peak.isEmpty } else { true }
    }

    /// Takes levels; the loudest since the last line is shown.
    public mutating func update(_ frame: SeriesFrame) {
        if frame.peak.isEmpty { return }
        if loudest[frame.node] == nil, !order.contains(frame.node) { order.append(frame.node) }
        let peak = frame.peak.reduce(0) { $1.isNaN ? $0 : max($0, $1) }
        loudest[frame.node] = max(loudest[frame.node] ?? 0, peak)
    }

    /// Forgets all nodes but these.
    public mutating func keep(_ nodes: Set<String>) {
        order.removeAll { !nodes.contains($0) }
        loudest = loudest.filter { nodes.contains($0.key) }
    }

    /// The line, and a fresh start for the next. Only ASCII but for names.
    public mutating func line(_ status: Status) -> String {
        var parts = [clock(status.time)]
        parts.append("dsp \(fixed(status.load * 100, 1)) %")
        parts.append("xruns \(status.xruns)")
        for node in order {
            parts.append("\(printable(node)) \(decibelText(decibels(loudest[node] ?? 0), unicode: false)) dBFS")
        }
        if !status.degraded.isEmpty {
            parts.append("degraded: " + status.degraded.keys.sorted().map(printable).joined(separator: ", "))
        }
        loudest = [:]
        return parts.joined(separator: "  ")
    }

    /// The same in sentences, for who is read to; without a fresh start.
    public func sentences(_ status: Status) -> String {
        var parts = [
            "\(clock(status.time)) played, load \(fixed(status.load * 100, 0)) percent, "
                + (status.xruns == 0 ? "no dropouts" : "\(status.xruns) dropout\(status.xruns == 1 ? "" : "s")")
        ]
        for node in order {
            let level = decibels(loudest[node] ?? 0)
            parts.append("\(printable(node)) \(level > -120 ? "at \(fixed(level, 0)) dBFS" : "is silent")")
        }
        for (node, reason) in status.degraded.sorted(by: { $0.key < $1.key }) {
            parts.append("\(printable(node)) is degraded: \(printable(reason))")
        }
        if !status.notice.isEmpty { parts.append(printable(status.notice)) }
        return parts.joined(separator: ". ") + "."
    }

    /// Forgets how loud it was, as `line` does.
    public mutating func forgetLevels() { loudest = [:] }

    /// What is said once at the start: what plays it and how the kernel runs it, and a line for each thing that is not
    /// good enough, with what to do.
    public static func opening(_ status: Status, graph: String) -> String {
        let line =
            "\(printable(graph)): \(driverText(status)), \(rateText(status.rate)), \(status.block) frames"
            + (status.threads > 1 ? ", \(status.threads) threads" : "")
        let more = [printable(status.notice), status.scheduling.advice].filter { !$0.isEmpty }
        return ([line + schedulingText(status.scheduling)] + more).joined(separator: "\n")
    }
}

/// ", SCHED_FIFO 70, 3 MiB locked beside 102 MiB of the server's"; nothing while there is no audio thread.
func schedulingText(_ scheduling: Scheduling) -> String {
    guard scheduling.policy != .unknown else { return "" }
    let locked = scheduling.lockedMemory
    let memory =
        locked == 0
        ? "memory not locked" : locked < 1 << 20 ? "\(locked >> 10) KiB locked" : "\(locked >> 20) MiB locked"
    let shared = scheduling.sharedMemory >> 20
    return ", \(scheduling.text), \(memory)" + (shared > 0 ? " beside \(shared) MiB of the server's" : "")
}

/// "48 kHz", "44.1 kHz".
func rateText(_ rate: Double) -> String {
    let kilo = fixed(rate / 1000, 3)
    var text = Substring(kilo)
    while text.hasSuffix("0") { text = text.dropLast() }
    if text.hasSuffix(".") { text = text.dropLast() }
    return "\(text) kHz"
}

/// The driver and its server: "jack (default)".
func driverText(_ status: Status) -> String {
    printable(status.driver) + (serverText(status).map { " (\($0))" } ?? "")
}

/// Which server it is; nil without one.
func serverText(_ status: Status) -> String? {
    guard !status.server.isEmpty else { return nil }
    return printable(status.server) + (status.ownServer ? ", own" : "")
}
