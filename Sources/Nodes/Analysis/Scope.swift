// SPDX-License-Identifier: Apache-2.0

/// Samples for an oscilloscope: the mean of all channels, over one 60th of a second that begins where the wave rises through
/// 0, so that a tone stands still. By one thread at a time.
struct Scope {
    /// The last two 60ths of a second.
    private var samples: [Float]
    private let interval: Int

    /// The wave must have been so far below 0 before, as a part of its largest sample: what is small beside it does not count.
    private static let depth: Float = 0.1

    /// `interval`: frames of a 60th of a second.
    init(interval: Int) {
        self.interval = interval
        samples = Array(repeating: 0, count: 2 * interval)
    }

    /// Takes an interval, channel after channel.
    mutating func add(_ block: UnsafePointer<Float>, channels: Int) {
        for frame in 0..<interval {
            samples[frame] = samples[interval + frame]
            var sum: Float = 0
            for channel in 0..<channels { sum += block[channel * interval + frame] }
            samples[interval + frame] = sum / Float(channels)
        }
    }

    /// As many frames as an interval has; where nothing rises through 0, the newest.
    var trace: [Float] {
        let threshold = -Self.depth * samples.reduce(0) { max($0, $1.magnitude) }
        guard threshold < 0 else { return Array(samples[interval...]) }
        var wasBelow = false
        for frame in 0..<interval {
            if samples[frame] < threshold { wasBelow = true }
            if wasBelow, samples[frame] >= 0 { return Array(samples[frame..<frame + interval]) }
        }
        return Array(samples[interval...])
    }
}
