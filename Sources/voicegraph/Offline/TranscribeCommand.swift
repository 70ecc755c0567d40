// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import Host
import NodeKit
import System
import Terminal

/// `voicegraph transcribe`: makes text of sound files, faster than they play.
struct TranscribeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transcribe", abstract: "Make text of what is said in sound files.",
        discussion: """
            The files may have any rate and any channels; as many are worked on at a time as there are processors, and \
            memory (half a gigabyte each). Text is written in the order of the files, as soon as it is known and all that \
            comes before it. Captions of several files go on as if one file followed the other. \
            Engines: moonshine (see `voicegraph models`), pocketsphinx (Debian's packages libpocketsphinx3 and \
            pocketsphinx-en-us), sherpa with a model of your own, or a command that reads WAV and writes text. What \
            cannot be transcribed is told, the other files are written, and the command ends with 1.

            Examples:
              voicegraph transcribe interview.flac
              voicegraph transcribe one.wav two.wav --format srt -o talk.srt
              voicegraph transcribe a.wav --engine sherpa --kind whisper --model ~/whisper
            """)

    @Argument(help: "Sound files of any format that libsndfile reads.", completion: .file())
    var files: [String]

    /// As its node takes them.
    private static let engines = ["auto", "moonshine", "pocketsphinx", "sherpa", "command"]
    private static let enginesText = engines.dropLast().joined(separator: ", ") + " or " + engines.last!

    @Option(help: "What recognizes: \(enginesText).")
    var engine = "auto"

    @Option(help: "What is spoken, as in en-US. Without it, and without --model, it is taken for English.")
    var language: String?

    @Option(help: "The model of the engine: the name of an installed one, or of pocketsphinx and sherpa a folder.")
    var model: String?

    @Option(
        help:
            "Of which family the model of the engine sherpa is, such as whisper; `voicegraph nodes transcribe` has all."
    )
    var kind: String?

    @Option(help: ArgumentHelp("The program for the engine 'command', as a line for the shell.", valueName: "line"))
    var command: String?

    @Flag(help: "Say who speaks, of the voices that a node 'speaker' has learned.")
    var speakers = false

    @Option(help: "What to write: txt, which is usual, srt, vtt or json (one object a line).")
    var format: TranscriptFormat?

    @Flag(help: "Short for --format json.")
    var json = false

    @Option(
        name: .shortAndLong, help: ArgumentHelp("Where to write; without it standard output.", valueName: "file"),
        completion: .file())
    var output: String?

    @OptionGroup
    var batch: BatchOptions

    @OptionGroup
    var plugins: PluginOptions

    func validate() throws {
        _ = try chosenFormat(format, json: json, .json, otherwise: .txt)
        if files.isEmpty { throw ValidationError("name a sound file") }
        guard Self.engines.contains(engine) else {
            throw ValidationError("--engine must be \(Self.enginesText)")
        }
    }

    func run() throws {
        if let output, let old = FileIdentity(output), files.contains(where: { FileIdentity($0) == old }) {
            throw fail("the text would be written over \(output), which is to be read; name another file")
        }
        if language == nil, model == nil, command == nil {
            writeOut("voicegraph: what is said is taken for English (--language tells another)\n", to: STDERR_FILENO)
        }
        let format = try chosenFormat(format, json: json, .json, otherwise: .txt)
        let transcripts = Transcripts(files: files, settings: settings, namesSpeakers: speakers)
        let registry = NodeRegistry(search: try plugins.search())
        useIsolation()
        let ended = EndFlag()
        let isWhole: Bool
        do throws(SystemError) {
            let target = try output.map { path throws(SystemError) in try WholeFile(path) }
            let sink = TranscriptSink(format, to: target)
            isWhole = try transcripts.run(atOnce: batch.jobs, registry, ended, to: sink)
            try sink.finish()
        } catch { throw fail("\(error)") }
        if ended.isSet { throw fail("interrupted") }
        if !isWhole { throw ExitCode(1) }
    }

    /// Of the node that recognizes.
    private var settings: [String: SettingValue] {
        var settings: [String: SettingValue] = ["engine": .string(engine)]
        // A model with a name is looked for among those that are installed.
        settings["model"] = model.map { .string(names(in: $0).isEmpty ? $0 : absolute($0)) }
        settings["kind"] = kind.map { .string($0) }
        settings["language"] = language.map { .string($0) }
        settings["command"] = command.map { .string($0) }
        return settings
    }
}
