// SPDX-License-Identifier: Apache-2.0
import Foundation
import Graph
import Host
import NodeKit
import TestSupport

/// Voices that loudspeakers play and people speak with.
enum EchoVoice: String, CaseIterable, Sendable {
    /// Somebody who reads prose.
    case human
    case flite
    case espeak

    private static let recordings =
        "/usr/share/pocketsphinx/test/data/librivox/sense_and_sensibility_01_austen_64kb-"
    private static let text = """
        Good morning. The next train to the coast leaves at seven from platform four, and it will arrive there at half \
        past nine. Please take all of your luggage with you, and mind the gap between the train and the platform. We \
        wish you a pleasant journey, and thank you for travelling with us today.
        """

    /// What the voice says, at -26 dBFS (root mean square) as telephony has it. Somebody else: other people's words.
    func samples(rate: Int, other: Bool = false) throws -> [Float] {
        let scratch = try Scratch()
        let (raw, file) = (scratch.file("raw.wav"), scratch.file("voice.wav"))
        switch self {
        case .human:
            let names = other ? ["0930"] : ["0870", "0890", "0880"]
            try run("sox", names.map { Self.recordings + $0 + ".wav" } + ["-r", "\(rate)", file])
        case .flite:
            try run("flite", ["-voice", other ? "kal16" : "slt", "-t", Self.text, "-o", raw])
            try run("sox", [raw, "-r", "\(rate)", file])
        case .espeak:
            let node = try NodeHarness(
                pluginType("tts"), ["text": .string(Self.text)], rate: Double(rate), offline: true)
            return Self.leveled(node.renderUntilIdle(limit: rate * 30)[0])
        }
        return Self.leveled(try SoundFile(file).samples[0])
    }

    static func leveled(_ samples: [Float]) -> [Float] {
        let gain = Float(pow(10, -26.0 / 20) / Signal.rms(samples))
        return samples.map { $0 * gain }
    }
}

/// A room as a microphone hears a loudspeaker in it: the way between them, and reflections that become denser and die away,
/// at random times and with random signs.
struct EchoRoom: Sendable, CustomTestStringConvertible {
    var name: String
    /// Seconds until reflections are 60 dB quieter.
    var reverberation: Double
    /// Seconds until the first sound.
    var delay: Double
    var seed: UInt64

    var testDescription: String { name }

    static let office = EchoRoom(name: "an office", reverberation: 0.25, delay: 0.012, seed: 3)
    static let hall = EchoRoom(name: "a hall", reverberation: 0.5, delay: 0.025, seed: 4)

    /// What is heard of what is played, with a return of 0 dB: as loud as that, on the whole.
    func heard(_ played: [Float], rate: Int) -> [Float] {
        var random = TestRandom(seed: seed)
        var taps: [(place: Int, gain: Float)] = [(Int(delay * Double(rate)), 1)]
        // Two in a millisecond, at -8 dB first.
        for index in 0..<Int(reverberation * 2000) {
            let time = (Double(index) + 0.5 + 0.5 * Double(random.sample())) / 2000
            let gain = 0.4 * pow(10, -3 * time / reverberation) * (random.sample() < 0 ? -1 : 1)
            taps.append((Int((delay + 0.002 + time) * Double(rate)), Float(gain)))
        }
        var result = [Float](repeating: 0, count: played.count)
        result.withUnsafeMutableBufferPointer { result in
            played.withUnsafeBufferPointer { played in
                for (place, gain) in taps where place < played.count {
                    var index = place
                    while index < played.count {
                        result[index] += gain * played[index &- place]
                        index &+= 1
                    }
                }
            }
        }
        let scale = Float(Signal.rms(played) / Signal.rms(result))
        return result.map { $0 * scale }
    }
}

/// The noise of a quiet room in a microphone: -65 dBFS.
func roomNoise(_ frames: Int) -> [Float] {
    Signal.noise(frames: frames, seed: 9, amplitude: Float(3.0.squareRoot() * pow(10, -65.0 / 20)))
}

/// The sum of signals, as long as the first.
func mixed(_ first: [Float], _ others: [Float]...) -> [Float] {
    others.reduce(first) { sum, other in sum.indices.map { sum[$0] + ($0 < other.count ? other[$0] : 0) } }
}

/// A signal so many frames later, as long as before.
func delayed(_ samples: [Float], _ frames: Int) -> [Float] {
    [Float](repeating: 0, count: frames) + samples.dropLast(frames)
}

/// The node `echo` and what is measured of it.
struct EchoBench {
    let node: NodeHarness
    let rate: Int
    /// What was heard and what was given, at the same time.
    private(set) var heard: [Float] = []
    private(set) var given: [Float] = []

    init(_ settings: [String: SettingValue] = [:], rate: Int = 16000) throws {
        self.rate = rate
        node = try NodeHarness(pluginType("echo"), settings, rate: Double(rate), maxBlock: 8192, offline: true)
    }

    mutating func run(_ microphone: [Float], reference: [Float], block: Int = 512) {
        let latency = node.instance.latency
        let more = microphone + [Float](repeating: 0, count: latency)
        given = Array(node.render(more.count, block: block, inputs: [more, reference])[0].dropFirst(latency))
        heard = microphone
    }

    private func frames(_ seconds: Range<Double>) -> Range<Int> {
        Int(seconds.lowerBound * Double(rate))..<min(heard.count, Int(seconds.upperBound * Double(rate)))
    }

    /// By how many dB it became quieter in a span of seconds.
    func loss(_ seconds: Range<Double>) -> Double { loss(seconds, of: heard) }

    /// By how many dB what is given is quieter than a signal in a span of seconds.
    func loss(_ seconds: Range<Double>, of signal: [Float]) -> Double {
        let span = frames(seconds)
        return Signal.decibels(Signal.rms(signal[span])) - Signal.decibels(Signal.rms(given[span]))
    }

    /// The mean of the loss in pieces of 20 ms in which a signal is at most 25 dB below its loudest.
    func lossInPieces(_ seconds: Range<Double>, of signal: [Float]) -> Double {
        let (span, piece) = (frames(seconds), rate / 50)
        let pieces = stride(from: span.lowerBound, to: span.upperBound - piece, by: piece).map { $0..<$0 + piece }
        let levels = pieces.map { Signal.rms(signal[$0]) }
        let least = (levels.max() ?? 0) / 18
        let losses = zip(pieces, levels).filter { $0.1 > least }.map {
            Signal.decibels($0.1) - Signal.decibels(max(Signal.rms(given[$0.0]), 1e-9))
        }
        return losses.reduce(0, +) / Double(max(1, losses.count))
    }
}
