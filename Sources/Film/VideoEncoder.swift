// SPDX-License-Identifier: Apache-2.0
import Glibc
import Host
import Picture
import System

/// ffmpeg, which makes a film of pictures that come through a pipe and of the sound of a file.
package final class VideoEncoder {
    /// What it is to make.
    package struct Film {
        var sound: String
        var output: String
        var look: FilmLook
        var framesPerSecond: Double
        /// Captions, as SubRip or WebVTT; nil: none.
        var captions: String?

        /// A film of a sound file, in pictures a second.
        package init(sound: String, output: String, look: FilmLook, framesPerSecond: Double, captions: String?) {
            (self.sound, self.output, self.look) = (sound, output, look)
            (self.framesPerSecond, self.captions) = (framesPerSecond, captions)
        }
    }

    /// What can be made, by the suffix.
    package enum Kind: String, CaseIterable {
        case mp4, webm, gif

        /// A picture as ffmpeg is given it.
        func bytes(_ picture: PixelImage, over ground: Color) -> [UInt8] {
            self == .gif ? picture.rgb(over: ground) : picture.yuv420(over: ground)
        }

        package init?(path: String) {
            guard path.contains("."), let end = path.split(separator: ".").last else { return nil }
            self.init(rawValue: end.lowercased())
        }
    }

    private let film: Film
    private let program: String
    private let child: StartedChild
    private var input: Int32
    /// Where it is written, until it is whole.
    private let file: WholeFile
    /// The captions as they are shown, under a name that needs no quotes.
    private let captions: String?

    /// Starts it. Throws where it is not installed.
    package init(_ film: Film) throws(Fault) {
        guard let program = programPath("ffmpeg") else {
            throw Fault("ffmpeg is not installed", hint: "apt install ffmpeg")
        }
        (self.film, self.program) = (film, program)
        let kind = Kind(path: film.output) ?? .mp4
        do throws(SystemError) { file = try WholeFile(film.output) } catch { throw Fault(error) }
        captions = try film.captions.map { path throws(Fault) in try Self.write(CaptionFile(path: path)) }
        signal(SIGPIPE, SIG_IGN)
        var launcher = ChildLauncher([program] + Self.arguments(film, kind, captions, file.place))
        launcher.hasInput = true
        launcher.endSignal = SIGKILL
        do throws(SystemError) { child = try launcher.start() } catch {
            if let captions { unlink(captions) }
            throw Fault(error)
        }
        input = child.input
        // F_SETPIPE_SZ: a picture in few pieces.
        _ = fcntl(input, 1031, 1 << 20)
        _ = fcntl(child.output, F_SETFL, O_NONBLOCK)
    }

    deinit { if let captions { unlink(captions) } }

    private static func arguments(_ film: Film, _ kind: Kind, _ captions: String?, _ output: String) -> [String] {
        var words = ["-hide_banner", "-loglevel", "error", "-nostdin", "-y"]
        // Only a GIF has red, green and blue; the others are given what they keep.
        let colors = ["-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", "-color_range", "tv"]
        words += ["-f", "rawvideo", "-pix_fmt", kind == .gif ? "rgb24" : "yuv420p"] + (kind == .gif ? [] : colors)
        let size = film.look.layout.size
        words += ["-s", "\(size.width)x\(size.height)"]
        words += ["-r", "\(film.framesPerSecond)", "-i", "pipe:0"]
        if kind != .gif { words += ["-i", "file:" + film.sound] }
        if kind != .gif, let captions { words += ["-i", captions] }
        let style = film.look.layout.style(isLight: film.look.isLight) ?? ""
        let burnt = captions.map { "subtitles=\($0):force_style='\(style)'" }
        switch kind {
        case .gif:
            let colors = "split[a][b];[a]palettegen[p];[b][p]paletteuse"
            return words + ["-filter_complex", [burnt, colors].compactMap { $0 }.joined(separator: ",")]
                + target(output, kind)
        case .mp4, .webm:
            words += ["-map", "0:v", "-map", "1:a"] + (captions == nil ? [] : ["-map", "2:s"])
            if let burnt { words += ["-vf", burnt] }
            words +=
                kind == .mp4
                ? [
                    "-c:v", "libx264", "-preset", "superfast", "-pix_fmt", "yuv420p", "-c:a", "aac", "-b:a", "192k",
                    "-c:s", "mov_text", "-movflags", "+faststart",
                ]
                : [
                    "-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-row-mt", "1", "-b:v", "2M",
                    "-pix_fmt", "yuv420p", "-c:a", "libopus", "-b:a", "128k", "-c:s", "webvtt",
                ]
            words += colors
            // A track of captions, which has pauses, would end all of it.
            return words + (captions == nil ? ["-shortest"] : []) + target(output, kind)
        }
    }

    /// What a film is written to, whatever the file is called.
    private static func target(_ path: String, _ kind: Kind) -> [String] { ["-f", kind.rawValue, "file:" + path] }

    private static func write(_ captions: CaptionFile) throws(Fault) -> String {
        let name = "\(P_tmpdir)/voicegraph-captions-\(getpid()).srt"
        unlink(name)
        let target = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard target >= 0 else { throw Fault("cannot write \(name): \(String(cString: strerror(errno)))") }
        defer { close(target) }
        let fault = writeAll(Array(captions.subRip.utf8), to: target)
        guard fault == 0 else {
            unlink(name)
            throw Fault("cannot write \(name): \(String(cString: strerror(fault)))")
        }
        return name
    }

    /// Gives it the next picture, in the form that `Kind.bytes` makes; false: it takes no more.
    package func write(_ bytes: [UInt8]) -> Bool { input >= 0 && writeAll(bytes, to: input) == 0 }

    /// Waits until the film is whole, and gives it its name; `cutAt`: it has no more than so many seconds. Throws what ffmpeg
    /// said, and leaves nothing, where it could not make it.
    package func finish(cutAt seconds: Double?) throws(Fault) {
        end()
        try wait(child)
        if let seconds, captions != nil { return try cut(after: seconds) }
        do throws(SystemError) { try file.finish() } catch { throw Fault(error) }
    }

    /// Leaves off what comes later: the sound went on without pictures.
    private func cut(after seconds: Double) throws(Fault) {
        let words = ["-hide_banner", "-loglevel", "error", "-nostdin", "-y", "-i", "file:" + file.place]
        let whole: WholeFile
        let cut: StartedChild
        do throws(SystemError) {
            whole = try WholeFile(film.output)
            var launcher = ChildLauncher(
                [program] + words + ["-map", "0", "-t", "\(seconds)", "-c", "copy"]
                    + Self.target(whole.place, Kind(path: film.output) ?? .mp4))
            launcher.endSignal = SIGKILL
            cut = try launcher.start()
        } catch { throw Fault(error) }
        _ = fcntl(cut.output, F_SETFL, O_NONBLOCK)
        try wait(cut)
        do throws(SystemError) { try whole.finish() } catch { throw Fault(error) }
    }

    /// Until a child has ended; throws what it said if it failed.
    private func wait(_ child: StartedChild) throws(Fault) {
        var said = OutputTail()
        var output = child.output
        while output >= 0 {
            var entry = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            poll(&entry, 1, 1000)
            guard let bytes = takeBytes(from: &output) else { break }
            said.append(bytes[...])
        }
        guard child.wait() == 0 else { throw Fault("ffmpeg could not make \(film.output): \(said.lastLine)") }
    }

    /// Ends it without a film.
    package func discard() {
        child.kill()
        end()
        close(child.output)
        _ = child.wait()
    }

    private func end() {
        if input >= 0 { close(input) }
        input = -1
    }
}
