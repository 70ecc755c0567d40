// SPDX-License-Identifier: Apache-2.0
import Graph
import JSON
import NodeKit

/// Events as JSON, one object a line: keys in a fixed order, `event` and `time` first. Numbers that JSON cannot hold
/// become null.
public enum EventJSON {
    /// Any event. Its own fields stand after `event`, `time` and `node`; a field with one of these names is left out.
    public static func encode(_ event: Event) -> String {
        var line = Line(event.name, event.time, node: event.node)
        for (key, item) in event.fields.sorted(by: { $0.key < $1.key }) where !["event", "time", "node"].contains(key) {
            line.add(key, value(item))
        }
        return line.closed
    }

    /// Levels, as event `levels`.
    public static func encode(_ frame: LevelFrame) -> String {
        var line = Line("levels", frame.time, node: frame.node)
        line.add("peak", "[" + frame.peak.map { number(Double($0), $0.description) }.joined(separator: ",") + "]")
        line.add("rms", "[" + frame.rms.map { number(Double($0), $0.description) }.joined(separator: ",") + "]")
        line.add("orb", number(Double(frame.orb), frame.orb.description))
        return line.closed
    }

    /// The host's state, as event `running` (the first one) or `status`.
    public static func encode(_ status: Status, event: String = "running", pid: Int32) -> String {
        var line = Line(event, status.time, node: nil)
        line.add("driver", JSONText.string(status.driver))
        line.add("notice", JSONText.string(status.notice))
        line.add("server", JSONText.string(status.server))
        line.add("own_server", status.ownServer ? "true" : "false")
        line.add("rate", number(status.rate))
        line.add("block", String(status.block))
        line.add("threads", String(status.threads))
        line.add("client", JSONText.string(status.client))
        line.add("pid", String(pid))
        line.add("load", number(status.load))
        line.add("xruns", String(status.xruns))
        line.add("blocks", String(status.blocks))
        line.add("state", JSONText.string(status.state))
        line.add("scheduling", value(.table(status.scheduling.fields)))
        line.add("dropouts", value(.table(status.dropoutFields)))
        line.add("unrecorded", String(status.unrecorded))
        if let change = status.lastChange { line.add("last_change", value(.table(change.fields))) }
        let degraded = status.degraded.sorted { $0.key < $1.key }.map { ($0.key, JSONText.string($0.value)) }
        line.add("degraded", JSONText.object(degraded))
        return line.closed
    }

    /// A value; strings with or without quotes.
    public static func value(_ value: SettingValue, quoted: Bool = true) -> String {
        if !quoted, case .string(let text) = value { return text }
        return JSON(value).text
    }

    /// The shortest text that reads back as the same number; whole numbers without a fraction.
    public static func number(_ value: Double, _ text: String? = nil) -> String {
        JSONText.number(value, text)
    }

    private struct Line {
        var text: String

        init(_ event: String, _ time: Double, node: String?) {
            text = "{\"event\":\(JSONText.string(event)),\"time\":\(seconds(time))"
            if let node { add("node", JSONText.string(node)) }
        }

        mutating func add(_ key: String, _ value: String) { text += ",\(JSONText.string(key)):\(value)" }
        var closed: String { text + "}" }
    }

    /// With six digits after the point.
    private static func seconds(_ time: Double) -> String {
        guard abs(time) < 1e12 else { return "null" }
        let micros = Int64((abs(time) * 1e6).rounded())
        let part = String(micros % 1_000_000)
        let sign = time < 0 && micros > 0 ? "-" : ""
        return "\(sign)\(micros / 1_000_000)." + String(repeating: "0", count: 6 - part.count) + part
    }
}
