// SPDX-License-Identifier: Apache-2.0
import CRealtime
import Glibc
import JSON

/// Speaking and listening, engine by engine. An engine, or a model of one, that is not installed is left out.
func speechBenchmark(_ effort: Effort) throws -> [Row] {
    var rows: [Row] = []
    for engine in ["espeak-ng", "hibari", "flite", "piper"] { rows += try speakingRows(effort, engine) }
    let recordings = Recording.all()
    guard !recordings.prose.isEmpty else { return rows + [.missing("listening", "pocketsphinx-testdata")] }
    for engine in ["pocketsphinx", "moonshine"] {
        rows += try recognitionRows(effort, engine, recordings.prose, recordings.cards)
        rows += try liveRows(effort, engine, recordings.prose + recordings.cards)
    }
    return rows + [try idleRow(effort)]
}

// MARK: Speaking

private func speakingRows(_ effort: Effort, _ engine: String) throws -> [Row] {
    progress("speech: \(engine) speaks")
    // A block, and one until the server takes it.
    let limit = ["piper": 150, "hibari": 20][engine] ?? 5 + 2 * 128 / 48.0
    guard let heard = try messageToSound(effort, engine: engine, repetitions: 2 * effort.runs) else {
        return [.missing("say to first sample", engine)]
    }
    var said = Row("say to first sample", engine, heard, "ms")
    if engine != "flite" { said = said.aiming("< \(short(limit))", said.value.median < limit) }
    let scratch = try Scratch()
    let sentence = "The train to the coast leaves at seven, and nobody waits for it. "
    var factors: [Double] = []
    var memory: [Double] = []
    for _ in 0..<effort.runs {
        // What is the same for both, the start and the voice, falls away in the difference.
        let few = try render(effort, scratch, engine, String(repeating: sentence, count: 2))
        let many = try render(effort, scratch, engine, String(repeating: sentence, count: effort.isQuick ? 8 : 20))
        factors.append((many.time - few.time) / (many.seconds - few.seconds))
        memory.append(many.memory)
    }
    return [
        said, Row("processor time for a second of speech", engine, factors.map { $0 * 1000 }, "ms"),
        Row("most memory, a program that speaks", engine, memory, "MiB"), try understoodRow(effort, scratch, engine),
    ]
}

/// What a voice is to say so that it can be understood: names, numbers, dates and sounds that are easily mistaken.
private let sentences = [
    "The ship was torn apart on the sharp reef, and nobody saw it.", "Cut the bread into thin slices before supper.",
    "On the fourth of March the river rose above the old bridge.", "She sells fresh fish at the market every Thursday.",
    "Thirteen people waited for the bus, and thirty came back.", "The chef wants his knives back by half past six.",
    "A thick fog hid both the harbor and the lighthouse.", "Doctor Smith lives in a quiet street near the church.",
    "Please read the letter aloud, and then burn it.", "The value of the painting rose by two hundred pounds.",
    "He threw three stones through the broken window.", "Their choir sang louder than the organ could play.",
    "Most of the money was hidden under the kitchen floor.", "It rained so hard that the cellar filled with water.",
    "The judge gave him a year to pay for the damage.", "We measured the length and the width of each plank.",
]

/// How many words of a voice moonshine takes for others.
private func understoodRow(_ effort: Effort, _ scratch: Scratch, _ engine: String) throws -> Row {
    let said = effort.isQuick ? Array(sentences.prefix(4)) : sentences
    let files = try said.enumerated().map { index, sentence in
        _ = try render(effort, scratch, engine, sentence, to: "said\(index).wav")
        return scratch.place("said\(index).wav")
    }
    guard let texts = try recognized(effort, "moonshine", files)?.texts else {
        return .missing("word errors, heard by moonshine", engine)
    }
    var errors = WordErrors()
    for (file, sentence) in zip(files, said) { errors.add(texts[file] ?? "", said: sentence) }
    return Row("word errors, heard by moonshine, of \(errors.words) words", engine, [errors.percent], "%")
}

/// A rendered text: processor time and length in seconds, most memory in MiB.
private func render(
    _ effort: Effort, _ scratch: Scratch, _ engine: String, _ text: String, to name: String = "spoken.wav"
) throws -> (time: Double, seconds: Double, memory: Double) {
    let file = try scratch.file(
        "speak.conf",
        """
        [graph]
        name = "vg-speak"
        links = ["tts -> out"]
        [node.tts]
        type = "tts"
        engine = "\(engine)"
        text = "\(text)"
        [node.out]
        type = "output"
        channels = 1
        """)
    let sound = scratch.place(name)
    let child = try Child([effort.command, "render", file, "-o", sound])
    defer { child.stop() }
    guard child.waitForEnd(seconds: 300) == 0 else { throw BenchmarkError(child.lastLines) }
    return (child.processorTime, soundLength(sound), child.peakMemory)
}

