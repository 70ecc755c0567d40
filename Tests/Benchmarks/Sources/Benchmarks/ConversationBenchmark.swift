// SPDX-License-Identifier: Apache-2.0
import CRealtime
import Glibc
import JSON

/// A whole conversation, as in config/assistant.conf, on a server of its own: how long it takes from the end of what is said
/// to the first frame of the reply, part by part; how soon a voice falls silent; what it costs.
func conversationBenchmark(_ effort: Effort) throws -> [Row] {
    let all = Recording.all()
    let recordings = (all.prose + all.cards).prefix(effort.isQuick ? 3 : 10)
    guard !recordings.isEmpty else { return [.missing("conversation", "pocketsphinx-testdata")] }
    var rows: [Row] = []
    for engine in ["pocketsphinx", "moonshine"] { rows += try replyRows(effort, engine, Array(recordings)) }
    return try rows + bargeInRows(effort) + costRows(effort)
}

/// The graph of an assistant: `sound` takes the place of the microphone.
private func assistant(_ sound: String, engine: String) -> String {
    let all = [
        "sound -> meter -> echo -> vad -> turn -> text -> agent -> voice -> out", "voice -> echo.reference",
        "vad.speech -> turn.speech", "turn.turn -> text.gate", "vad.speech -> voice.hold",
        "vad.speech -> agent.speech", "voice.speaking -> agent.speaking", "voice.heard -> agent.heard",
    ]
    return """
        [graph]
        name = "vg-conversation"
        links = [\(all.map { "\"\($0)\"" }.joined(separator: ", "))]
        [node.sound]
        \(sound)
        [node.meter]
        type = "meter"
        [node.echo]
        type = "echo"
        [node.vad]
        type = "vad"
        [node.turn]
        type = "turn"
        [node.text]
        type = "transcribe"
        engine = "\(engine)"
        gated = true
        required = true
        [node.agent]
        type = "agent"
        [node.voice]
        type = "tts"
        [node.out]
        type = "output"
        channels = 1
        """
}

/// A line of a run: when it came, in nanoseconds, and what it says.
private typealias Told = (time: UInt64, name: String, event: JSON)

/// Runs a graph for so long; what it told, or nil: it cannot run.
private func told(_ effort: Effort, _ graph: String, seconds: Double) throws -> (lines: [Told], child: Child)? {
    let scratch = try Scratch()
    let file = try scratch.file("conversation.conf", graph)
    let child = try Child([effort.command, "run", file, "--driver", "dummy", "--json", "--duration", "\(seconds)"])
    defer { child.stop() }
    guard child.waitForEnd(seconds: seconds + 60) == 0 else { return nil }
    child.stop()
    let lines = child.allLines.compactMap { line -> Told? in
        guard let event = try? JSON(line.text.utf8), let name = event["event"]?.string else { return nil }
        return (line.time, name, event)
    }
    return (lines, child)
}

// MARK: Replies

private func replyRows(_ effort: Effort, _ engine: String, _ recordings: [Recording]) throws -> [Row] {
    progress("conversation: \(engine) listens, and it is answered")
    var parts: [String: [Double]] = [:]
    // Of pipecat and of ours, in the same recordings.
    let peer = engine == "moonshine" ? try PipecatPeer(effort) : nil
    var texts: (own: [Double], other: [Double]) = ([], [])
    var dropouts = 0.0
    for recording in recordings {
        let graph = assistant("type = \"file\"\npath = \"\(recording.path)\"", engine: engine)
        guard let run = try told(effort, graph, seconds: soundLength(recording.path) + 4) else {
            return [.missing("end of speech to the reply", engine)]
        }
        var levels: [(time: UInt64, level: Double)] = []
        for line in run.lines where line.name == "series" && line.event["node"]?.string == "meter" {
            levels.append((line.time, line.event["rms"]?.items.first?.double ?? 0))
        }
        dropouts += Double(run.lines.count { $0.name == "dropout" })
        // Speech has ended when it is 26 dB below its loudest for good.
        let loudest = levels.map(\.level).max() ?? 0
        guard let end = levels.last(where: { $0.level > loudest / 20 })?.time else { continue }
        func first(_ name: String) -> UInt64? { run.lines.first { $0.name == name && $0.time > end }?.time }
        // What paused for longer was answered before its end.
        guard let turn = first("turn.ended"), let text = first("transcribe.final"), let reply = first("agent.partial"),
            let voice = first("speech.started"), turn <= text, text <= reply, reply <= voice
        else { continue }
        if let other = try peer?.textOfTurn(recording, length: soundLength(recording.path)) {
            texts.own.append(Double(text - end) / 1e6)
            texts.other.append(other)
        }
        func add(_ part: String, _ from: UInt64, _ to: UInt64) {
            parts[part, default: []].append((Double(to) - Double(from)) / 1e6)
        }
        add("end of speech to the first frame of the reply", end, voice)
        add("of that: to the end of the turn", end, turn)
        add("of that: to the text", turn, text)
        add("of that: to the reply's first sentence", text, reply)
        add("of that: to its first frame at the output", reply, voice)
    }
    guard !parts.isEmpty else { return [.missing("end of speech to the first frame of the reply", engine)] }
    let names = [
        "end of speech to the first frame of the reply", "of that: to the end of the turn", "of that: to the text",
        "of that: to the reply's first sentence", "of that: to its first frame at the output",
    ]
    var rows = names.compactMap { name in parts[name].map { Row(name, engine, $0, "ms") } }
    if engine == "moonshine" { rows[0] = rows[0].aiming("< 350", rows[0].value.median < 350) }
    if !texts.own.isEmpty {
        let item = "end of speech to the text of a finished turn"
        let row = Row(item, engine, texts.own, "ms").compared(texts.own, with: texts.other, "pipecat")
        rows += [row.aiming(">= 3 x", (row.ratio?.median ?? 0) >= 3), Row(item, "pipecat", texts.other, "ms")]
    }
    return rows + [Row("dropouts meanwhile", engine, [dropouts], "").aiming("0", dropouts == 0)]
}

