// SPDX-License-Identifier: GPL-3.0-or-later
import NodeKit
import Resampling

/// Samples on their way from the voice to the pipe; what does not fit waits here.
final class VoiceOutput {
    let start: Int
    /// Index in the pipe of the next sample made.
    private(set) var total: Int
    private let rate: Double
    private var resampler: Resampler?
    private var limiter: SpeechLimiter?
    /// Samples that were beyond full scale, and how far the loudest was, linear.
    private(set) var limited = 0
    private(set) var loudest: Float = 1
    private var backlog: [Float] = []
    private var backlogStart = 0

    init(_ pipe: PlaybackPipe) {
        rate = pipe.rate
        start = pipe.written
        total = start
    }

    /// Samples that wait for room.
    var waiting: Int { backlog.count - backlogStart }

    /// `volume` in percent; up to `own` the voice has it already.
    func begin(rate voiceRate: Double, volume: Int, own: Int) {
        resampler = try? Resampler(from: voiceRate, to: rate, channels: 1)
        limiter = volume > own && volume != 100 ? SpeechLimiter(gain: Float(volume) / 100, rate: rate) : nil
    }

    func take(_ samples: UnsafeBufferPointer<Float>, write: (UnsafeBufferPointer<Float>) -> Int) {
        // What the engine itself has cut off.
        limited += samples.count { $0 >= 32767.0 / 32768 || $0 <= -1 }
        amplify(resampler?.process(samples, end: false) ?? [], end: false, write)
    }

    func end(write: (UnsafeBufferPointer<Float>) -> Int) {
        amplify(resampler?.process(UnsafeBufferPointer(start: nil, count: 0), end: true) ?? [], end: true, write)
        resampler = nil
        limited += limiter?.count ?? 0
        loudest = max(loudest, limiter?.loudest ?? 1)
        limiter = nil
    }

    private func amplify(_ samples: [Float], end: Bool, _ write: (UnsafeBufferPointer<Float>) -> Int) {
        append(limiter?.process(samples, end: end) ?? samples, write)
    }

    private func append(_ samples: [Float], _ write: (UnsafeBufferPointer<Float>) -> Int) {
        total += samples.count
        backlog += samples
        flush(write: write)
    }

    func flush(write: (UnsafeBufferPointer<Float>) -> Int) {
        backlogStart += backlog.withUnsafeBufferPointer { write(UnsafeBufferPointer(rebasing: $0[backlogStart...])) }
        if backlogStart == backlog.count {
            backlog.removeAll(keepingCapacity: true)
            backlogStart = 0
        }
    }
}
