// SPDX-License-Identifier: Apache-2.0

/// Nodes that hear more than words: what each costs, and what it does for those after it. One whose model is not installed is
/// left out.
func hearingBenchmark(_ effort: Effort) throws -> [Row] {
    let recordings = Recording.all()
    guard let first = recordings.prose.first else { return [.missing("hearing", "pocketsphinx-testdata")] }
    let nodes = [
        ("denoise", "type = \"denoise\""), ("speaker", "type = \"speaker\""), ("vad", "type = \"vad\""),
        ("wake, small model", "type = \"wake\"\nphrase = \"okay nabu\"\nengine = \"micro-wakeword\""),
        ("wake, PocketSphinx", "type = \"wake\"\nphrase = \"hello computer\"\nengine = \"pocketsphinx\""),
    ]
    var rows: [Row] = []
    for (name, settings) in nodes { rows.append(try costRow(effort, name, settings, first.path)) }
    return try rows + noiseRows(effort, recordings.prose + recordings.cards)
}

/// Processor time of a node while somebody speaks, in percent of one processor.
private func costRow(_ effort: Effort, _ name: String, _ settings: String, _ path: String) throws -> Row {
    progress("hearing: \(name)")
    let scratch = try Scratch()
    let seconds = effort.isQuick ? 20.0 : 60
    func time(_ node: String, _ seconds: Double) throws -> Double? {
        let graph = try scratch.file(
            "cost.conf",
            """
            [graph]
            name = "vg-hearing"
            links = ["sound -> node"]
            [node.sound]
            type = "file"
            path = "\(path)"
            loop = true
            [node.node]
            \(node)
            required = true
            """)
        let child = try Child([effort.command, "run", graph, "--driver", "dummy", "--duration", "\(seconds)"])
        defer { child.stop() }
        return child.waitForEnd(seconds: seconds + 60) == 0 ? child.processorTime : nil
    }
    let item = "processor while somebody speaks"
    // The start, and what a graph costs that only listens, fall away in the differences.
    guard let short = try time(settings, 3), let long = try time(settings, 3 + seconds),
        let few = try time("type = \"meter\"", 3), let many = try time("type = \"meter\"", 3 + seconds)
    else { return .missing(item, name) }
    return Row(item, name, [max(0, (long - short) - (many - few)) / seconds * 100], "%")
}

/// How many words are taken for others in noise, with `denoise` and without it.
private func noiseRows(_ effort: Effort, _ recordings: [Recording]) throws -> [Row] {
    let levels = effort.isQuick ? [-35.0] : [-45.0, -35, -25]
    var rows: [Row] = []
    for level in levels {
        for (name, hears) in [("as it is", "mix -> out"), ("denoise", "mix -> clean -> out")] {
            progress("hearing: noise at \(short(level)) dBFS, \(name)")
            let item = "word errors, moonshine, pink noise of \(short(level)) dBFS"
            guard let errors = try errors(effort, recordings, level: level, "\"\(hears)\"") else {
                rows.append(.missing(item, name))
                continue
            }
            rows.append(Row(item, name, [errors.percent], "%"))
        }
    }
    return rows
}

private func errors(
    _ effort: Effort, _ recordings: [Recording], level: Double, _ links: String
) throws -> WordErrors? {
    let scratch = try Scratch()
    var files: [String] = []
    for (index, recording) in recordings.enumerated() {
        let clean = links.contains("clean") ? "[node.clean]\ntype = \"denoise\"\nrequired = true" : ""
        let graph = try scratch.file(
            "noisy.conf",
            """
            [graph]
            name = "vg-noisy"
            links = ["sound -> mix", "noise -> mix", \(links)]
            [node.sound]
            type = "file"
            path = "\(recording.path)"
            [node.noise]
            type = "tone"
            wave = "pink"
            level_db = \(level)
            [node.mix]
            type = "gain"
            \(clean)
            [node.out]
            type = "output"
            channels = 1
            """)
        let sound = scratch.place("noisy\(index).wav")
        let seconds = soundLength(recording.path) + 0.5
        let child = try Child([effort.command, "render", graph, "-o", sound, "--duration", "\(seconds)"])
        defer { child.stop() }
        guard child.waitForEnd(seconds: 300) == 0 else { return nil }
        files.append(sound)
    }
    guard let texts = try recognized(effort, "moonshine", files)?.texts else { return nil }
    var errors = WordErrors()
    for (file, recording) in zip(files, recordings) { errors.add(texts[file] ?? "", said: recording.said) }
    return errors
}