// MARK: Barge-in

/// Somebody speaks while the voice does: how long after the vad has said so the voice has faded out. In the time of the graph,
/// to a block.
private func bargeInRows(_ effort: Effort) throws -> [Row] {
    progress("conversation: somebody speaks while the voice does")
    guard let recording = Recording.all().prose.first else { return [.missing("barge-in", "pocketsphinx-testdata")] }
    var latencies: [Double] = []
    for _ in 0..<effort.runs {
        let graph = """
            [graph]
            name = "vg-barge-in"
            links = ["sound -> later -> vad", "vad.speech -> voice.hold", "voice -> out"]
            [node.sound]
            type = "file"
            path = "\(recording.path)"
            [node.later]
            type = "delay"
            ms = 2500
            longest_ms = 2500
            [node.vad]
            type = "vad"
            [node.voice]
            type = "tts"
            text = "One two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen."
            [node.out]
            type = "output"
            channels = 1
            """
        guard let run = try told(effort, graph, seconds: 6) else {
            return [.missing("vad's decision to silence", "tts")]
        }
        let start = run.lines.first { $0.name == "vad.state" && $0.event["speech"]?.bool == true }
        let held = run.lines.first { $0.name == "speech.state" && $0.event["paused"]?.bool == true }
        guard let start, let held else { return [.missing("vad's decision to silence", "tts")] }
        // Told when it is decided; the frame at which the voice is held is in the event, and the fade is 5 ms.
        latencies.append(max(0, (Double(held.time) - Double(start.time)) / 1e6) + 5)
    }
    let row = Row("vad's decision to silence", "tts", latencies, "ms")
    return [row.aiming("< 50", row.value.median < 50)]
}

// MARK: Cost

private func costRows(_ effort: Effort) throws -> [Row] {
    progress("conversation: nobody speaks")
    let span = effort.isQuick ? 5.0 : 20
    func run(_ seconds: Double) throws -> Child? {
        let noise = "type = \"tone\"\nwave = \"pink\"\nlevel_db = -65"
        return try told(effort, assistant(noise, engine: "auto"), seconds: seconds)?.child
    }
    guard let short = try run(3), let long = try run(3 + span) else {
        return [.missing("processor, a whole assistant, nobody speaks", "auto")]
    }
    let share = (long.processorTime - short.processorTime) / span * 100
    // What is said, and answered, over and over: the same seconds with a microphone in which somebody speaks.
    progress("conversation: somebody speaks all the time")
    guard let recording = Recording.all().prose.first,
        let talk = try told(
            effort, assistant("type = \"file\"\npath = \"\(recording.path)\"\nloop = true", engine: "auto"),
            seconds: 3 + span)
    else { return [.missing("processor, a whole assistant, somebody speaks", "auto")] }
    let talking = (talk.child.processorTime - short.processorTime) / span * 100
    let dropouts = Double(talk.lines.count { $0.name == "dropout" })
    return [
        Row("processor, a whole assistant, somebody speaks", "auto", [talking], "%"),
        Row("dropouts meanwhile", "auto", [dropouts], "").aiming("0", dropouts == 0),
        Row("processor, a whole assistant, nobody speaks", "auto", [share], "%").aiming("< 6", share < 6),
        Row("most memory, a whole assistant", "auto", [long.peakMemory], "MiB"),
    ]
}