/// Seconds of a WAV file, by the bytes that its header says a second takes; what is before the samples is next to nothing.
func soundLength(_ path: String) -> Double {
    guard let file = fopen(path, "r") else { return 0 }
    defer { fclose(file) }
    var header = [UInt8](repeating: 0, count: 256)
    let count = fread(&header, 1, header.count, file)
    let format = header[..<count].firstRange(of: Array("fmt ".utf8))
    guard let start = format?.upperBound, start + 16 <= count, fseek(file, 0, SEEK_END) == 0 else { return 0 }
    let second = header[start + 12..<start + 16].reversed().reduce(0) { $0 * 256 + Int($1) }
    return second == 0 ? 0 : Double(ftell(file)) / Double(second)
}

// MARK: Listening to files

/// The texts of files by their paths; nil: the engine cannot be used.
func recognized(
    _ effort: Effort, _ engine: String, _ files: [String]
) throws -> (child: Child, texts: [String: String])? {
    let child = try Child([effort.command, "transcribe", "--engine", engine, "--format", "json"] + files)
    defer { child.stop() }
    guard child.waitForEnd(seconds: 600) == 0 else { return nil }
    child.stop()
    var texts: [String: String] = [:]
    for line in child.allLines {
        guard let item = try? JSON(line.text.utf8), let path = item["file"]?.string else { continue }
        texts[path, default: ""] += " " + (item["text"]?.string ?? "")
    }
    return (child, texts)
}

private func recognitionRows(
    _ effort: Effort, _ engine: String, _ prose: [Recording], _ cards: [Recording]
) throws -> [Row] {
    progress("speech: \(engine) recognizes")
    let files = (prose + cards).map(\.path)
    var factors: [Double] = []
    var memory: [Double] = []
    var errors: [WordErrors] = []
    for _ in 0..<(effort.isQuick ? 1 : 3) {
        guard let all = try recognized(effort, engine, files), let one = try recognized(effort, engine, [files[0]])
        else {
            return [.missing("word error rate", engine)]
        }
        let seconds = files.dropFirst().reduce(0) { $0 + soundLength($1) }
        factors.append((all.child.processorTime - one.child.processorTime) / seconds)
        memory.append(all.child.peakMemory)
        errors = [prose, cards].map { recordings in
            var errors = WordErrors()
            for recording in recordings { errors.add(all.texts[recording.path] ?? "", said: recording.said) }
            return errors
        }
    }
    let aim = engine == "moonshine" ? 4.0 : 35
    let both = WordErrors(errors: errors[0].errors + errors[1].errors, words: errors[0].words + errors[1].words)
    return [
        Row("word error rate, \(both.words) words of people", engine, [both.percent], "%")
            .aiming("<= \(short(aim))", both.percent <= aim),
        Row("of them read prose", engine, [errors[0].percent], "%"),
        Row("of them cards by their names", engine, [errors[1].percent], "%"),
        Row("processor time for a second of audio", engine, factors.map { $0 * 1000 }, "ms"),
        Row("most memory, a program that listens", engine, memory, "MiB"),
    ]
}

// MARK: Listening live

/// What a run tells of a recording that is played into it in real time.
private struct LiveResult {
    /// From the end of speech to the final text, in ms.
    var latency: Double
    /// Between partial texts, in ms.
    var intervals: [Double] = []
    /// Words of partial texts, and how many of them the next one took back.
    var shown = 0
    var takenBack = 0
}

private func liveRows(_ effort: Effort, _ engine: String, _ recordings: [Recording]) throws -> [Row] {
    var rows: [Row] = []
    for end in ["silence", "turn"] {
        progress("speech: \(engine) listens, \(end)")
        var results: [LiveResult] = []
        for recording in recordings {
            guard let result = try listen(effort, engine, recording.path, withTurn: end == "turn") else { continue }
            results.append(result)
        }
        guard !results.isEmpty else { return rows + [.missing("end of speech to final text, \(end)", engine)] }
        let row = Row("end of speech to final text, \(end)", engine, results.map(\.latency), "ms")
        let isAim = end == "turn" && engine == "moonshine"
        rows.append(isAim ? row.aiming("< 300", row.value.median < 300) : row)
        guard end == "silence" else { continue }
        rows.append(Row("between partial texts", engine, results.flatMap(\.intervals), "ms"))
        let shown = results.reduce(0) { $0 + $1.shown }
        let takenBack = results.reduce(0) { $0 + $1.takenBack }
        rows.append(
            Row("words of partial texts taken back", engine, [100 * Double(takenBack) / Double(max(1, shown))], "%"))
    }
    return rows
}

