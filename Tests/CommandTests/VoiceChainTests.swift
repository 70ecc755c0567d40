// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport

@Suite(.timeLimit(.minutes(5))) struct VoiceChainTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// One second each: a pause with noise, quiet speech, loud speech, hissing, a pause again. There is a hum throughout.
    private static let parts = ["pause", "quiet", "loud", "hiss", "pause again"]
    private static let input: [Float] = {
        let noise = Signal.noise(frames: 48000, seed: 1, amplitude: 0.001)
        let hum = Signal.sine(25, rate: 48000, frames: 48000, amplitude: 0.03)
        let voice = (1...9).map {
            Signal.sine(150 * Double($0), rate: 48000, frames: 48000, amplitude: 0.3 / Double($0))
        }
        let hiss = Signal.sine(9000, rate: 48000, frames: 48000, amplitude: 0.3)
        return parts.flatMap { part in
            (0..<48000).map { frame in
                let speech = voice.reduce(0) { $0 + $1[frame] }
                let heard: Float =
                    switch part {
                    case "quiet": speech * 0.1
                    case "loud": speech * 4
                    case "hiss": hiss[frame]
                    default: 0
                    }
                return noise[frame] + hum[frame] + heard
            }
        }
    }()

    /// The level in decibels of a component in the second half of one of the seconds.
    private func level(_ frequency: Double, _ signal: [Float], _ second: Int) -> Double {
        var (re, im) = (0.0, 0.0)
        for frame in 0..<24000 {
            let angle = 2 * .pi * frequency * Double(frame) / 48000
            re += Double(signal[second * 48000 + 24000 + frame]) * cos(angle)
            im += Double(signal[second * 48000 + 24000 + frame]) * sin(angle)
        }
        return Signal.decibels((re * re + im * im).squareRoot() / 12000)
    }

    @Test("The voice chain evens out a voice: less rumble, quieter pauses, less hissing, nothing above -1 dBTP")
    func voiceChain() async throws {
        let input = Self.input
        try SoundFile(rate: 48000, samples: [input]).write(scratch.file("mic.wav"))
        let render = try voicegraph(
            "render", packageRoot + "/config/voice-chain.conf", "-o", scratch.file("out.wav"), "--input",
            "mic=" + scratch.file("mic.wav"), "--duration", "5")
        #expect(try await render.end() == 0, "\(render.errors)")
        let output = try #require(SoundFile(scratch.file("out.wav")).samples.first)
        #expect(output.count == input.count)
        #expect(TruePeak.standard(input) > 3)
        #expect(TruePeak.standard(output) <= -1)
        #expect(TruePeak.eightfold(output) <= -1)
        // By how much each second became louder.
        func change(_ frequency: Double, _ second: Int) -> Double {
            level(frequency, output, second) - level(frequency, input, second)
        }
        // 24 dB an octave below 80 Hz.
        #expect(change(25, 1) < change(150, 1) - 35)
        // The compressor and the limiter even out 32 dB of difference.
        let quiet = (input: level(150, input, 1), output: level(150, output, 1))
        let loud = (input: level(150, input, 2), output: level(150, output, 2))
        #expect(abs(loud.input - quiet.input - 32) < 0.1)
        #expect(loud.output - quiet.output < 16)
        // Hissing gets less of the gain than a voice as loud would.
        #expect(change(9000, 3) < change(150, 1) - 6)
        let (before, pause) = (input[36000..<48000], output[36000..<48000])
        let (after, again) = (input[228_000..<240_000], output[228_000..<240_000])
        // 20 dB of the gate, less 8 of makeup; the hum is gone besides.
        #expect(Signal.decibels(Signal.rms(pause)) < -70 && Signal.rms(pause) < Signal.rms(before) / 10)
        #expect(Signal.decibels(Signal.rms(again)) < -70 && Signal.rms(again) < Signal.rms(after) / 10)
    }

    @Test("What goes round a look-ahead waits for it: both paths cancel to nothing") func compensation() async throws {
        let graph = try scratch.write(
            "paths.conf",
            """
            [graph]
            links = [
              "noise -> compressor -> limiter -> out",
              "noise -> inverse -> out",
            ]
            [node.noise]
            type = "tone"
            wave = "noise"
            level_db = -40
            [node.compressor]
            type = "compressor"
            lookahead_ms = 7.3
            [node.limiter]
            type = "limiter"
            [node.inverse]
            type = "polarity"
            [node.out]
            type = "output"
            channels = 1

            """)
        for block in ["64", "1000"] {
            let render = try voicegraph(
                "render", graph, "-o", scratch.file("out.wav"), "--duration", "1", "--block", block)
            #expect(try await render.end() == 0, "\(render.errors)")
            #expect(try Signal.peak(SoundFile(scratch.file("out.wav")).samples[0]) == 0)
        }
        let alone = try voicegraph(
            "render", graph, "-o", scratch.file("out.wav"), "--duration", "1", "--set", "node.inverse.inverted=0")
        #expect(try await alone.end() == 0, "\(alone.errors)")
        #expect(try Signal.peak(SoundFile(scratch.file("out.wav")).samples[0]) > 0.015)
    }
}
