// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Film
import Glibc
import GraphFile
import Host
import NodeKit
import System
import Terminal

/// `voicegraph speak`: a text into a sound file, faster than real time.
struct SpeakCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "speak", abstract: "Speak a text into a sound file.",
        discussion: """
            The suffix of the sound file chooses the format (\(SoundSuffix.listed)), that of the captions theirs (.srt, \
            .vtt). Captions have all of the text, in two lines at most; they follow words where the engine tells them, else \
            sentences. Exit code 1 where the text cannot be \
            spoken, or not to its end.

            Examples:
              voicegraph speak "Good morning." -o morning.wav --voice en-GB
              voicegraph speak --file book.txt -o book.ogg --captions book.vtt
            """)

    @Option(
        name: [.customShort("o"), .customLong("out")],
        help: ArgumentHelp("The sound file to write.", valueName: "out.wav"), completion: SoundSuffix.completion)
    var out: String

    @OptionGroup var text: TextOptions
    @OptionGroup var engine: EngineOptions
    @OptionGroup var voice: VoiceOptions

    @Option(help: ArgumentHelp("Captions to write.", valueName: "x.srt|x.vtt"), completion: .file())
    var captions: String?

    @Option(help: ArgumentHelp("Frames per second of the file.", valueName: "hz"))
    var sampleRate = 48_000

    @OptionGroup var plugins: PluginOptions

    func validate() throws {
        guard (8000...192_000).contains(sampleRate) else {
            throw ValidationError("--sample-rate must be from 8000 to 192000")
        }
        guard SoundSuffix.isKnown(out) else {
            throw ValidationError("\(out) must end in \(SoundSuffix.listed)")
        }
        if let captions, CaptionFormat(path: captions) == nil {
            throw ValidationError("\(captions) must end in .srt or .vtt")
        }
    }

    func run() throws {
        let spoken = try text.read()
        let render = Render(path: out, rate: Double(sampleRate), tail: 0.1)
        var settings = engine.settings.merging(voice.settings) { $1 }
        settings["text"] = .string(spoken)
        let registry = NodeRegistry(search: try plugins.search())
        let description = SpeechGraph.description(settings, channels: 1)
        do throws(Fault) {
            let (made, diagnostics) = try PreparedGraph.make(description, registry: registry) {
                graph throws(Fault) in try render.change(&graph)
            }
            guard let made else { throw Fault(failureText(diagnostics)) }
            try speak(spoken, render, made)
        } catch { throw fail("\(error)") }
    }

    private func failureText(_ diagnostics: [Diagnostic]) -> String {
        let errors = diagnostics.filter { $0.severity == .error }
        return errors.map(\.fault.description).joined(separator: "; ")
    }

    private func speak(_ spoken: String, _ render: Render, _ made: PreparedGraph) throws(Fault) {
        let ended = EndFlag()
        let losses = RenderLosses(made)
        let events = made.bus.subscribe(.lossless) {
            if case .event(let event) = $0 { event.node == SpeechGraph.voice } else { false }
        }
        let file = try captions.map { path throws(Fault) in
            try CaptionFile(path, of: spoken, markup: voice.ssml ?? "auto")
        }
        let bar = ProgressBar(rate: render.rate)
        var failure: String?
        func readEvents() {
            while case .event(let event)? = events.poll() {
                if event.type?.kind == .failure { failure = event.text("reason") ?? "the text cannot be spoken" }
                file?.take(event)
            }
        }
        let outcome = try render.run(made) { progress in
            bar.show(progress)
            losses.read(until: progress.frames) { line in
                bar.clear()
                writeOut(line, to: STDERR_FILENO)
            }
            readEvents()
            return !ended.isSet
        }
        bar.clear()
        losses.read(until: outcome.frames) { writeOut($0, to: STDERR_FILENO) }
        readEvents()
        try file?.finish(at: Double(outcome.frames) / render.rate)
        if let failure { throw Fault("\(out): the text was not spoken to its end: \(failure)") }
        let summary = "\(out): \(outcome.frames) frames, \(bar.summary(outcome.frames))\(losses.summary)"
        if ended.isSet { throw Fault("interrupted; \(summary)") }
        writeOut(summary + "\n", to: STDERR_FILENO)
        if outcome.frames == 0 { throw Fault("nothing of this text is spoken: the file is empty") }
    }
}
