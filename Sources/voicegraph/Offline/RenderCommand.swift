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

            With SOUNDS behind the graph each of them is played by its input, in a render of its own; as many go on at a \
            time as there are processors. OUT is then a folder, which gets a .wav for each, or has {name} in it, which \
            stands for what a sound is called. What fails is told, the others are rendered, and the command ends with 1.

            The graph's own `record` nodes write as they do live, which is told; with --no-record they write nothing.

            --bits makes integers of the samples. They are rounded with dither, the same in every run; what is beyond \
            full scale is clipped, counted and told.

            Where audio was lost (a node failed, was silenced by its guard, or a file could not be read to its end), that \
            is said, OUT is written all the same, and the command ends with 1, unless --keep-going is given.

            Examples:
              voicegraph render voice.conf -o voice.wav
              voicegraph render voice.conf -o voice.flac --bits 16 --duration 10
              voicegraph render chain.conf one.wav two.wav -o louder/{name}.flac
            """)

    @OptionGroup
    var graph: GraphOptions

    @Argument(help: "Sound files that the graph's input plays, one render for each.", completion: .file())
    var sounds: [String] = []

    @OptionGroup
    var plugins: TrustOptions

    @Option(
        name: [.customShort("o"), .customLong("out")],
        help: ArgumentHelp(
            "The sound file to write, \(SoundSuffix.listed); - is standard output. Of several sounds a folder, or a name with {name} in it.",
            valueName: "out.wav"), completion: SoundSuffix.completion)
    var out: String

    @OptionGroup
    var batch: BatchOptions

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
        help: ArgumentHelp(
            "Feed an input node from a sound file; may be given several times. Of several inputs NODE alone plays the sounds.",
            valueName: "node=file"))
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
        if let other = sounds.first(where: isGraphFile) {
            throw ValidationError("\(other) is a graph, and there is one already: name sounds behind it")
        }
        guard players.count < 2 else {
            throw ValidationError("--input \(players[1]): '\(players[0])' plays the sounds")
        }
        _ = try inputFiles(fed)
        if isStream, !sounds.isEmpty {
            throw ValidationError("name a file or a folder: sounds that are named are not for standard output")
        }
        if isStream, ![O_WRONLY, O_RDWR].contains(fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE) {
            throw ValidationError("standard output is closed: name a file, or let a program read it")
        }
        if isStream, isatty(STDOUT_FILENO) == 1 {
            throw ValidationError(
                "a sound is nothing for a terminal: name a file, or let a program read it, as | aplay")
        }
        let out = sounds.isEmpty ? self.out : target.text
        guard isStream || SoundSuffix.isKnown(out) || sounds.isEmpty else {
            throw ValidationError(
                "\(out) must be a folder, which is made where it ends in /, or end in \(SoundSuffix.listed)")
        }
        guard isStream || SoundSuffix.isKnown(out) else {
            throw ValidationError("\(out) must end in \(SoundSuffix.listed), or be -, which is standard output")
        }
        if let fault = bits?.fault(in: out) ?? dither?.fault(in: out, bits) { throw ValidationError(fault) }
    }

    /// Whether it goes to standard output.
    private var isStream: Bool { out == "-" }
    /// What is written for each sound.
    private var target: OutputNames { OutputNames(out, suffix: ".wav") }
    /// Names of nodes among `--input`, and what is fed from files.
    private var players: [String] { sounds.isEmpty ? [] : inputs.filter { !$0.contains("=") } }
    private var fed: [String] { sounds.isEmpty ? inputs : inputs.filter { $0.contains("=") } }

    func run() throws {
        let name = isStream ? "standard output" : out
        var render = Render(
            path: name, rate: Double(rate), block: block,
            end: duration.map { .frames(Int((Double(rate) * $0).rounded())) } ?? .idle, inputs: try inputFiles(fed),
            output: output, channels: channels, tempo: tempo ?? 0, tail: tail)
        render.records = !noRecord
        render.descriptor = isStream ? STDOUT_FILENO : nil
        render.settings = bits?.settings ?? [:]
        render.settings["dither"] = dither.map { .string($0.rawValue) }
        plugins.apply()
        let ended = EndFlag()
        let waiting = isStream ? Task.detached { await leave(when: ended) } : nil
        defer { waiting?.cancel() }
        let job = RenderJob(render: render, keepsGoing: keepGoing)
        let source = GraphSource(graph)
        guard sounds.isEmpty else { return try run(job, source, ended) }
        let prepared = try loadGraph(source) { graph throws(Fault) in try job.render.change(&graph) }
        let report = FileReport(rate: Double(rate))
        defer { report.clear() }
        do throws(Fault) { try job.run(prepared, ended, report) } catch {
            report.clear()
            throw fail("\(error)")
        }
    }

    /// Of each sound.
    private func run(_ job: RenderJob, _ source: GraphSource, _ ended: EndFlag) throws {
        let paths: [String]
        do throws(Fault) {
            paths = try target.paths(for: sounds)
            try target.makeFolder()
        } catch { throw fail(error) }
        let renders = FileRenders(job: job, source: source, files: sounds, paths: paths, player: players.first)
        let isWhole = try renders.run(atOnce: batch.jobs, ended)
        if ended.isSet { throw fail("interrupted") }
        if !isWhole { throw ExitCode(1) }
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
