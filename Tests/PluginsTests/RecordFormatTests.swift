// SPDX-License-Identifier: Apache-2.0
import CSndfile
import Foundation
import Glibc
import Host
import NodeKit
import TestSupport

/// What becomes of samples in the formats of a recording.
@Suite(.timeLimit(.minutes(5))) struct RecordFormatTests {
    private let scratch: Scratch
    init() throws { scratch = try Scratch() }

    /// Records a signal; how the recording ended, and the node.
    private func record(
        _ signal: [[Float]], as name: String, _ more: [String: SettingValue] = [:]
    ) throws -> (take: [String: SettingValue], node: NodeHarness) {
        var settings = more
        settings["path"] = .string(scratch.file(name))
        settings["channels"] = .integer(Int64(signal.count))
        let node = try NodeHarness(pluginType("record"), settings, offline: true)
        _ = node.render(signal[0].count, inputs: signal)
        return (try node.perform("finish"), node)
    }

    private func number(_ take: [String: SettingValue], _ key: String) -> Double? {
        if case .number(let value)? = take[key] { value } else { nil }
    }

    @Test(
        "What is beyond full scale is clipped in integers, and counted, and told", arguments: ["take.flac", "16.wav"])
    func clipping(_ name: String) throws {
        let sine = Signal.sine(997, rate: 48_000, frames: 48_000, amplitude: 2)
        let (take, node) = try record([sine], as: name, name == "16.wav" ? ["bits": .integer(16)] : [:])
        let beyond = sine.count { abs($0) > 1 }
        guard case .integer(let clipped)? = take["clipped"] else { throw NodeError("nothing was counted") }
        #expect(Int(clipped) == beyond && beyond > 10_000)
        #expect(node.capture.counts["clipped"] == UInt64(clipped))
        #expect(node.capture.events("record.clipped").last?.integer("total") == Int(clipped))
        #expect(Signal.peak(try SoundFile(scratch.file(name)).samples[0]) <= 1)
        #expect(try record([Signal.constant(1, frames: 100)], as: "full-\(name)").take["clipped"] == .integer(0))
        #expect(try record([sine], as: "float.wav").take["clipped"] == .integer(0))
        #expect(try SoundFile(scratch.file("float.wav")).samples == [sine])
    }

    @Test("Samples of 32 bits are floats, or integers where floats are not wanted") func integers() throws {
        let signal = noise(10_000)
        _ = try record([signal], as: "float.wav", ["bits": .integer(32)])
        let float = try SoundFile(scratch.file("float.wav"))
        #expect(float.format & Int(SF_FORMAT_SUBMASK) == SF_FORMAT_FLOAT && float.samples == [signal])
        _ = try record([signal], as: "integer.wav", ["bits": .integer(32), "float": .bool(false)])
        let integer = try SoundFile(scratch.file("integer.wav"))
        #expect(integer.format & Int(SF_FORMAT_SUBMASK) == SF_FORMAT_PCM_32)
        // A float has 24 bits, and fewer below: nothing is lost of these, and no dither is added.
        let rounded = signal.map { (sample: Float) -> Float in
            let steps = (Double(sample) * 0x1p31).rounded()
            return Float(steps / 0x1p31)
        }
        #expect(integer.samples == [rounded])
        let loud = Signal.constant(1.5, frames: 100)
        let take = try record([loud], as: "loud.wav", ["bits": .integer(32), "float": .bool(false)]).take
        #expect(take["clipped"] == .integer(100))
        #expect(try SoundFile(scratch.file("loud.wav")).samples[0].allSatisfy { $0 == 1 })
    }

    @Test("An open file gets a stream in a render, and nowhere else") func stream() throws {
        let file = open(scratch.file("stream.wav"), O_RDWR | O_CREAT, 0o600)
        defer { close(file) }
        let settings: [String: SettingValue] = ["descriptor": .integer(Int64(file)), "bits": .integer(16)]
        let signal = noise(10_000)
        let node = try NodeHarness(
            pluginType("record"), settings.merging(["path": .string("it")]) { $1 }, offline: true)
        _ = node.render(10_000, inputs: [signal])
        let take = try node.perform("finish")
        #expect(take["path"] == .string("it") && take["frames"] == .integer(10_000))
        let sound = try SoundFile(scratch.file("stream.wav"))
        #expect(sound.format & Int(SF_FORMAT_SUBMASK) == SF_FORMAT_PCM_16 && sound.samples[0].count == 10_000)
        for (key, value) in [
            ("split", SettingValue.number(1)), ("split_size", .number(1)), ("descriptor", .integer(999)),
        ] {
            let wrong = settings.merging(["path": .string("it"), key: value]) { $1 }
            let error = #expect(throws: NodeError.self) { try NodeHarness(pluginType("record"), wrong, offline: true) }
            #expect(error?.key == "descriptor")
        }
        let live = #expect(throws: NodeError.self) {
            try NodeHarness(pluginType("record"), settings.merging(["path": .string("it")]) { $1 })
        }
        #expect(live?.message == "writes to an open file in a render only")
    }

    @Test("Dither keeps what is smaller than a step of the integers, plain rounding loses it")
    func dither() throws {
        let small = Signal.constant(0.3 / 32_768, frames: 96_000)
        for (kind, expected) in [("none", 0), ("tpdf", 0.3), ("shaped", 0.3)] {
            let name = "\(kind).wav"
            _ = try record([small], as: name, ["bits": .integer(16), "dither": .string(kind)])
            let samples = try SoundFile(scratch.file(name)).samples[0]
            let mean = samples.reduce(0) { $0 + Double($1) * 32_768 } / Double(samples.count)
            #expect(abs(mean - expected) < 0.02, "\(kind): \(mean)")
        }
    }

    @Test("Shaped noise is where the ear hears less: the sum of neighbours, which are low frequencies, has less of it")
    func shaped() throws {
        let sine = Signal.sine(997, rate: 48_000, frames: 96_000, amplitude: 0.3)
        func low(_ kind: String) throws -> Double {
            let name = "\(kind).wav"
            _ = try record([sine], as: name, ["bits": .integer(16), "dither": .string(kind)])
            let error = zip(try SoundFile(scratch.file(name)).samples[0], sine).map { $0 - $1 }
            // Two running means over 12 frames let through what is below 3 kHz.
            func mean(_ signal: [Float]) -> [Float] {
                (0..<signal.count - 12).map { start in signal[start..<start + 12].reduce(0, +) / 12 }
            }
            return Signal.decibels(Signal.rms(mean(mean(error))))
        }
        let (plain, moved) = (try low("tpdf"), try low("shaped"))
        print("figure: noise below 3 kHz \(Int(plain)) dBFS, shaped \(Int(moved)) dBFS")
        #expect(moved < plain - 6)
    }

    @Test("Digital silence stays that") func silence() throws {
        _ = try record([Signal.constant(0, frames: 1000)], as: "s.wav", ["bits": .integer(16)])
        #expect(try SoundFile(scratch.file("s.wav")).samples == [Signal.constant(0, frames: 1000)])
    }

    @Test("A WAV says where its channels belong, and has room to become RF64") func head() throws {
        let signal = (1...6).map { noise(100, seed: UInt32($0)) }
        _ = try record(signal, as: "six.wav")
        let bytes = try Data(contentsOf: URL(fileURLWithPath: scratch.file("six.wav")))
        #expect(String(decoding: bytes[12..<16], as: UTF8.self) == "JUNK")
        let format = try #require(bytes.range(of: Data("fmt ".utf8))).upperBound
        #expect(Array(bytes[format + 4..<format + 6]) == [0xFE, 0xFF], "WAVE_FORMAT_EXTENSIBLE")
        #expect(bytes[format + 24] == 0x3F, "5.1")
        #expect(try SoundFile(scratch.file("six.wav")).samples == signal)
    }

    @Test("Quality makes an OGG larger") func quality() throws {
        let sizes = try [0.0, 1].map { quality -> Int in
            let name = "\(quality).ogg"
            _ = try record([noise(96_000)], as: name, ["quality": .number(quality)])
            return try Data(contentsOf: URL(fileURLWithPath: scratch.file(name))).count
        }
        #expect(sizes[1] > 2 * sizes[0])
    }

    @Test(
        "What a format does not have is refused",
        arguments: [
            ("a.wav", "bits", .integer(20)), ("a.flac", "bits", .integer(32)), ("a.ogg", "bits", .integer(16)),
            ("a.wav", "quality", .number(0.5)), ("a.mp4", "path", .string("")),
            ("a.flac", "float", .bool(true)), ("a.ogg", "float", .bool(true)),
        ] as [(String, String, SettingValue)])
    func refused(_ name: String, _ key: String, _ value: SettingValue) throws {
        var settings: [String: SettingValue] = [key: value]
        settings["path"] = .string(scratch.file(name))
        let error = #expect(throws: NodeError.self) { try NodeHarness(pluginType("record"), settings) }
        #expect(error?.key == key)
    }

    @Test("The levels of a recording are told: sample peak, true peak, loudness") func levels() throws {
        // A quarter of the rate, between the samples: they reach -3 dBFS, the sound reaches full scale.
        let between = (0..<48_000).map { Float(sin(.pi / 2 * Double($0) + .pi / 4)) }
        let take = try record([between], as: "between.wav").take
        #expect(abs(try #require(number(take, "peak")) + 3.01) < 0.02)
        #expect(abs(try #require(number(take, "true_peak"))) < 0.4)
        // EBU Tech 3341, case 1: a sine of 1 kHz at -23 dBFS on both channels is -23 LUFS.
        let sine = Signal.sine(1000, rate: 48_000, frames: 240_000, amplitude: pow(10, -23.0 / 20))
        #expect(abs(try #require(number(record([sine, sine], as: "sine.wav").take, "loudness")) + 23) < 0.1)
        let silent = try record([Signal.constant(0, frames: 1000)], as: "silent.wav").take
        #expect(number(silent, "peak") == nil && number(silent, "loudness") == nil)
    }

    @Test("A start leaves frames out, and the end is cut where `finish` says") func cut() throws {
        let signal = noise(20_000)
        let node = try NodeHarness(
            pluginType("record"), ["path": .string(scratch.file("cut.wav")), "autostart": .bool(false)], offline: true)
        try node.perform("start", ["skip": .integer(1000), "hold": .integer(5000)])
        _ = node.render(20_000, inputs: [signal])
        #expect(try node.perform("finish", ["frames": .integer(15_001)])["frames"] == .integer(15_001))
        #expect(try SoundFile(scratch.file("cut.wav")).samples == [Array(signal[1000..<16_001])])
    }

    @Test(
        "Whatever its length, a recording tells at most 200 largest magnitudes of equal parts",
        arguments: [50, 4800, 96_000, 960_001, 2_000_000])
    func outline(frames: Int) throws {
        let scratch = try Scratch()
        // Loud in the last quarter, on the second channel.
        var signal = [[Float](repeating: 0.125, count: frames), [Float](repeating: 0, count: frames)]
        for frame in (frames * 3 / 4)..<frames { signal[1][frame] = frame.isMultiple(of: 2) ? -0.75 : 0.5 }
        let node = try NodeHarness(
            pluginType("record"), ["path": .string(scratch.file("take.wav")), "channels": .integer(2)], rate: 48000,
            offline: true)
        _ = node.render(frames, inputs: signal)
        node.instance.finish()
        let values = try #require(node.capture.events("record.finished").first?.numbers("outline"))
        #expect(values.count <= 200 && values.count >= min(100, max(1, frames / 960)))
        let first = values.prefix(max(0, values.count * 3 / 4 - 1))
        #expect(first.allSatisfy { $0 == 0.125 } && values.suffix(values.count / 4).allSatisfy { $0 == 0.75 })
        #expect(values.last == 0.75)
    }
}
