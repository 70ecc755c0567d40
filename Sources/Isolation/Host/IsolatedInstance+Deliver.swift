// SPDX-License-Identifier: Apache-2.0
import NodeKit

extension IsolatedInstance {
    /// Passes on what the child tells for this node. [any]
    func deliver(_ frame: FrameReader) {
        var frame = frame
        switch frame.kind {
        case .state:
            let (taken, isIdle): (UInt32, UInt8) = (frame.number(), frame.number())
            told.store(UInt64(taken) << 1 | (isIdle != 0 ? 1 : 0), ordering: .releasing)
        case .health: setHealth(frame.health())
        default: withHost { deliver(&frame, $0) }
        }
    }

    private func deliver(_ frame: inout FrameReader, _ host: NodeHost) {
        switch frame.kind {
        case .log: host.log(vg_log_level(rawValue: frame.number()), frame.text())
        case .send:
            let port = Int(frame.number(UInt32.self))
            let outputs = layout.ports.count { $0.kind == VG_MESSAGE_PORT && $0.direction == VG_OUTPUT }
            guard port < outputs else { return }
            // The node was told that it was sent.
            if !host.send(frame.message(), port: port) { host.count("lost messages") }
        case .publish:
            let event = frame.event()
            host.publish(
                event.name, event.fields, at: event.position == 0 ? nil : event.position, silently: event.isSilent)
        case .series: frame.withSeries(of: recipe.series) { host.publish($0) }
        case .audio: frame.withAudio { host.publish(audio: $0) }
        case .count:
            let (counter, number): (String, UInt64) = (frame.text(), frame.number())
            host.count(counter, Int(clamping: number))
        case .notice: notice(&frame, host)
        case .turn:
            let place = Int(frame.number(UInt32.self))
            let (value, atOnce, position): (Float, UInt8, UInt64) = (frame.number(), frame.number(), frame.number())
            guard place < layout.parameters.count, value.isFinite else { return }
            let isTurned = host.setParameter(
                place, to: value, atOnce: atOnce != 0, at: position == 0 ? nil : position)
            if !isTurned { host.count("lost parameter changes") }
        default: break
        }
    }

    /// What the processor said, as the host tells it of its own nodes.
    private func notice(_ frame: inout FrameReader, _ host: NodeHost) {
        let kind = vg_notice_kind(rawValue: frame.number())
        let (text, value, position): (String, Double, UInt64) = (frame.text(), frame.number(), frame.number())
        if kind == VG_NOTICE_LOG {
            host.log(VG_LOG_INFO, "\(text) (\(value))")
        } else {
            host.publish(
                text, [("text", .string(text)), ("value", .number(value))], at: position == 0 ? nil : position)
        }
    }
}