/// Plays a recording and waits for its last final text; nil: this engine cannot be used, or has said nothing.
private func listen(_ effort: Effort, _ engine: String, _ path: String, withTurn: Bool) throws -> LiveResult? {
    let scratch = try Scratch()
    let links =
        withTurn
        ? ["sound -> meter -> vad -> turn -> text", "vad.speech -> turn.speech", "turn.turn -> text.gate"]
        : ["sound -> meter -> text"]
    var file = "[graph]\nname = \"vg-listen\"\nlinks = [\(links.map { "\"\($0)\"" }.joined(separator: ", "))]\n"
    file += "[node.sound]\ntype = \"file\"\npath = \"\(path)\"\n[node.meter]\ntype = \"meter\"\n"
    file += "[node.text]\ntype = \"transcribe\"\nengine = \"\(engine)\"\nrequired = true\n"
    // Silence after which the model is asked is the detector's own.
    if withTurn { file += "gated = true\n[node.vad]\ntype = \"vad\"\n[node.turn]\ntype = \"turn\"\n" }
    let graph = try scratch.file("listen.conf", file)
    let seconds = soundLength(path) + 4
    let child = try Child([effort.command, "run", graph, "--driver", "dummy", "--json", "--duration", "\(seconds)"])
    defer { child.stop() }
    guard child.waitForEnd(seconds: seconds + 60) == 0 else { return nil }
    child.stop()
    return result(child.allLines)
}

private func result(_ lines: [(time: UInt64, text: String)]) -> LiveResult? {
    var levels: [(time: UInt64, level: Double)] = []
    var partials: [(time: UInt64, item: Int, words: [String])] = []
    var final: UInt64?
    for line in lines {
        guard let event = try? JSON(line.text.utf8) else { continue }
        switch event["event"]?.string {
        case "series" where event["node"]?.string == "meter":
            levels.append((line.time, event["rms"]?.items.first?.double ?? 0))
        case "transcribe.partial":
            partials.append((line.time, event["item"]?.integer ?? 0, spokenWords(event["text"]?.string ?? "")))
        case "transcribe.final" where event["text"]?.string?.isEmpty == false: final = line.time
        default: break
        }
    }
    // Speech has ended when it is 26 dB below its loudest for good.
    let loudest = levels.map(\.level).max() ?? 0
    guard let final, let end = levels.last(where: { $0.level > loudest / 20 }), final > end.time else { return nil }
    var result = LiveResult(latency: Double(final - end.time) / 1e6)
    for (one, next) in zip(partials, partials.dropFirst()) where one.item == next.item {
        result.intervals.append(Double(next.time - one.time) / 1e6)
        let kept = zip(one.words, next.words).prefix { $0 == $1 }.count
        result.shown += one.words.count
        result.takenBack += one.words.count - kept
    }
    return result
}

/// Processor time of what listens while nobody speaks, in percent of one processor.
private func idleRow(_ effort: Effort) throws -> Row {
    progress("speech: silence")
    let scratch = try Scratch()
    func percent(_ links: String, _ nodes: String) throws -> Double? {
        let graph = try scratch.file(
            "idle.conf",
            """
            [graph]
            name = "vg-idle"
            links = [\(links)]
            [node.mic]
            type = "tone"
            wave = "pink"
            level_db = -65
            \(nodes)
            """)
        func time(_ seconds: Double) throws -> Double? {
            let child = try Child(
                [effort.command, "run", graph, "--driver", "dummy", "--json", "--duration", "\(seconds)"])
            defer { child.stop() }
            return child.waitForEnd(seconds: seconds + 60) == 0 ? child.processorTime : nil
        }
        // The start falls away in the difference.
        let span = effort.isQuick ? 5.0 : 20
        guard let short = try time(3), let long = try time(3 + span) else { return nil }
        return (long - short) / span * 100
    }
    let item = "processor, mic -> vad -> transcribe, nobody speaks"
    let listening = "[node.vad]\ntype = \"vad\"\n[node.text]\ntype = \"transcribe\"\ngated = true\n"
    guard let all = try percent("\"mic -> vad -> text\", \"vad.speech -> text.gate\"", listening),
        let none = try percent("\"mic -> gain -> out\"", "[node.gain]\ntype = \"gain\"\n[node.out]\ntype = \"output\"")
    else { return .missing(item, "auto") }
    let share = max(0, all - none)
    return Row(item, "auto", [share], "%").aiming("< 3", share < 3)
}
