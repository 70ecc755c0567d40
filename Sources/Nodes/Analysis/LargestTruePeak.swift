// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit

/// The largest true peak of ITU-R BS.1770-4 of all channels by libebur128, which measures only what can be larger than what
/// was found: oversampling takes most of the time of a report. By one thread at a time.
final class LargestTruePeak {
    /// In dBTP, -140 at least.
    private(set) var decibels: Float = -140

    private let meter: EburMeter
    private let channels: Int
    /// How much larger than its samples a true peak can be, and more: the coefficients of one phase of libebur128's filter,
    /// taken as positive, add up to 1.865 where it has four phases, below 96 kHz, and to 2.307 where it has two.
    private let bound: Float
    /// No true peak of samples up to here is larger than what was found.
    private var enough: Float = 0
    /// The last frames of each channel, which the filter needs before the first that is measured: it reaches over 25 frames
    /// at most.
    private let before: Samples
    private static let reach = 32
    /// The largest sample of them.
    private var peakBefore: Float = 0
    /// Whether the filter has them.
    private var isMeasured = false
    /// Frames that are measured or passed over as one.
    private static let part = 100

    /// For `rate` in Hz. Throws where the library is missing, or takes no such audio.
    init(channels: Int, rate: Double) throws(NodeError) {
        self.channels = channels
        bound = rate < 96000 ? 2 : 2.5
        before = Samples(count: channels * Self.reach)
        meter = try EburMeter(channels: channels, rate: rate, mode: .truePeak)
    }

    /// Takes frames, channel after channel, which begin `stride` samples apart.
    func add(_ samples: UnsafePointer<Float>, frames: Int, stride: Int) {
        var start = 0
        while start < frames {
            let length = min(Self.part, frames - start)
            add(part: samples + start, frames: length, stride: stride)
            start += length
        }
    }

    private func add(part: UnsafePointer<Float>, frames: Int, stride: Int) {
        var peak = peakBefore
        for channel in 0..<channels { peak = max(peak, largest(part + channel * stride, frames)) }
        let isLarge = peak > enough
        if isLarge {
            if !isMeasured { meter.add(before.pointer, frames: Self.reach) }
            meter.add(part, frames: frames, stride: stride)
            for channel in 0..<channels { decibels = max(decibels, meter.lastTruePeak(channel)) }
            enough = pow(10, decibels / 20) / bound
        }
        isMeasured = isLarge
        keep(part, frames: frames, stride: stride)
    }

    private func keep(_ part: UnsafePointer<Float>, frames: Int, stride: Int) {
        let new = min(frames, Self.reach)
        let old = Self.reach - new
        peakBefore = 0
        for channel in 0..<channels {
            let target = before.pointer + channel * Self.reach
            target.update(from: target + new, count: old)
            (target + old).update(from: part + channel * stride + frames - new, count: new)
            peakBefore = max(peakBefore, largest(target, Self.reach))
        }
    }

    private func largest(_ samples: UnsafePointer<Float>, _ count: Int) -> Float {
        var largest: Float = 0
        for frame in 0..<count { largest = max(largest, samples[frame].magnitude) }
        return largest
    }
}
