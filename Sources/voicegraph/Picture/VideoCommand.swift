// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Film
import Glibc
import Host
import NodeKit
import Picture

/// `voicegraph video`: makes a film of a sound file.
struct VideoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "video",
        abstract: "Make a film of a sound file or of what a graph plays, in the style of a visualizer.",
        discussion: """
            The suffix of --output chooses the format: .mp4 (H.264, AAC), .webm (VP9, Opus) or .gif (without sound). It is \
            made by ffmpeg (Debian's package ffmpeg). Captions are drawn below the picture, in two lines of 42 letters at \
            most and for 1 to 7 s, and are a track of their own, too; `voicegraph speak --captions` and `voicegraph transcribe --format srt` make them. Ctrl-C ends the film \
            there: it plays, and the command ends with 1.

            Examples:
              voicegraph video morning.wav -o morning.mp4 --style orb
              voicegraph video voice.conf -o voice.webm --duration 4 --style spectrum
            """)

    @OptionGroup
    var sound: SoundOptions

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The film to write: .mp4, .webm or .gif.", valueName: "file"),
        completion: .file(extensions: ["mp4", "webm", "gif"]))
    var output: String

    @Option(
        help: "What to draw: orb, bars, wave, spectrum, spectrogram, scope, goniometer, meter or loudness.")
    var style = PictureStyle.orb

    @Option(
        help: ArgumentHelp(
            "Colours: verdant, twilight, bloom, mystic, flare or glacier, or two of your own, outer and inner, as "
                + "D3FFA6-036B5B; otherwise the style's own.", valueName: "colours"))
    var preset: Preset?

    @Flag(help: "Waves are the longer the lower the sound is; otherwise there are one and a half.")
    var follow = false

    @Option(help: ArgumentHelp("Of the film, in pixels, both even.", valueName: "width x height"))
    var size = PictureSize(width: 1280, height: 720)

    @Option(help: ArgumentHelp("Pictures a second.", valueName: "number"))
    var fps = 30.0

    @Flag(help: "On white; otherwise on black.")
    var light = false

    @Flag(
        inversion: .prefixedNo,
        help: "Write what is measured above pictures that have numbers, and the scale of a meter.")
    var numbers = true

    @Option(help: ArgumentHelp("Captions to show: .srt or .vtt.", valueName: "file"), completion: .file())
    var captions: String?

    func validate() throws {
        try sound.check([sound.file])
        guard VideoEncoder.Kind(path: output) != nil else {
            throw ValidationError("\(output) must end in .mp4, .webm or .gif")
        }
        guard size.width % 2 == 0, size.height % 2 == 0, (16...7680).contains(size.width),
            (16...7680).contains(size.height)
        else { throw ValidationError("--size must be even, and from 16x16 to 7680x7680") }
        guard (1...60).contains(fps) else { throw ValidationError("--fps must be from 1 to 60") }
        if let captions, ![".srt", ".vtt"].contains(where: captions.lowercased().hasSuffix) {
            throw ValidationError("\(captions) must end in .srt or .vtt")
        }
    }

    func run() throws {
        if let old = FileIdentity(output),
            [sound.file, captions ?? sound.file].contains(where: { FileIdentity($0) == old })
        {
            throw fail("the film would be written over \(output), which is to be read; name another file")
        }
        if numbers, style.hasNumbers || style == .meter {
            do throws(NodeError) { _ = try LineOfText("0", size: 10) } catch {
                throw fail("numbers cannot be written: \(error); --no-numbers makes a film without them")
            }
        }
        let ended = EndFlag()
        let report = FileReport(rate: Measurement.rate)
        defer { report.clear() }
        let sound = try sound.sound()
        do throws(Fault) {
            try sound.withSound(ended, report) { path throws(Fault) in try make(sound, path, ended, report) }
        } catch {
            report.fail(error)
            throw ExitCode(1)
        }
    }

    private func make(_ sound: DrawnSound, _ path: String, _ ended: EndFlag, _ report: FileReport) throws(Fault) {
        let look = FilmLook(
            style: style, preset: preset, wave: WaveForm(follows: follow), isLight: light, hasNumbers: numbers,
            hasCaptions: captions != nil, size: size)
        let encoder = try VideoEncoder(
            VideoEncoder.Film(sound: path, output: output, look: look, framesPerSecond: fps, captions: captions))
        let frames = FilmFrames(
            look, kind: VideoEncoder.Kind(path: output) ?? .mp4, framesPerSecond: fps, to: encoder.write)
        let seconds: Double
        do throws(Fault) {
            seconds = try Measurement(path: path, series: style.series).run(registry: sound.registry) {
                report.show(Int($0 * Measurement.rate))
                return !ended.isSet && !frames.isRefused
            } take: { frame in
                frames.take(frame)
            }.seconds
        } catch {
            encoder.discard()
            throw error.message.hasPrefix(path) ? error : Fault("\(sound.file): \(error)")
        }
        frames.finish(at: ended.isSet ? frames.seconds : seconds)
        try encoder.finish(cutAt: ended.isSet ? frames.seconds : nil)
        let summary = "\(output): \(report.summary(Int(frames.seconds * Measurement.rate)))"
        if ended.isSet { throw Fault("interrupted; what is there plays: \(summary)") }
        report.tell(summary + "\n")
    }
}

extension PictureStyle: ExpressibleByArgument {}
extension Preset: ExpressibleByArgument {
    /// A name, or two colours.
    public init?(argument: String) { self.init(argument) }
    /// All names.
    public static var allValueStrings: [String] { allCases.map(\.name) }
    /// What is called so.
    public var defaultValueDescription: String { name }
}
