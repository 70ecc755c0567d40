// SPDX-License-Identifier: Apache-2.0
import Foundation
import Host
import NodeKit
import Synchronization
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

    private static let said = Mutex<[String: [Float]]>([:])

    /// What the voice says, at -26 dBFS (root mean square) as telephony has it. Somebody else: other people's words.
    func samples(rate: Int, other: Bool = false) throws -> [Float] {
        let key = "\(self) \(rate) \(other)"
        if let samples = Self.said.withLock({ $0[key] }) { return samples }
        let samples = try spoken(rate: rate, other: other)
        Self.said.withLock { $0[key] = samples }
        return samples
    }

    private func spoken(rate: Int, other: Bool) throws -> [Float] {
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
                pluginType("tts"), byEspeak(["text": .string(Self.text)]), rate: Double(rate), offline: true)
            return Self.leveled(node.renderUntilIdle(limit: rate * 30)[0])
        }
        return Self.leveled(try SoundFile(file).samples[0])
    }

    static func leveled(_ samples: [Float]) -> [Float] {
        let gain = Float(pow(10, -26.0 / 20) / Signal.rms(samples))
        return samples.map { $0 * gain }
    }
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
