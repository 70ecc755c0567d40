// SPDX-License-Identifier: Apache-2.0
import Foundation
import NodeKit
import TestSupport

@testable import WebAudio

/// A `web-output` and its listeners, each by its own clock, in time that the test moves.
final class OutputWorld {
    /// Plays 128 frames at a time, as a browser does, from a buffer that is filled before it begins.
    final class Listener {
        let stream: WebOutputStream
        /// How much faster its clock is than it says.
        let drift: Double
        /// Seconds between two pulls, and between two reports; .infinity: none.
        var pullEvery = 0.01
        var reportEvery = 0.25
        /// Seconds that pull `index` is late, and with it all that it gives.
        var lateness: (Int) -> Double = { _ in 0 }
        private(set) var heard: [Float] = []
        /// When it began to play, in seconds of the graph's clock.
        private(set) var started: Double?
        /// Frames in its buffer, at each report.
        private(set) var waits: [Int] = []
        private(set) var underruns = 0
        private(set) var pulls = 0
        private(set) var positions: [PulledFrames] = []
        private var buffer: [Float] = []
        private var isPlaying = false
        private var quanta = 0.0
        fileprivate var nextPull = 0.0
        fileprivate var nextReport = 0.1
        fileprivate var nextPlay = 0.0

        init(_ stream: WebOutputStream, drift: Double, at time: Double) {
            self.stream = stream
            self.drift = drift
            (nextPull, nextReport, nextPlay) = (time, time + 0.1, time + 0.001)
        }

        fileprivate func pull() {
            var messages = [Float](repeating: 0, count: 2048 * stream.channels)
            while true {
                guard let pulled = messages.withUnsafeMutableBufferPointer({ stream.pull(into: $0) }) else { break }
                if pulled.frames > 0 { positions.append(pulled) }
                buffer += messages[..<(pulled.frames * stream.channels)]
                if pulled.frames < 2048 { break }
            }
            pulls += 1
            nextPull += pullEvery
        }

        fileprivate func report() {
            waits.append(buffer.count / stream.channels)
            stream.report(waiting: UInt32(buffer.count / stream.channels))
            nextReport += reportEvery
        }

        fileprivate func play() {
            let count = 128 * stream.channels
            if isPlaying, buffer.count < count {
                isPlaying = false
                underruns += 1
            }
            if !isPlaying, buffer.count >= max(count, stream.targetFrames * stream.channels) {
                isPlaying = true
                started = started ?? nextPlay
            }
            if isPlaying {
                heard += buffer[..<count]
                buffer.removeFirst(count)
            }
            nextPlay += 128 / (stream.rate * (1 + drift))
        }

        func forget() {
            heard = []
            waits = []
            positions = []
        }
    }

    let streams: WebStreams
    let harness: NodeHarness
    let clock = WebClock(at: 0)
    var sound: (Double, Int) -> Double = { time, _ in 0.5 * sin(2 * .pi * 1000 * time) }
    private(set) var listeners: [Listener] = []
    private(set) var time = 0.0
    private var block: Int

    init(_ settings: [String: SettingValue] = [:], graphRate: Double = 48_000, maxBlock: Int = 256) throws {
        streams = WebStreams(clock: clock)
        block = maxBlock
        harness = try NodeHarness(
            streams.type("web-output"), settings, rate: graphRate, maxBlock: maxBlock, name: "ears")
    }

    func listen(_ client: String = "a client", rate: Double = 48_000, channels: Int = 1, drift: Double = 0) throws
        -> Listener
    {
        let stream = try streams.openOutput("ears", rate: rate, channels: channels, client: client)
        let listener = Listener(stream, drift: drift, at: time)
        listeners.append(listener)
        return listener
    }

    /// The driver comes back with another format.
    func prepare(rate: Double, maxBlock: Int) throws {
        block = maxBlock
        try harness.prepare(Preparation(rate: rate, maxBlock: maxBlock))
    }

    func remove(_ listener: Listener) { listeners.removeAll { $0 === listener } }

    /// Goes on for so many seconds of the graph.
    func run(_ seconds: Double) {
        let end = time + seconds
        let rate = harness.preparation.rate
        while time < end {
            for listener in listeners { advance(listener, to: time) }
            clock.advance(to: UInt64(time * 1e9))
            let inputs = harness.instance.ports.filter { $0.kind == VG_AUDIO_PORT }.indices.map { channel in
                (0..<block).map { Float(sound(time + Double($0) / rate, channel)) }
            }
            _ = harness.run([block], inputs: inputs)
            time += Double(block) / rate
        }
    }

    private func advance(_ listener: Listener, to end: Double) {
        while true {
            let pull = listener.nextPull + listener.lateness(listener.pulls)
            let next = min(pull, listener.nextPlay, listener.nextReport)
            guard next <= end else { return }
            clock.advance(to: UInt64(max(0, next) * 1e9))
            if next == pull {
                listener.pull()
            } else if next == listener.nextPlay {
                listener.play()
            } else {
                listener.report()
            }
        }
    }
}
