// SPDX-License-Identifier: Apache-2.0
import Host

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

    /// Whether it tells the text of an item, which grows until it is whole.
    public var isPartialText: Bool { name.hasSuffix(".partial") && isText }
    var isWholeText: Bool { name.hasSuffix(".final") && isText }
    var isText: Bool { integer("item") != nil && text("text") != nil }

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

/// An event as a line for people; nil for those that other parts of a face show better.
public func eventText(_ event: Event) -> String? {
    let quiet: Set = [
        "status", "running", "speech.word", "speech.sentence", "record.levels", "xrun", "visualizer", "agent.typed",
        // What is wrong is said by a line of the log.
        "input.judged",
    ]
    guard !quiet.contains(event.name), !event.name.hasPrefix("vad."), !event.name.hasPrefix("turn."),
        !event.name.hasSuffix(".state")
    else { return nil }
    let about = event.node.map { "\($0): " } ?? ""
    let path = event.text("path") ?? ""
    if event.isPartialText || event.isWholeText {
        guard let said = event.text("text"), !said.isEmpty else { return nil }
        return about + said + (event.isWholeText ? "" : " ...")
    }
    switch event.name {
    case "dropout":
        let cycles = event.integer("cycles") ?? 1
        return "late: \(event.text("text") ?? "")" + (cycles > 1 ? " (\(cycles) cycles)" : "")
    case "log": return about + (event.text("text") ?? event.text("message") ?? "")
    case "speech.started": return about + "speaking"
    case "speech.synthesized": return about + "speech prepared"
    case "speech.finished": return about + "finished speaking"
    case "speech.gap": return about + "the voice was late: \(event.integer("frames") ?? 0) frames of silence"
    case "speech.stopped": return about + "stopped speaking"
    case "file.started": return about + "playing " + path
    case "file.finished": return about + "played " + path
    case "record.started": return about + "recording to " + path
    case "record.finished":
        let levels = [("true_peak", "true peak", "dBTP"), ("loudness", "", "LUFS")].compactMap { key, word, unit in
            event.number(key).map { ", " + (word.isEmpty ? "" : word + " ") + "\(fixed($0, 1)) \(unit)" }
        }.joined()
        return about + "recorded " + (event.number("seconds").map { "\(clock($0)) to " } ?? "") + path + levels
    // What was said is shown by whoever has heard it.
    case "agent.user":
        guard case .bool(true)? = event.fields["typed"] else { return nil }
        return "typed: " + (event.text("text") ?? "")
    case "agent.ignored": return about + "not answered (\(event.text("reason") ?? "")): \(event.text("text") ?? "")"
    case HostEvent.web.name:
        let isRemote = event.fields["remote"] == .bool(true)
        let who = isRemote ? "browsers, those of other machines too, and nothing is encrypted: " : "browsers: "
        return who + (event.text("link") ?? "")
    case HostEvent.connectionRefused.name:
        return "not connected: \(event.text("from") ?? "") to \(event.text("to") ?? ""): \(event.text("reason") ?? "")"
    case HostEvent.sourceLost.name: return about + "nothing is connected to it any more"
    case HostEvent.sourceBack.name: return about + "something is connected to it again"
    case "record.limit": return about + "the limit is reached"
    case "record.discarded": return about + "thrown away: " + path
    case HostEvent.archiveSetAside.name:
        let reason = event.text("reason") ?? ""
        return "the archive could not be used: \(reason); it is called \(path) now, and a new one was begun"
    case "graph.changed":
        return "graph: "
            + changeText(
                added: event.texts("added"), removed: event.texts("removed"), linked: event.integer("linked") ?? 0,
                unlinked: event.integer("unlinked") ?? 0, parameters: event.integer("parameters") ?? 0,
                settings: event.integer("settings") ?? 0, switched: event.table("switched"),
                times: event.number("done_ms").map {
                    ChangeTimes(firstBlock: event.number("first_block_ms").map { $0 * 1e-3 }, done: $0 * 1e-3)
                })
    case HostEvent.health.name:
        guard let reason = event.text("reason") else { return about + "well again" }
        return about + (event.text("state") ?? "") + ": " + reason
    case _ where event.text("reason") != nil:
        return about + event.name.split(separator: ".").joined(separator: " ") + ": " + (event.text("reason") ?? "")
    default:
        if let sentence = hostSentence(event) ?? nodeSentence(event) { return about + sentence }
        let fields = event.fields.sorted { $0.key < $1.key }
            .map { "\($0.key) \(EventJSON.value($0.value, quoted: false))" }
        let name = event.name.split(separator: ".").joined(separator: " ")
        return about + name + (fields.isEmpty ? "" : " (\(fields.joined(separator: ", ")))")
    }
}

