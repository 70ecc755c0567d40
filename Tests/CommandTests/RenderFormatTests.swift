// SPDX-License-Identifier: Apache-2.0
import CSndfile
import Foundation
import TestSupport

/// What a render writes besides floats in a file: integers, and a stream.
@Suite(.timeLimit(.minutes(5))) struct RenderFormatTests {
    private let scratch: Scratch
    private let graph: String

    init() throws {
        scratch = try Scratch()
        graph = try scratch.write("graph.conf", endless)
    }

    /// Runs a line of the shell, in which $V is the command and $G the graph; fails if any of its programs does.
    private func shell(_ line: String) async throws -> (code: Int32, output: String, errors: String) {
        let environment = ["V": Program.voicegraph, "G": graph, "XDG_RUNTIME_DIR": scratch.path]
        let program = try Program(
            ["bash", "-c", "set -o pipefail; " + line], environment: environment, folder: scratch.path)
        return (try await program.end(), program.output, program.errors)
    }

    @Test(
        "Bits make the samples of a file",
        arguments: [
            ("a.wav", "16", SF_FORMAT_PCM_16), ("a.wav", "24", SF_FORMAT_PCM_24), ("a.wav", "32", SF_FORMAT_PCM_32),
            ("a.wav", "float", SF_FORMAT_FLOAT), ("a.flac", "16", SF_FORMAT_PCM_16), ("a.flac", "24", SF_FORMAT_PCM_24),
        ])
    func bits(name: String, bits: String, format: Int) async throws {
        let plain = try await shell("\"$V\" render \"$G\" -o plain.wav --duration 0.5")
        #expect(plain.code == 0, "\(plain.errors)")
        for run in ["one", "two"] {
            let made = try await shell(
                "\"$V\" render \"$G\" -o \(run)-\(name) --duration 0.5 --bits \(bits) --block \(run.count * 100)")
            #expect(made.code == 0, "\(made.errors)")
            let other = try await shell(
                "\"$V\" render \"$G\" -o other-\(name) --duration 0.5 --bits \(bits) --block 777")
            #expect(other.code == 0)
            // Dither is the same in every run, at any block.
            let one = try Data(contentsOf: URL(filePath: scratch.file("\(run)-\(name)")))
            let two = try Data(contentsOf: URL(filePath: scratch.file("other-\(name)")))
            #expect(one == two)
        }
        let file = try SoundFile(scratch.file("one-\(name)"))
        #expect(file.format & Int(SF_FORMAT_SUBMASK) == format)
        let exact = try SoundFile(scratch.file("plain.wav")).samples
        let step: Float = bits == "float" ? 0 : exp2(Float(1 - (Int(bits) ?? 0)))
        let worst: Float = zip(file.samples[0], exact[0]).map { abs($0 - $1) }.max() ?? 1
        // Rounding and dither are half a step and one step at the most.
        let most: Float = bits == "32" ? 1e-7 : 1.5 * step
        #expect(worst <= most)
        if ["16", "24"].contains(bits) { #expect(worst > 0.5 * step, "there is dither") }
    }

    @Test("Without dither a sample is rounded to the nearest step") func noDither() async throws {
        let made = try await shell(
            "\"$V\" render \"$G\" -o plain.wav --duration 0.2 && \"$V\" render \"$G\" -o a.wav --duration 0.2 --bits 16 --dither none"
        )
        #expect(made.code == 0, "\(made.errors)")
        let exact = try SoundFile(scratch.file("plain.wav")).samples[0]
        let rounded = exact.map { (sample: Float) -> Float in (sample * 32_768).rounded() / 32_768 }
        let samples = try SoundFile(scratch.file("a.wav")).samples[0]
        #expect(samples == rounded)
    }

    @Test("What is beyond full scale is clipped, counted and told", arguments: ["16", "24", "32"])
    func clipping(bits: String) async throws {
        let options = "--set node.gain.gain_db=12 --duration 0.5"
        let made = try await shell(
            "\"$V\" render \"$G\" -o plain.wav \(options) && \"$V\" render \"$G\" -o a.wav --bits \(bits) \(options)")
        #expect(made.code == 0)
        let beyond = try SoundFile(scratch.file("plain.wav")).samples.joined().count { abs($0) > 1 }
        #expect(beyond > 1000 && made.errors.contains(", \(beyond) samples clipped\n"), "\(made.errors)")
        #expect(made.errors.contains("a.wav is clipped: "))
        #expect(try SoundFile(scratch.file("a.wav")).samples.joined().allSatisfy { abs($0) <= 1 })
    }

    @Test(
        "Bits and dither that a file cannot have are wrong usage, and nothing is written",
        arguments: [
            ("-o a.flac --bits 32", "FLAC has samples of 16 or 24 bits"), ("-o a.flac --bits float", "FLAC has"),
            ("-o a.ogg --bits 16", "OGG has no bits"), ("-o a.wav --bits 20", "--bits"), ("-o a.wav --bits", "--bits"),
            ("-o a.wav --dither tpdf", "give --bits 16 or 24"), ("-o a.ogg --dither tpdf", "give --bits 16 or 24"),
            ("-o a.wav --bits 16 --dither much", "--dither"), ("-o a.mp3", "standard output"),
        ])
    func wrong(options: String, reason: String) async throws {
        let made = try await shell("\"$V\" render \"$G\" --duration 1 \(options)")
        #expect(made.code == 64 && made.errors.contains(reason), "\(made.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == ["graph.conf"])
    }

    @Test(
        "A pipe gets the samples of the file, and their length; other programs do not complain of it",
        arguments: ["16", "24", "float"])
    func stream(bits: String) async throws {
        let options = "--duration 1.00001 --bits \(bits) --channels 1"
        let made = try await shell(
            "\"$V\" render \"$G\" -o file.wav \(options) && \"$V\" render \"$G\" -o - \(options) | cat > piped.wav")
        #expect(made.code == 0 && made.output == "", "\(made.errors)")
        #expect(made.errors.contains("\nstandard output: 48000 frames, "))
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: scratch.file("piped.wav"))))
        func size(at place: Int) -> Int { (0..<4).reduce(0) { $0 + Int(bytes[place + $1]) << (8 * $1) } }
        let head = ["16": 44, "24": 68][bits] ?? 46
        let width = bits == "float" ? 4 : (Int(bits) ?? 0) / 8
        #expect(bytes.count == head + 48_000 * width)
        #expect(size(at: 4) == bytes.count - 8 && size(at: head - 4) == 48_000 * width)
        // Other programs read it from the pipe, and find out by themselves what it is.
        let read = try await shell(
            "\"$V\" render \"$G\" -o - \(options) 2>/dev/null | sox - -t f32 piped.raw && sox file.wav -t f32 file.raw "
                + "&& cmp piped.raw file.raw && \"$V\" render \"$G\" -o - \(options) 2>/dev/null "
                + "| ffmpeg -loglevel warning -i - -f f32le piped.f32 && ffmpeg -loglevel warning -i file.wav -f f32le file.f32 "
                + "&& cmp piped.f32 file.f32")
        #expect(read.code == 0 && read.output == "", "\(read.output)\(read.errors)")
        let complaints = read.errors.split(separator: "\n").filter { !$0.hasPrefix("Guessed Channel Layout") }
        // Of its own file as well.
        #expect(complaints.filter { !$0.contains("missing extended part") } == [])
    }

    @Test("A stream that does not end soon says that its length is not known") func longStream() async throws {
        _ = try await shell(
            "\"$V\" render \"$G\" -o - --duration 200 --rate 96000 --channels 1 | head -c 46 > head")
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: scratch.file("head"))))
        #expect(bytes.count == 46 && bytes[4..<8].allSatisfy { $0 == 0xFF } && bytes[42..<46].allSatisfy { $0 == 0xFF })
    }

    @Test("A file behind standard output has its length, and what stood in it before stays") func redirected()
        async throws
    {
        // 24 bits, one channel and an odd number of frames: a byte stands behind them.
        let options = "--duration 0.500021 --bits 24 --channels 1"
        let made = try await shell(
            "\"$V\" render \"$G\" -o - \(options) > a.wav && \"$V\" render \"$G\" -o b.wav \(options)")
        #expect(made.code == 0, "\(made.errors)")
        let file = try SoundFile(scratch.file("a.wav"))
        let other = try SoundFile(scratch.file("b.wav"))
        #expect(file.samples == other.samples && file.samples[0].count == 24_001)
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: scratch.file("a.wav"))))
        func size(at place: Int) -> Int { (0..<4).reduce(0) { $0 + Int(bytes[place + $1]) << (8 * $1) } }
        #expect(bytes.count % 2 == 0)
        #expect(size(at: 4) == bytes.count - 8 && size(at: 100) == 24_001 * 3)
        let behind = try await shell("echo before > c && \"$V\" render \"$G\" -o - \(options) >> c")
        #expect(behind.code == 0)
        let joined = [UInt8](try Data(contentsOf: URL(filePath: scratch.file("c"))))
        #expect(joined.starts(with: Array("before\nRIFF".utf8)))
    }

    @Test("A reader that goes away, and a full disk, end the render in order with exit code 1") func lost() async throws
    {
        let left = try await shell("\"$V\" render \"$G\" -o - --duration 100000 | head -c 100000 > /dev/null")
        #expect(left.code == 1)
        #expect(left.errors == "voicegraph: standard output cannot be written: its reader has gone away\n")
        let full = try await shell("\"$V\" render \"$G\" -o - --duration 100000 > /dev/full")
        #expect(full.code == 1)
        #expect(full.errors == "voicegraph: standard output cannot be written: No space left on device\n")
        let none = try await shell("\"$V\" render \"$G\" -o - --duration 100000 >&-")
        #expect(none.code == 64 && none.errors.contains("standard output is closed"), "\(none.errors)")
    }

    @Test("A terminal is no place for a sound") func terminal() async throws {
        let made = try await shell("script -qec '\"$V\" render \"$G\" -o - --duration 1' /dev/null < /dev/null")
        #expect(made.code == 64 && made.output.contains("a sound is nothing for a terminal"), "\(made.output)")
    }

    @Test("A signal ends a render whose reader takes nothing") func stuck() async throws {
        // The shell keeps the pipe open, and reads the head alone: then the render has begun.
        let made = try await shell(
            "mkfifo pipe; exec 3<>pipe; \"$V\" render \"$G\" -o - --duration 1000000 >&3 & head -c 44 <&3 > /dev/null; "
                + "kill -TERM $!; wait $!")
        #expect(made.code == 1 && made.errors.contains("interrupted"), "\(made.code): \(made.errors)")
    }

    @Test("What is wrong with a graph is told before what a render cannot do with it") func diagnosticsFirst()
        async throws
    {
        for options in ["--channels 2", "--output out", "--input mic=x.wav", ""] {
            let broken = try scratch.write(
                "broken.conf", endless.replacingOccurrences(of: "\"output\"", with: "\"outptu\""))
            let made = try await shell("\"$V\" render \(broken) -o a.wav --duration 1 \(options)")
            #expect(made.code == 1 && made.errors.contains("unknown node type 'outptu'"), "\(made.errors)")
            #expect(!made.errors.contains("no output node"))
        }
        let named = try await shell("\"$V\" render \"$G\" -o a.wav --duration 1 --channels 2 --output uot")
        #expect(named.code == 1)
        #expect(named.errors == "voicegraph: --output uot: there is no output node 'uot' (did you mean 'out'?)\n")
        let port = try scratch.write("port.conf", endless.replacingOccurrences(of: "-> out\"", with: "-> out.in_2\""))
        let narrow = try await shell("\"$V\" render \(port) -o a.wav --duration 1 --channels 1")
        #expect(narrow.code == 1)
        let reason =
            "voicegraph: --channels 1 has no place for what goes to 'out.in_2' (give --channels 2, or leave it out)\n"
        #expect(narrow.errors == reason)
        let wide = try await shell("\"$V\" render \(port) -o a.wav --duration 0.1 --channels 2")
        #expect(wide.code == 0)
        let samples = try SoundFile(scratch.file("a.wav")).samples
        #expect(Signal.peak(samples[0]) == 0 && Signal.peak(samples[1]) > 0.1)
    }
}
