// SPDX-License-Identifier: Apache-2.0
import NodeKit
import TestSupport

@testable import Host

/// Turns its own parameter when it is asked to.
final class Knob: Node {
    static let descriptor = NodeDescriptor(
        "knob", "for tests", ports: Port.audio(VG_INPUT, channels: 1) + Port.audio(VG_OUTPUT, channels: 1),
        parameters: [
            Parameter("amount", "how much", 0...1, default: 0),
            Parameter("ring", "once", 0...1, default: 0, flags: VG_PARAM_TOGGLE | VG_PARAM_ABRUPT | VG_PARAM_TRIGGER),
        ],
        settings: [Setting("make", VG_SET_INTEGER, "with another number it is another node")],
        actions: [
            Action("twist", "turn it", arguments: [Setting("to", VG_SET_NUMBER, "how much then", required: true)])
        ], flags: VG_IN_PLACE, process: passing)

    private let host: NodeHost
    init(settings: Settings, host: NodeHost) throws(NodeError) { self.host = host }
    func prepare(_ preparation: Preparation) throws(NodeError) -> NoProcessor { NoProcessor() }

    func perform(_ action: String, _ arguments: Settings, _ call: ActionCall) throws(NodeError) {
        guard host.setParameter(0, to: Float(arguments.number("to") ?? 0)) else { throw NodeError("it does not turn") }
    }
}

@_noLocks
private func passing(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    for frame in 0..<cycle.frames { io.output(0)[frame] = io.input(0)[frame] }
}

extension Event {
    /// What it says was turned or switched, in words; nil: nothing.
    var turned: String? {
        let value = fields["value"].map { EventJSON.value($0, quoted: false) } ?? "nothing"
        let (name, author) = (node ?? "?", text("by") ?? "nobody")
        return switch self.name {
        case HostEvent.parameterChanged.name: "\(name).\(text("parameter") ?? "?") \(value) by \(author)"
        case HostEvent.settingChanged.name: "\(name).\(text("setting") ?? "?") is \(value) by \(author)"
        case HostEvent.switched.name:
            "\(name)\(fields["mute"] == .bool(true) ? " muted" : "")"
                + "\(fields["bypass"] == .bool(true) ? " bypassed" : "") by \(author)"
        default: nil
        }
    }
}

extension Subscription {
    /// What was turned and switched since the last call, in words.
    func turned() -> [String] {
        drain().compactMap { if case .event(let event) = $0 { event.turned } else { nil } }
    }

    /// The next so many things that are turned or switched.
    func turned(next count: Int) async -> [String] {
        var found: [String] = []
        while found.count < count, let next = await next() {
            if case .event(let event) = next, let turned = event.turned { found.append(turned) }
        }
        return found
    }
}
