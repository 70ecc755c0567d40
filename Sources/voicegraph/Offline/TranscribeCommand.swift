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
            The files are read one after the other, at any rate and with any channels; text is written when it is known. \
            Captions of several files go on as if one file followed the other. \
            Engines: moonshine (see `voicegraph models`), pocketsphinx (Debian's packages libpocketsphinx3 and \
            pocketsphinx-en-us), sherpa with a model of your own, or a command that reads WAV and writes text. What \
            cannot be transcribed is told, the other files are, and the command ends with 1.

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
        let registry = NodeRegistry(search: try plugins.search())
        useIsolation()
        let ended = EndFlag()
        var isWhole = true
        var writer = TranscriptWriter(format)
        do throws(SystemError) {
            let target = try output.map { path throws(SystemError) in try WholeFile(path) }
            var fault: SystemError?
            var isRefused = false
            func write(_ text: String) {
                do throws(SystemError) {
                    if let target { try target.write(Array(text.utf8)) } else { isRefused = !writeOut(text) }
                } catch { (fault, isRefused) = (error, true) }
            }
            write(writer.head)
            for path in files where !ended.isSet && !isRefused {
                let (seconds, isDone) = transcribe(path, registry) {
                    !ended.isSet && !isRefused && !isReaderGone
                } take: { item in
                    write(writer.text(item, of: path))
                }
                writer.endFile(seconds)
                isWhole = isDone && isWhole
            }
            write(writer.end())
            if let fault { throw fault }
            try target?.finish()
        } catch { throw fail("\(error)") }
        if ended.isSet { throw fail("interrupted") }
        if !isWhole { throw ExitCode(1) }
    }

    /// One file: how long it is, and whether it was transcribed to its end; if not, that was said.
    private func transcribe(
        _ path: String, _ registry: NodeRegistry, goesOn: () -> Bool, take: (Transcription.Item) -> Void
    ) -> (seconds: Double, isDone: Bool) {
        guard access(path, R_OK) == 0 else {
            _ = fail("\(path): \(String(cString: strerror(errno)))")
            return (0, false)
        }
        var settings: [String: SettingValue] = ["engine": .string(engine)]
        // A model with a name is looked for among those that are installed.
        settings["model"] = model.map { .string(names(in: $0).isEmpty ? $0 : absolute($0)) }
        settings["kind"] = kind.map { .string($0) }
        settings["language"] = language.map { .string($0) }
        settings["command"] = command.map { .string($0) }
        let bar = ProgressBar(rate: Transcription.rate)
        func frames(_ seconds: Double) -> Int { Int(seconds * Transcription.rate) }
        do throws(Fault) {
            let outcome = try Transcription(path: path, settings: settings, namesSpeakers: speakers).run(
                registry: registry
            ) {
                seconds in
                bar.show(frames(seconds))
                return goesOn()
            } take: { item in
                bar.clear()
                take(item)
            }
            bar.clear()
            if isatty(STDERR_FILENO) == 1 {
                writeOut("\(path): \(bar.summary(frames(outcome.seconds)))\n", to: STDERR_FILENO)
            }
            guard let first = outcome.failures.first else { return (outcome.seconds, true) }
            let count = outcome.failures.count
            _ = fail("\(path): \(count) part\(count == 1 ? "" : "s") could not be recognized: \(first)")
            return (outcome.seconds, false)
        } catch {
            bar.clear()
            _ = fail(error.message.hasPrefix(path) ? "\(error)" : "\(path): \(error)")
            return (0, false)
        }
    }
}
