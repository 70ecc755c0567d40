// SPDX-License-Identifier: Apache-2.0
import CRealtime

/// Measures levels on the audio thread, and moves needles if asked for: plain data, to be held by a processor.
///
/// Every 60th of a second of audio it writes one record into the ring of the `LevelQueue` that made it and must outlive
/// it. Records depend on the audio alone, not on how it is cut into blocks (sums differ by rounding only). When the
/// ring is full the record is dropped and counted in the next one that fits.
public struct LevelMeter: BitwiseCopyable {
    /// Channels it measures at most.
    public static let maxChannels = 64
    /// Frames in one window of the orb level.
    public static let orbWindow = 1024

    /// Channels it measures.
    public let channels: Int
    /// Frames between records: `rate / 60`, rounded.
    public let interval: Int
    /// 0...1, of the newest complete window of 1024 frames: the RMS over all channels' samples on `LevelScale.orb`.
    public private(set) var orb: Float = 0
    /// Records that found the ring full.
    public private(set) var dropped: UInt32 = 0
    /// The largest sample of all channels in the last 60th of a second, linear.
    public private(set) var peak: Float = 0
    /// The largest root mean square of a channel in it, linear.
    public private(set) var rms: Float = 0
    /// The most that a needle showed in it, linear.
    public private(set) var needlePeak: Float = 0

    private let writer: RingWriter<UInt32>
    // Per channel, and one record's words: memory of the queue.
    private let peaks: UnsafeMutablePointer<Float>
    private let sums: UnsafeMutablePointer<Double>
    private let words: UnsafeMutablePointer<UInt32>
    private let needle: Needle?
    /// Of the orb's scale, in dB.
    private let range: Float
    private let needles: UnsafeMutablePointer<Needle.State>
    private var intervalFrames = 0
    private var windowFrames = 0
    private var windowSum = 0.0

    init(
        channels: Int, interval: Int, needle: Needle?, range: Float, writer: RingWriter<UInt32>, memory: LevelMemory
    ) {
        self.channels = channels
        self.range = range
        self.interval = interval
        self.needle = needle
        self.writer = writer
        needles = memory.needles
        peaks = memory.peaks
        sums = memory.sums
        words = memory.words
    }

    /// Takes `frames` frames of `count` channels; the first frame has `position` in the graph's time. Channels that are
    /// nil or missing count as silent, further ones are ignored. [audio]
    @_noLocks
    public mutating func feed(
        _ inputs: UnsafePointer<UnsafeMutablePointer<Float>?>?, count: Int, frames: Int, position: UInt64
    ) {
        var start = 0
        while start < frames {
            let length = min(frames &- start, min(interval &- intervalFrames, Self.orbWindow &- windowFrames))
            var channel = 0
            while channel < channels {
                if let inputs, channel < count, let samples = inputs[channel] {
                    take(samples + start, length, channel)
                    if let needle { needle.take(samples + start, frames: length, needles + channel) }
                } else if let needle {
                    needle.take(nil, frames: length, needles + channel)
                }
                channel &+= 1
            }
            start &+= length
            windowFrames &+= length
            intervalFrames &+= length
            if windowFrames == Self.orbWindow { endWindow() }
            if intervalFrames == interval { emit(position &+ UInt64(truncatingIfNeeded: start)) }
        }
    }

    @_noLocks
    private mutating func take(_ samples: UnsafePointer<Float>, _ frames: Int, _ channel: Int) {
        let measure = DSP.measure(samples, frames: frames)
        // A NaN, once there, stays: no number is greater.
        if measure.peak > peaks[channel] || measure.peak.isNaN { peaks[channel] = measure.peak }
        sums[channel] += Double(measure.sumOfSquares)
        windowSum += Double(measure.sumOfSquares)
    }

    @_noLocks
    private mutating func endWindow() {
        orb = LevelScale.orb(rms: Float(vg_root(windowSum / Double(Self.orbWindow &* channels))), range: range)
        windowSum = 0
        windowFrames = 0
    }

    @_noLocks
    private mutating func emit(_ position: UInt64) {
        words[0] = UInt32(truncatingIfNeeded: position)
        words[1] = UInt32(truncatingIfNeeded: position >> 32)
        words[2] = orb.bitPattern
        words[3] = dropped
        (peak, rms, needlePeak) = (0, 0, 0)
        var channel = 0
        while channel < channels {
            words[LevelMemory.header &+ channel] = peaks[channel].bitPattern
            if peaks[channel] > peak { peak = peaks[channel] }
            let mean = Float(vg_root(sums[channel] / Double(interval)))
            words[LevelMemory.header &+ channels &+ channel] = mean.bitPattern
            if mean > rms { rms = mean }
            if let needle {
                let most = needle.takeMost(needles + channel)
                words[LevelMemory.header &+ 2 &* channels &+ channel] = most.bitPattern
                if most > needlePeak { needlePeak = most }
            }
            peaks[channel] = 0
            sums[channel] = 0
            channel &+= 1
        }
        intervalFrames = 0
        let size = LevelMemory.recordSize(channels: channels, hasNeedle: needle != nil)
        if !writer.append(words, count: size) { dropped &+= 1 }
    }
}

/// What a meter points to.
struct LevelMemory {
    /// Words before the channels: position (2), orb, dropped.
    static let header = 4
    static func recordSize(channels: Int, hasNeedle: Bool) -> Int { header + (hasNeedle ? 3 : 2) * channels }

    let peaks: UnsafeMutablePointer<Float>
    let sums: UnsafeMutablePointer<Double>
    let words: UnsafeMutablePointer<UInt32>
    let needles: UnsafeMutablePointer<Needle.State>

    init(channels: Int) {
        let size = Self.recordSize(channels: channels, hasNeedle: true)
        peaks = .allocate(capacity: channels)
        sums = .allocate(capacity: channels)
        words = .allocate(capacity: size)
        peaks.initialize(repeating: 0, count: channels)
        sums.initialize(repeating: 0, count: channels)
        words.initialize(repeating: 0, count: size)
        needles = .allocate(capacity: channels)
        needles.initialize(repeating: Needle.State(), count: channels)
    }

    func free() {
        peaks.deallocate()
        sums.deallocate()
        words.deallocate()
        needles.deallocate()
    }
}
