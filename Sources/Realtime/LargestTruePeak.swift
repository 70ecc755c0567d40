// SPDX-License-Identifier: Apache-2.0

/// The largest true peak of ITU-R BS.1770-4 of all channels by meters of libebur128, one a channel, which are asked only where
/// a channel can have a larger one than was found: oversampling takes most of the time of a report. By one thread at a time.
package final class LargestTruePeak {
    /// Linear; 0 at first.
    package private(set) var peak = 0.0

    private let measure: (Int, UnsafePointer<Float>, Int) -> Double
    private let channels: Int
    /// How much larger than its samples a true peak can be, and more: the coefficients of one phase of libebur128's filter,
    /// taken as positive, add up to 1.865 where it has four phases, below 96 kHz, and to 2.307 where it has two.
    private let bound: Float
    /// No true peak of samples up to here is larger than what was found.
    private var enough: Float = 0
    /// The last frames, which the filter needs before the first that is measured: it reaches over 25 frames at most.
    private var before: [Float]
    private static let reach = 32
    /// Frames that are measured or passed over as one.
    private static let part = 100
    // Of each channel: the largest sample of a part; of the frames before it, or more; whether the meter has those.
    private var peaks, peaksBefore: [Float]
    private var isMeasured: [Bool]
    private var samples = [Float](repeating: 0, count: part)

    /// For `rate` in Hz. `measure` adds samples to the meter of a channel, and gives the true peak, linear, of what was added
    /// last.
    package init(channels: Int, rate: Double, measure: @escaping (Int, UnsafePointer<Float>, Int) -> Double) {
        self.channels = channels
        self.measure = measure
        bound = rate < 96000 ? 2 : 2.5
        before = Array(repeating: 0, count: channels * Self.reach)
        peaks = Array(repeating: 0, count: channels)
        peaksBefore = peaks
        isMeasured = Array(repeating: false, count: channels)
    }

    /// Takes interleaved frames.
    package func add(_ samples: UnsafePointer<Float>, frames: Int) {
        var start = 0
        while start < frames {
            let length = min(Self.part, frames - start)
            add(part: samples + start * channels, frames: length)
            start += length
        }
    }

    private func add(part: UnsafePointer<Float>, frames: Int) {
        let loudest = look(at: part, frames: frames)
        // The loudest first: after it fewer can be larger.
        add(loudest, part, frames)
        for channel in 0..<channels where channel != loudest { add(channel, part, frames) }
        for channel in 0..<channels {
            peaksBefore[channel] = frames < Self.reach ? max(peaksBefore[channel], peaks[channel]) : peaks[channel]
        }
        let kept = min(frames, Self.reach) * channels
        before.removeFirst(kept)
        before.append(contentsOf: UnsafeBufferPointer(start: part + (frames * channels - kept), count: kept))
    }

    /// The largest sample of each channel, and which channel has the largest of all.
    private func look(at part: UnsafePointer<Float>, frames: Int) -> Int {
        peaks.withUnsafeMutableBufferPointer { peaks in
            for channel in 0..<channels { peaks[channel] = 0 }
            for frame in 0..<frames {
                let samples = part + frame * channels
                for channel in 0..<channels { peaks[channel] = max(peaks[channel], abs(samples[channel])) }
            }
            return peaks.indices.max { peaks[$0] < peaks[$1] } ?? 0
        }
    }

    /// Measures a channel, where it must be.
    private func add(_ channel: Int, _ part: UnsafePointer<Float>, _ frames: Int) {
        let isLarge = max(peaks[channel], peaksBefore[channel]) > enough
        if isLarge {
            if !isMeasured[channel] {
                _ = before.withUnsafeBufferPointer { measure(channel, $0.baseAddress!, frames: Self.reach) }
            }
            peak = max(peak, measure(channel, part, frames: frames))
            enough = Float(peak) / bound
        }
        isMeasured[channel] = isLarge
    }

    /// Adds a channel of interleaved frames to its meter.
    private func measure(_ channel: Int, _ part: UnsafePointer<Float>, frames: Int) -> Double {
        samples.withUnsafeMutableBufferPointer { samples in
            for frame in 0..<frames { samples[frame] = part[frame * channels + channel] }
            return measure(channel, samples.baseAddress!, frames)
        }
    }
}