/// What the host tells of itself, or of a node.
private func hostSentence(_ event: Event) -> String? {
    switch event.name {
    case HostEvent.heard.name: return "heard again"
    case HostEvent.clipped.name:
        return "too loud: "
            + (event.number("peak").map { "+\(fixed($0, 1)) dB above full scale" } ?? "above full scale")
    case HostEvent.latency.name: return "its latency has changed"
    case HostEvent.refused.name: return many(event, "count", "message") + " refused: more wait than it can take"
    case HostEvent.eventsLost.name: return many(event, "count", "event") + " lost: they came faster than they were read"
    case HostEvent.format.name:
        let block = event.integer("block").map { ", \($0) frames" } ?? ""
        return "the driver plays at " + rateText(event.number("rate") ?? 0) + block + " now"
    case HostEvent.stalled.name: return "the server has stopped calling"
    case HostEvent.resumed.name: return "the server calls again"
    case HostEvent.serverBack.name: return "the server is back, and so are the connections"
    case HostEvent.serverFound.name:
        let place = event.text("driver") == "pipewire" ? "PipeWire" : "the JACK server '\(event.text("server") ?? "")'"
        return "\(place) is there: the graph plays through it now"
    case HostEvent.reactivated.name: return "the server had stopped calling, and was made to call again"
    case HostEvent.midiLost.name: return many(event, "count", "MIDI event") + " lost: more came than a block can hold"
    case HostEvent.connected.name:
        return "connected: \(event.text("from") ?? "") to \(event.text("to") ?? "")"
    default: return nil
    }
}

/// What nodes tell that are part of the host, and those in processes of their own.
private func nodeSentence(_ event: Event) -> String? {
    let plugin = event.text("plugin").map { "the plugin \($0)" } ?? "its plugin"
    switch event.name {
    case "plugin.late": return many(event, "blocks", "block") + " went past it: \(plugin) did not answer in time"
    case "plugin.started": return "\(plugin) runs again"
    case "property":
        let value = event.fields["value"].map { EventJSON.value($0, quoted: false) } ?? ""
        return "\(event.text("label") ?? event.text("key") ?? "a property") is \(value) now"
    case "tap.dropped": return many(event, "frames", "frame") + " lost: nobody took them in time"
    case "file.gap": return many(event, "frames", "frame") + " of silence: the file was not read in time"
    case "record.dropped":
        let seconds = fixed(event.number("seconds") ?? 0, 3)
        return "\(seconds) s are missing of the recording: \(event.text("reason") ?? "they were lost")"
    case "record.clipped": return many(event, "samples", "sample") + " clipped: louder than the file can hold"
    case "transcribe.behind":
        let seconds = event.number("seconds") ?? 0
        return seconds > 0 ? "\(fixed(seconds, 1)) s behind what is said" : "no more behind what is said"
    case "transcribe.dropped": return many(event, "frames", "frame") + " not listened to: too far behind"
    case "transcribe.cancelled": return "what was said last is not transcribed"
    case "wake.heard": return "heard \"\(event.text("phrase") ?? "")\""
    case "echo.changed": return "the way from the loudspeaker has changed; it is learnt anew"
    case "agent.tool":
        let error = event.text("error").map { ", which failed: \($0)" } ?? ""
        return "did \(event.text("action") ?? "an action")" + error
    default: return nil
    }
}

private func many(_ event: Event, _ key: String, _ noun: String) -> String {
    let number = event.integer(key) ?? 1
    return "\(number) \(noun)\(number == 1 ? "" : "s")"
}
