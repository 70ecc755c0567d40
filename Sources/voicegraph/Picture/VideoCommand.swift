// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Dispatch
import Glibc
import Host
import Picture

/// `voicegraph video`: makes a film of a sound file.
struct VideoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "video", abstract: "Make a film of a sound file, in the style of a visualizer.",
        discussion: """
            The suffix of --output chooses the format: .mp4 (H.264, AAC), .webm (VP9, Opus) or .gif (without sound). It is \
            made by ffmpeg (Debian's package ffmpeg). Captions are drawn into the pictures, and are a track of their own, \
            too; `voicegraph speak --captions` and `voicegraph transcribe --format srt` make them. Ctrl-C ends the film \
            there: it plays, and the command ends with 1.
            """)

    @Argument(help: "A sound file of any format that libsndfile reads.", completion: .file())
    var file: String

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The film to write: .mp4, .webm or .gif.", valueName: "file"),
        completion: .file(extensions: ["mp4", "webm", "gif"]))
    var output: String

    @Option(help: "What to draw: orb, bars or wave.")
    var style = PictureStyle.orb

    @Option(help: "Colours: verdant, twilight, bloom, mystic, flare or glacier; otherwise the style's own.")
    var preset: Preset?

    @Option(help: ArgumentHelp("Of the film, in pixels, both even.", valueName: "width x height"))
    var size = PictureSize(width: 1280, height: 720)

    @Option(help: ArgumentHelp("Pictures a second.", valueName: "number"))
    var fps = 30.0

    @Flag(help: "On white; otherwise on black.")
    var light = false

    @Option(help: ArgumentHelp("Captions to show: .srt or .vtt.", valueName: "file"), completion: .file())
    var captions: String?

    @OptionGroup
    var plugins: PluginOptions

    func validate() throws {
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
        if let old = FileIdentity(output), [file, captions ?? file].contains(where: { FileIdentity($0) == old }) {
            throw fail("the film would be written over \(output), which is to be read; name another file")
        }
        guard access(file, R_OK) == 0 else { throw fail("\(file): \(String(cString: strerror(errno)))") }
        let registry = NodeRegistry(search: try plugins.search())
        let ended = EndFlag()
        let bar = ProgressBar(rate: Measurement.rate)
        do throws(HostError) {
            let encoder = try VideoEncoder(
                VideoEncoder.Film(
                    sound: file, output: output, width: size.width, height: size.height, framesPerSecond: fps,
                    captions: captions))
            let frames = FilmFrames(
                style, preset: preset, ground: light ? .white : .black, width: size.width, height: size.height,
                framesPerSecond: fps, to: encoder.write)
            let seconds: Double
            do throws(HostError) {
                seconds = try Measurement(path: file, series: style.series).run(registry: registry) {
                    bar.show(Int($0 * Measurement.rate))
                    return !ended.isSet && !frames.isRefused
                } take: { frame in
                    frames.take(orb: frame["orb"].first, bands: frame["bands"], at: frame.time)
                }.seconds
            } catch {
                encoder.discard()
                throw error.message.hasPrefix(file) ? error : HostError("\(file): \(error)")
            }
            frames.finish(at: ended.isSet ? frames.seconds : seconds)
            try encoder.finish(cutAt: ended.isSet ? frames.seconds : nil)
            bar.clear()
            let summary = "\(output): \(bar.summary(Int(frames.seconds * Measurement.rate)))"
            if ended.isSet { throw HostError("interrupted; what is there plays: \(summary)") }
            writeOut(summary + "\n", to: STDERR_FILENO)
        } catch {
            bar.clear()
            throw fail("\(error)")
        }
    }
}

extension PictureStyle: ExpressibleByArgument {}
extension Preset: ExpressibleByArgument {}

/// The pictures of a film: takes what was measured, and draws what is due, several at the same time.
final class FilmFrames {
    private let style: PictureStyle
    private let preset: Preset?
    private let ground: Color
    private let width, height: Int
    private let rate: Double
    private let write: ([UInt8]) -> Bool
    private var motion = PictureMotion()
    private var waiting: [PictureState] = []
    private var count = 0
    /// Whether nobody takes pictures any more.
    private(set) var isRefused = false

    /// Drawn at the same time.
    private static let together = 4

    init(
        _ style: PictureStyle, preset: Preset?, ground: Color, width: Int, height: Int, framesPerSecond: Double,
        to write: @escaping ([UInt8]) -> Bool
    ) {
        (self.style, self.preset, self.ground) = (style, preset, ground)
        (self.width, self.height, rate, self.write) = (width, height, framesPerSecond, write)
    }

    /// Of the pictures that there are.
    var seconds: Double { Double(count) / rate }

    /// Takes levels, or bands; all that are due before are drawn as things were.
    func take(orb: Float?, bands: [Float], at time: Double) {
        due(until: time)
        if let orb { motion.take(level: orb, at: time) }
        if !bands.isEmpty { _ = motion.take(bands: bands, at: time) }
    }

    /// Draws all that are due until the end.
    func finish(at time: Double) {
        due(until: time)
        draw()
    }

    private func due(until time: Double) {
        while seconds < time {
            waiting.append(motion.state(style, at: seconds))
            count += 1
            if waiting.count == Self.together { draw() }
        }
    }

    private func draw() {
        guard !waiting.isEmpty, !isRefused else { return waiting = [] }
        let states = waiting
        waiting = []
        let (style, preset, ground, width, height) = (style, preset, ground, width, height)
        nonisolated(unsafe) var pictures = [[UInt8]](repeating: [], count: states.count)
        pictures.withUnsafeMutableBufferPointer { pictures in
            nonisolated(unsafe) let pictures = pictures
            DispatchQueue.concurrentPerform(iterations: states.count) { index in
                pictures[index] = Picture.draw(style, states[index], preset: preset, width: width, height: height)
                    .rgb(over: ground)
            }
        }
        for picture in pictures where !isRefused { isRefused = !write(picture) }
    }
}
