// SPDX-License-Identifier: Apache-2.0
import Glibc
import JSON
import NodeKit

/// Events as JSON, one object a line: keys in a fixed order, `event` and `time` first. Numbers that JSON cannot hold
/// become null.
public enum EventJSON {
    /// Any event. Its own fields stand after `event`, `time`, `utc`, `node` and `says`, what it says to people where its type
    /// declares that; one with such a name gets a '_' at its end.
    public static func encode(_ event: Event) -> String {
        encode(
            event.name, event.time, utc: event.wallTime, node: event.node, says: event.sentence ?? "",
            event.fields.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    }

    /// A frame of series, as event `series`.
    public static func encode(_ frame: SeriesFrame) -> String {
        var line = Line("series", frame.time, utc: 0, node: frame.node)
        for row in frame.rows {
            line.add(
                reserved.contains(row.name) ? row.name + "_" : row.name,
                "[" + row.values.map { number(Double($0), $0.description) }.joined(separator: ",") + "]")
        }
        return line.closed
    }

    /// The host's state, as event `running` (the first one) or `status`.
    public static func encode(_ status: Status, event: String = HostEvent.running.name) -> String {
        encode(event, status.time, utc: calendarTime(), node: nil, status.fields)
    }

    private static func encode(
        _ name: String, _ time: Double, utc: Double, node: String?, says: String = "",
        _ fields: [(key: String, value: SettingValue)]
    ) -> String {
        var line = Line(name, time, utc: utc, node: node)
        if !says.isEmpty { line.add("says", JSONText.string(says)) }
        for (key, item) in fields { line.add(reserved.contains(key) ? key + "_" : key, value(item)) }
        return line.closed
    }

    /// Names that every event has, so that no field of its own may have them.
    public static let reserved: Set<String> = ["event", "time", "utc", "node", "says"]

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

        init(_ event: String, _ time: Double, utc: Double, node: String?) {
            text = "{\"event\":\(JSONText.string(event)),\"time\":\(seconds(time))"
            if utc > 0 { add("utc", JSONText.string(timestamp(utc))) }
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

    /// Seconds since 1970 as ISO 8601 has them: "2026-01-31T23:59:59.125Z".
    public static func timestamp(_ utc: Double) -> String {
        // From the year 0 to the end of 9999: what a file says may be no time.
        let utc = min(max(utc.isNaN ? 0 : utc, -62_167_219_200), 253_402_300_799)
        var seconds = time_t(utc.rounded(.down))
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func digits(_ number: Int, _ count: Int = 2) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        let date =
            "\(digits(Int(parts.tm_year) + 1900, 4))-\(digits(Int(parts.tm_mon) + 1))-\(digits(Int(parts.tm_mday)))"
        let clock = "\(digits(Int(parts.tm_hour))):\(digits(Int(parts.tm_min))):\(digits(Int(parts.tm_sec)))"
        return "\(date)T\(clock).\(digits(Int((utc - Double(seconds)) * 1000), 3))Z"
    }
}
