// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import TestSupport

@testable import WebAudio

/// A `web-input` and a client that sends to it, each by its own clock, in time that the test moves: block after block and
/// message after message, in the order of their times.
final class InputWorld {
    /// Seconds of the fixed part of the way from the client to the node.
    private static let way = 0.002

    let streams: WebStreams
    let harness: NodeHarness
    let clock = WebClock(at: 0)
    /// Frames of a message, and what the client says of its rate.
    let message: Int
    let rate: Double
    let channels: Int
    /// How much faster the client's clock is than it says.
    let drift: Double
    /// Seconds that message `index` is late, beside the way.
    var lateness: (Int) -> Double = { _ in 0 }
    /// Whether message `index` is sent.
    var sends: (Int) -> Bool = { _ in true }
    /// What the client hears at a time in seconds of the graph's clock, by channel.
    var sound: (Double, Int) -> Double = { time, _ in 0.5 * sin(2 * .pi * 1000 * time) }
    /// What the positions of the client are ahead.
    var shift = 0
    /// Whether it sends everything twice.
    var repeats = false
    /// Lengths of blocks.
    var block = 256
    var stream: WebInputStream?

    private(set) var heard: [[Float]]
    /// Of each block: seconds that a frame waits, where that is known.
    private(set) var delays: [Double] = []
    private(set) var messages = 0
    private var time = 0.0

    init(
        _ settings: [String: SettingValue] = [:], rate: Double = 48_000, graphRate: Double = 48_000, channels: Int = 1,
        message: Int = 480, drift: Double = 0, maxBlock: Int = 256
    ) throws {
        streams = WebStreams(clock: clock)
        (self.rate, self.message, self.drift, self.channels) = (rate, message, drift, channels)
        harness = try NodeHarness(
            streams.type("web-input"), settings, rate: graphRate, maxBlock: maxBlock, name: "mic")
        block = maxBlock
        heard = harness.instance.ports.filter { $0.kind == VG_AUDIO_PORT }.map { _ in [] }
    }

    func open(_ client: String = "a client") throws {
        stream = try streams.openInput("mic", rate: rate, channels: channels, client: client)
    }

    /// Seconds at which the client has recorded so many messages.
    private func recorded(_ count: Int) -> Double { Double(count * message) / (rate * (1 + drift)) }

    /// When message `index` arrives: never before the one before it.
    private func arrival(_ index: Int) -> Double {
        // No message is later than a second.
        max(recorded(index + 1) + Self.way + lateness(index), lastArrival)
    }
    private var lastArrival = 0.0

    /// Goes on for so many seconds of the graph.
    func run(_ seconds: Double) {
        let end = time + seconds
        while time < end {
            while arrival(messages) <= time { send() }
            clock.advance(to: UInt64(time * 1e9))
            for (channel, samples) in harness.run([block]).enumerated() { heard[channel] += samples }
            if let delay = stream?.status.latency { delays.append(delay) }
            time += Double(block) / harness.preparation.rate
        }
    }

    /// The driver comes back with another format.
    func prepare(rate: Double, maxBlock: Int) throws {
        block = maxBlock
        try harness.prepare(Preparation(rate: rate, maxBlock: maxBlock))
    }

    func forget() {
        heard = heard.map { _ in [] }
        delays = []
    }

    private func send() {
        lastArrival = arrival(messages)
        clock.advance(to: UInt64(lastArrival * 1e9))
        defer { messages += 1 }
        guard sends(messages), let stream else { return }
        let first = messages * message
        var frames: [Float] = []
        for frame in first..<first + message {
            for channel in 0..<channels { frames.append(Float(sound(Double(frame) / (rate * (1 + drift)), channel))) }
        }
        for _ in 0..<(repeats ? 2 : 1) {
            frames.withUnsafeBufferPointer { frames in
                _ = stream.push(position: UInt32(truncatingIfNeeded: first + shift), frames: frames)
            }
        }
    }
}

/// How much of a signal is not the sine of a frequency, relative to it, in dB, and the frequency itself.
func distortion(_ signal: some Collection<Float>, rate: Double, frequency: Double = 1000, notch: Double = 12) -> Double
{
    let spectrum = Spectrum.windowed(signal)
    let bin = rate / Double(signal.count)
    let low = Int((frequency - notch) / bin)
    let high = Int((frequency + notch) / bin)
    let sine = spectrum.power(low..<high + 1)
    let rest = spectrum.power(8..<low) + spectrum.power(high + 1..<spectrum.amplitudes.count)
    return 10 * log10(rest / sine)
}

/// The frequency of a sine near `guess`: from how its phase moves between two parts of the signal.
func frequency(of signal: [Float], rate: Double, near guess: Double = 1000) -> Double {
    let part = signal.count / 8
    func phase(_ start: Int) -> Double { Signal.partial(guess, of: signal[start..<start + part], rate: rate).phase }
    var turned = 0.0
    for step in 0..<7 {
        // Each part begins with a phase of its own.
        var move = phase((step + 1) * part) - phase(step * part) - 2 * .pi * guess * Double(part) / rate
        move -= (move / (2 * .pi)).rounded() * 2 * .pi
        turned += move
    }
    return guess + turned / (2 * .pi) * rate / Double(7 * part)
}

/// The largest step from a sample to the next.
func largestStep(_ signal: [Float]) -> Float { zip(signal, signal.dropFirst()).map { abs($0 - $1) }.max() ?? 0 }
