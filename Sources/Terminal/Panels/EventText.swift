// SPDX-License-Identifier: Apache-2.0
import Host
import NodeKit

extension Event {
    /// The texts of a field that is a list.
    func texts(_ key: String) -> [String] {
        guard case .list(let items)? = fields[key] else { return [] }
        return items.compactMap { if case .string(let text) = $0 { text } else { nil } }
    }

    /// The texts of a field that is a table.
    func table(_ key: String) -> [String: String] {
        guard case .table(let table)? = fields[key] else { return [:] }
        return table.compactMapValues { if case .string(let text) = $0 { text } else { nil } }
    }

    /// A field that is a number.
    func number(_ key: String) -> Double? {
        switch fields[key] {
        case .integer(let integer)?: Double(integer)
        case .number(let number)?: number
        default: nil
        }
    }

    /// How far the text of an item that it tells is; nil: it tells none.
    var textStage: EventRole.Stage? { if case .text(let stage)? = type?.role { stage } else { nil } }
    /// Whether it tells the text of an item, which grows until it is whole.
    public var isPartialText: Bool { textStage == .partial }

    /// A field that is a whole number within reason.
    func integer(_ key: String) -> Int? { number(key).flatMap { Int(exactly: $0.rounded(.down)) } }
}

/// What a change did, in a few words.
public func changeText(
    added: [String], removed: [String], linked: Int, unlinked: Int, parameters: Int, settings: Int = 0,
    switched: [String: String] = [:], times: ChangeTimes?
) -> String {
    func count(_ number: Int, _ noun: String, _ verb: String) -> String? {
        number == 0 ? nil : "\(number) \(noun)\(number == 1 ? "" : "s") \(verb)"
    }
    let both = Set(added).intersection(removed)
    var parts: [String] = removed.filter { !both.contains($0) }.map { "-\(printable($0))" }
    parts += added.filter { !both.contains($0) }.map { "+\(printable($0))" }
    parts += added.filter { both.contains($0) }.map { "\(printable($0)) anew" }
    parts += switched.sorted { $0.key < $1.key }.map { "\($0.value) \(printable($0.key))" }
    let counts: [String?] = [
        count(linked, "link", "added"), count(unlinked, "link", "removed"),
        count(parameters, "parameter", "turned"), count(settings, "setting", "changed"),
    ]
    parts += counts.compactMap(\.self)
    guard !parts.isEmpty else { return "nothing changed" }
    return parts.joined(separator: ", ") + (times.map { "; \(timesText($0))" } ?? "")
}

/// How long a change took.
func timesText(_ times: ChangeTimes) -> String {
    let first = times.firstBlock.map { "heard after \(fixed($0 * 1000, 1)) ms, " } ?? ""
    return first + "done after \(fixed(times.done * 1000, 1)) ms"
}

/// An event as a line for people, as its type says it; nil for what other parts of a face show better.
public func eventText(_ event: Event) -> String? {
    let about = event.node.map { "\($0): " } ?? ""
    if let sentence = event.sentence { return sentence.isEmpty ? nil : about + sentence }
    switch event.name {
    case HostEvent.dropout.name:
        let cycles = event.integer("cycles") ?? 1
        return "late: \(event.text("text") ?? "")" + (cycles > 1 ? " (\(cycles) cycles)" : "")
    case HostEvent.format.name:
        let block = event.integer("block").map { ", \($0) frames" } ?? ""
        return "the driver plays at " + rateText(event.number("rate") ?? 0) + block + " now"
    case HostEvent.serverFound.name:
        let place = event.text("driver") == "pipewire" ? "PipeWire" : "the JACK server '\(event.text("server") ?? "")'"
        return "\(place) is there: the graph plays through it now"
    case HostEvent.changed.name:
        return "graph: "
            + changeText(
                added: event.texts("added"), removed: event.texts("removed"), linked: event.integer("linked") ?? 0,
                unlinked: event.integer("unlinked") ?? 0, parameters: event.integer("parameters") ?? 0,
                settings: event.integer("settings") ?? 0, switched: event.table("switched"),
                times: event.number("done_ms").map {
                    ChangeTimes(firstBlock: event.number("first_block_ms").map { $0 * 1e-3 }, done: $0 * 1e-3)
                })
    default: break
    }
    // A state is shown where it belongs.
    if event.isRetained { return nil }
    if let stage = event.textStage, stage != .withdrawn {
        guard let said = event.text("text"), !said.isEmpty else { return nil }
        return about + said + (stage == .partial ? " ..." : "")
    }
    let name = event.name.split(separator: ".").joined(separator: " ")
    if let reason = event.text("reason") { return "\(about)\(name): \(reason)" }
    let fields = event.fields.sorted { $0.key < $1.key }
        .map { "\($0.key) \(EventJSON.value($0.value, quoted: false))" }
    return about + name + (fields.isEmpty ? "" : " (\(fields.joined(separator: ", ")))")
}
