// SPDX-License-Identifier: Apache-2.0
import Host

extension Event {
    /// A field that is text.
    func text(_ key: String) -> String? {
        if case .string(let text)? = fields[key] { text } else { nil }
    }

    /// A field that is a number.
    func number(_ key: String) -> Double? {
        switch fields[key] {
        case .integer(let integer)?: Double(integer)
        case .number(let number)?: number
        default: nil
        }
    }

    /// A field that is a whole number within reason.
    func integer(_ key: String) -> Int? { number(key).flatMap { Int(exactly: $0.rounded(.down)) } }
}

/// An event as a line for people; nil for those that other parts of a face show better.
public func eventText(_ event: Event) -> String? {
    let quiet: Set = [
        "levels", "audio", "status", "running", "speech.word", "speech.sentence", "timings", "xrun", "visualizer",
    ]
    guard !quiet.contains(event.name) else { return nil }
    let about = event.node.map { "\($0): " } ?? ""
    let path = event.text("path") ?? ""
    switch event.name {
    case "dropout":
        let cycles = event.integer("cycles") ?? 1
        return "late: \(event.text("text") ?? "")" + (cycles > 1 ? " (\(cycles) cycles)" : "")
    case "log": return about + (event.text("text") ?? event.text("message") ?? "")
    case "speech.started": return about + "speaking"
    case "speech.synthesized": return about + "speech prepared"
    case "speech.finished": return about + "finished speaking"
    case "speech.stopped": return about + "stopped speaking"
    case "file.started": return about + "playing " + path
    case "file.finished": return about + "played " + path
    case "record.started": return about + "recording to " + path
    case "record.finished":
        return about + "recorded " + (event.number("seconds").map { "\(clock($0)) to " } ?? "") + path
    case let name where name.hasSuffix(".failed"):
        let reason = event.text("message") ?? event.text("reason") ?? event.text("error") ?? "no reason given"
        let what = name.hasPrefix("node.") ? "" : String(name.dropLast(".failed".count)) + " "
        return about + what + "failed: " + reason
    default:
        let fields = event.fields.sorted { $0.key < $1.key }
            .map { "\($0.key) \(EventJSON.value($0.value, quoted: false))" }
        return about + ([event.name] + fields).joined(separator: " ")
    }
}
