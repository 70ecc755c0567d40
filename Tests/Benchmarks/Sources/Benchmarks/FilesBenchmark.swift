// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Many files of a few seconds: in one call, in a call each, and by programs that take one at a time. What counts is the time
/// that passes.
func filesBenchmark(_ effort: Effort) throws -> [Row] {
    guard let sox = program("sox") else { return [.missing("many files", "sox")] }
    let scratch = try Scratch()
    let count = effort.isQuick ? 10 : 50
    let inputs = (0..<count).map { scratch.place("in-\($0).wav") }
    for input in inputs {
        let made = try Child([
            sox, "-R", "-n", "-r", "44100", "-c", "1", input, "synth", "8", "pinknoise", "vol", "0.3", "tremolo", "3",
            "80",
        ])
        guard made.waitForEnd(seconds: 60) == 0 else { throw BenchmarkError("sox: \(made.lastLines)") }
    }
    let graph = try scratch.file(
        "chain.conf",
        """
        [graph]
        links = ["in -> compressor -> limiter -> out"]
        [node.in]
        type = "input"
        channels = 1
        [node.compressor]
        type = "compressor"
        channels = 1
        [node.limiter]
        type = "limiter"
        channels = 1
        [node.out]
        type = "output"
        channels = 1
        """)
    let made = (0..<count).map { scratch.place("out-in-\($0).wav") }
    let drawn = (0..<count).map { scratch.place("out-in-\($0).png") }
    func out(_ suffix: String) -> String { scratch.path + "/out-{name}" + suffix }
    let own = [effort.command]
    let ffmpeg = program("ffmpeg")
    func each(_ command: (Int) -> [String]) -> [[String]] { (0..<count).map(command) }

    var jobs: [(item: String, subjects: [(name: String, commands: [[String]])])] = [
        (
            "compressor and limiter",
            [
                ("voicegraph render, one call", [own + ["render", graph] + inputs + ["-o", out(".wav")]]),
                (
                    "voicegraph render, a call each",
                    each { own + ["render", graph, "--input", "in=\(inputs[$0])", "-o", made[$0]] }
                ),
            ]
        ),
        (
            "loudness and true peak",
            [
                ("voicegraph picture, one call", [own + ["picture"] + inputs]),
                ("voicegraph picture, a call each", each { own + ["picture", inputs[$0]] }),
            ]
        ),
        (
            "spectrograms",
            [
                (
                    "voicegraph picture, one call",
                    [own + ["picture", "--style", "spectrogram"] + inputs + ["-o", out(".png")]]
                ),
                ("sox spectrogram, a call each", each { [sox, inputs[$0], "-n", "spectrogram", "-o", drawn[$0]] }),
            ]
        ),
    ]
    if let ffmpeg {
        let quiet = [ffmpeg, "-v", "error", "-y", "-i"]
        jobs[0].subjects.append(
            (
                "ffmpeg acompressor, alimiter, a call each",
                each { quiet + [inputs[$0], "-af", "acompressor,alimiter", made[$0]] }
            ))
        jobs[1].subjects.append(
            (
                "ffmpeg ebur128=peak=true, a call each",
                each { quiet + [inputs[$0], "-af", "ebur128=peak=true", "-f", "null", "-"] }
            ))
    }
    var rows: [Row] = []
    for job in jobs {
        let item = "\(count) files of 8 s: \(job.item)"
        progress(item)
        let samples = try interleaved(
            effort.isQuick ? 1 : 3,
            job.subjects.map { subject in
                {
                    try nanoseconds {
                        for command in subject.commands {
                            let child = try Child(command)
                            guard child.waitForEnd(seconds: 300) == 0 else {
                                throw BenchmarkError("\(subject.name): \(child.lastLines)")
                            }
                        }
                    } / 1e9
                }
            })
        for (index, subject) in job.subjects.enumerated() {
            var row = Row(item, subject.name, samples[index], "s")
            if index > 0 { row = row.compared(samples[0], with: samples[index], "the time of one call of voicegraph") }
            rows.append(row)
        }
    }
    if ffmpeg == nil { rows.append(.missing("many files", "ffmpeg")) }
    return rows
}
