// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import Host
import NodeKit
import System
import Terminal

/// `voicegraph render`: plays a graph as fast as it goes, into a file.
struct RenderCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "render", abstract: "Render a graph into a sound file, faster than real time.",
        discussion: """
            Without --duration the render ends when every source has played what it has and the output has gone \
            silent, for --tail seconds; those are not written. The graph's latency is taken off: what goes in at frame 0 \
            is at frame 0 of OUT. The suffix of OUT chooses the format: .wav (32-bit float samples, unchanged), .flac, \
            .ogg, .opus; with - a WAV goes to standard output, for a program that reads a pipe: the first 64 MiB at once, \
            the rest as it comes.

            The graph's own `record` nodes write as they do live, which is told; with --no-record they write nothing.

            --bits makes integers of the samples. They are rounded with dither, the same in every run; what is beyond \
            full scale is clipped, counted and told.

            Where audio was lost (a node failed, was silenced by its guard, or a file could not be read to its end), that \
            is said, OUT is written all the same, and the command ends with 1, unless --keep-going is given.

            Examples:
              voicegraph render voice.conf -o voice.wav
              voicegraph render voice.conf -o voice.flac --bits 16 --duration 10
              voicegraph render voice.conf -o - | aplay
            """)

    @OptionGroup
    var graph: GraphOptions

    @OptionGroup
    var plugins: TrustOptions

    @Option(
        name: [.customShort("o"), .customLong("out")],
        help: ArgumentHelp(
            "The sound file to write, \(SoundSuffix.listed); - is standard output.", valueName: "out.wav"),
        completion: SoundSuffix.completion)
    var out: String

    @Option(
        help: ArgumentHelp(
            "Samples: 16, 24 or 32 bits, or float (.wav; float is usual), 16 or 24 (.flac; 24 is usual).",
            valueName: "bits"))
    var bits: SampleBits?

    @Option(
        help: ArgumentHelp(
            "What 16 and 24 bits are rounded with: tpdf, which is usual, shaped (noise where the ear hears less) or none.",
            valueName: "kind"))
    var dither: DitherChoice?

    @Option(help: ArgumentHelp("Write exactly so many seconds.", valueName: "seconds"))
    var duration: Double?

    @Flag(help: "End when every node has played what it has and the output is silent (the default).")
    var untilIdle = false

    @Option(
        help: ArgumentHelp(
            "How long it must be quiet (below -100 dBFS) at the end, without --duration.", valueName: "seconds"))
    var tail = 2.0

    @Flag(help: "Let the record nodes of the graph write nothing.")
    var noRecord = false

    @Flag(help: "End with 0 although audio was lost; it is said all the same.")
    var keepGoing = false

    @Option(
        help: ArgumentHelp(
            "Frames per second, of OUT too; sounds of other rates are resampled, those of --input as well.",
            valueName: "hz"))
    var rate = 48_000

    @Option(help: ArgumentHelp("Frames per block.", valueName: "frames"))
    var block = 1024

    @Option(
        name: .customLong("input"),
        help: ArgumentHelp("Feed an input node from a sound file; may be given several times.", valueName: "node=file"))
    var inputs: [String] = []

    @Option(
        help: ArgumentHelp("The output node to write; otherwise the first in the file.", valueName: "node"))
    var output: String?

    @Option(help: ArgumentHelp("Channels of the file; otherwise those of the output node.", valueName: "count"))
    var channels: Int?

    @Option(help: ArgumentHelp("The tempo of the transport, for plugins that follow one.", valueName: "bpm"))
    var tempo: Double?

    func validate() throws {
        if let duration, !(duration > 0 && duration < 1e7) { throw ValidationError("--duration must be above 0") }
        if duration != nil, untilIdle { throw ValidationError("give --duration or --until-idle, not both") }
        guard tail >= 0, tail <= 3600 else { throw ValidationError("--tail must be from 0 to 3600") }
        guard (1...65_536).contains(block) else { throw ValidationError("--block must be from 1 to 65536") }
        guard (1000...768_000).contains(rate) else { throw ValidationError("--rate must be from 1000 to 768000") }
        if let tempo, !(tempo >= 1 && tempo <= 1000) { throw ValidationError("--tempo must be from 1 to 1000") }
        if let channels, !(1...64).contains(channels) { throw ValidationError("--channels must be from 1 to 64") }
        _ = try inputFiles(inputs)
        if isStream, ![O_WRONLY, O_RDWR].contains(fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE) {
            throw ValidationError("standard output is closed: name a file, or let a program read it")
        }
        if isStream, isatty(STDOUT_FILENO) == 1 {
            throw ValidationError(
                "a sound is nothing for a terminal: name a file, or let a program read it, as | aplay")
        }
        guard isStream || SoundSuffix.isKnown(out) else {
            throw ValidationError("\(out) must end in \(SoundSuffix.listed), or be -, which is standard output")
        }
        if let fault = bits?.fault(in: out) ?? dither?.fault(in: out, bits) { throw ValidationError(fault) }
    }

    /// Whether it goes to standard output.
    private var isStream: Bool { out == "-" }

    func run() throws {
        let name = isStream ? "standard output" : out
        var render = Render(
            path: name, rate: Double(rate), block: block,
            end: duration.map { .frames(Int((Double(rate) * $0).rounded())) } ?? .idle, inputs: try inputFiles(inputs),
            output: output, channels: channels, tempo: tempo ?? 0, tail: tail)
        render.records = !noRecord
        render.descriptor = isStream ? STDOUT_FILENO : nil
        render.settings = bits?.settings ?? [:]
        render.settings["dither"] = dither.map { .string($0.rawValue) }
        plugins.apply()
        let ended = EndFlag()
        let waiting = isStream ? Task.detached { await leave(when: ended) } : nil
        defer { waiting?.cancel() }
        let prepared = try loadGraph(GraphSource(graph)) { [render] graph throws(Fault) in
            try render.change(&graph)
        }
        let losses = RenderLosses(prepared)
        let bar = ProgressBar(rate: Double(rate))
        do throws(Fault) {
            let outcome = try render.run(prepared) { progress in
                bar.show(progress)
                losses.read(until: progress.frames) { line in
                    bar.clear()
                    writeOut(line, to: STDERR_FILENO)
                }
                return !ended.isSet
            }
            bar.clear()
            losses.read(until: outcome.frames) { writeOut($0, to: STDERR_FILENO) }
            writeOut(losses.silences(until: Double(outcome.frames) / Double(rate)), to: STDERR_FILENO)
            if outcome.cutAt != nil { writeOut(cutText(outcome), to: STDERR_FILENO) }
            let summary =
                "\(name): \(outcome.frames) frames, \(bar.summary(outcome.frames))\(outcome.text)\(losses.summary)"
            if ended.isSet { throw Fault("interrupted; \(summary)") }
            writeOut(summary + "\n", to: STDERR_FILENO)
            if !keepGoing, outcome.cutAt != nil || !losses.isEmpty {
                throw Fault("audio was lost, as said above", hint: "--keep-going takes the file as it is")
            }
        } catch {
            bar.clear()
            throw fail("\(error)")
        }
    }
}

