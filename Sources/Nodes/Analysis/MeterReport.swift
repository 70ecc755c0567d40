// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What a meter has measured since its start, or since it was reset: what a broadcast is delivered with. By one thread at a
/// time.
final class MeterReport {
    static let declared = [
        Field("integrated", VG_NUMBER, "integrated loudness (EBU R 128); -70 where all was quieter", unit: "LUFS"),
        Field("range", VG_NUMBER, "loudness range (EBU Tech 3342)", unit: "LU"),
        Field("true_peak", VG_NUMBER, "the largest value of all channels, also between samples", unit: "dBTP"),
        Field("clips", VG_INTEGER, "samples at full scale or beyond"),
        Field("dc", VG_NUMBER, "the mean of the samples of the channel where it is farthest from 0, linear"),
        Field("silence", VG_NUMBER, "how long all channels were below -60 dBFS", unit: "s"),
        Field("seconds", VG_NUMBER, "how long it was measured", unit: "s"),
    ]

    private let channels: Int
    private let rate: Double
    private let loudness: EburMeter
    private let truePeak: LargestTruePeak
    private var clips = 0
    private var frames = 0
    private var silentFrames = 0
    /// Of each channel.
    private var sums: [Double]
    /// What came last, channel after channel, and how many silent frames came behind it: a sound file ends before the block
    /// in which it is played does, which `fields` is told then.
    private var held: [Float] = []
    private var heldFrames = 0
    private var zeros = 0
    private var interleaved = Samples(count: 0)

    /// What is silence, linear: -60 dBFS.
    private static let silence: Float = 1e-3

    /// For `rate` in Hz. Throws where the library is missing.
    init(channels: Int, rate: Double) throws(NodeError) {
        self.channels = channels
        self.rate = rate
        sums = Array(repeating: 0, count: channels)
        loudness = try EburMeter(channels: channels, rate: rate, mode: [.integrated, .range, .histogram])
        let meters = try (0..<channels).map { _ throws(NodeError) in
            try EburMeter(channels: 1, rate: rate, mode: .truePeak)
        }
        truePeak = LargestTruePeak(channels: channels, rate: rate) { channel, samples, count in
            meters[channel].add(interleaved: samples, frames: count)
            return meters[channel].lastTruePeak(0)
        }
    }

    /// Takes frames, channel after channel, which begin `stride` samples apart.
    func add(_ samples: UnsafePointer<Float>, frames: Int, stride: Int) {
        let isSilent = (0..<channels).allSatisfy { channel in
            (0..<frames).allSatisfy { samples[channel * stride + $0] == 0 }
        }
        if isSilent, Double(zeros + frames) <= rate { return zeros += frames }
        release()
        held.removeAll(keepingCapacity: true)
        for channel in 0..<channels {
            held.append(contentsOf: UnsafeBufferPointer(start: samples + channel * stride, count: frames))
        }
        heldFrames = frames
    }

    /// Measures what was held, up to so many frames of all.
    private func release(upTo limit: Int = .max) {
        let count = min(heldFrames, max(0, limit - frames))
        held.withUnsafeBufferPointer { samples in
            if let start = samples.baseAddress, count > 0 { measure(start, frames: count, stride: heldFrames) }
        }
        let rest = min(zeros, max(0, limit - frames))
        if rest > 0 {
            let silence = [Float](repeating: 0, count: rest * channels)
            silence.withUnsafeBufferPointer { measure($0.baseAddress!, frames: rest, stride: rest) }
        }
        (heldFrames, zeros) = (0, 0)
    }

    private func measure(_ samples: UnsafePointer<Float>, frames: Int, stride: Int) {
        if interleaved.count < frames * channels { interleaved = Samples(count: frames * channels) }
        let together = interleaved.pointer
        for channel in 0..<channels {
            let source = samples + channel * stride
            for frame in 0..<frames { together[frame * channels + channel] = source[frame] }
        }
        loudness.add(interleaved: together, frames: frames)
        truePeak.add(together, frames: frames)
        var peak: Float = 0
        for channel in 0..<channels {
            var sum = 0.0
            for frame in 0..<frames {
                let sample = samples[channel * stride + frame]
                sum += Double(sample)
                peak = max(peak, sample.magnitude)
                if sample.magnitude >= 1 { clips += 1 }
            }
            sums[channel] += sum
        }
        self.frames += frames
        if peak < Self.silence { silentFrames += frames }
    }

    /// What was measured; of what came last only so much that there are `count` frames. Nil: all.
    func fields(frames count: Int? = nil) -> [String: SettingValue] {
        release(upTo: count ?? .max)
        return [
            "integrated": .number(Double(loudness.read(\.integrated) ?? Loudness.floor)),
            "range": .number(Double(loudness.read(\.range, least: 0) ?? 0)),
            "true_peak": .number(Double(EburMeter.decibels(truePeak.peak))), "clips": .integer(Int64(clips)),
            "dc": .number(frames == 0 ? 0 : (sums.max { $0.magnitude < $1.magnitude } ?? 0) / Double(frames)),
            "silence": .number(Double(silentFrames) / rate), "seconds": .number(Double(frames) / rate),
        ]
    }
}