/// Ends the program when it is told to end and whoever reads standard output takes nothing: the render would wait for it.
private func leave(when ended: EndFlag) async {
    while !ended.isSet {
        guard (try? await Task.sleep(for: .milliseconds(50))) != nil else { return }
    }
    guard (try? await Task.sleep(for: .seconds(2))) != nil else { return }
    writeOut("voicegraph: interrupted, and standard output was not read to its end\n", to: STDERR_FILENO)
    _exit(1)
}

/// That sound which did not end was cut.
func cutText(_ outcome: Render.Outcome) -> String {
    "voicegraph: the sound did not end within \(Int(Render.longestTail)) s of its sources and was cut at "
        + "\(fixed(outcome.cutAt ?? 0, 1)) dBFS; give --duration to say how much is wanted\n"
}

/// What `--input NODE=FILE` says, given several times.
func inputFiles(_ inputs: [String]) throws -> [String: String] {
    var files: [String: String] = [:]
    for input in inputs {
        let parts = input.split(separator: "=", maxSplits: 1)
        guard parts.count == 2 else { throw ValidationError("--input \(input): write NODE=FILE") }
        guard files.updateValue(String(parts[1]), forKey: String(parts[0])) == nil else {
            throw ValidationError("--input \(input): node '\(parts[0])' is fed already")
        }
    }
    return files
}

extension Render.Outcome {
    /// What the last line of a render says of the file's level.
    fileprivate var text: String {
        var parts: [String] = []
        if let peak { parts.append("peak \(fixed(peak, 1)) dBFS") } else { parts.append("silence") }
        if let truePeak { parts.append("true peak \(fixed(truePeak, 1)) dBTP") }
        if let loudness { parts.append("\(fixed(loudness, 1)) LUFS") }
        if clipped > 0 { parts.append("\(clipped) samples clipped") }
        if latency > 0 { parts.append("latency of \(latency) frames taken off") }
        return ", " + parts.joined(separator: ", ")
    }
}
