// SPDX-License-Identifier: GPL-3.0-or-later

/// Makes a voice louder, and turns it down ahead of what would go beyond full scale: by the least gain that the next 5
/// ms need, the mean of that over 5 ms, and back in 100 ms. As many samples come out as go in, at their places.
struct SpeechLimiter {
    /// How far the loudest sample was beyond full scale, linear; 1: none was.
    private(set) var loudest: Float = 1
    /// Samples that were beyond full scale.
    private(set) var count = 0

    /// One step of 16 bits below 1.
    private static let ceiling: Float = 32767.0 / 32768
    private let gain: Float
    private let span: Int
    private let release: Double
    /// The last `span` samples, and the gains that are averaged.
    private var samples: [Float]
    private var gains: [Double]
    private var sum: Double
    private var held = 1.0
    /// Places and gains, both rising: the first is the least of the last `span`.
    private var least: [(place: Int, gain: Double)] = []
    private var place = 0

    /// `gain` linear, `rate` in Hz.
    init(gain: Float, rate: Double) {
        self.gain = gain
        span = max(1, Int(0.005 * rate))
        release = 1 / (0.1 * rate)
        samples = Array(repeating: 0, count: span)
        gains = Array(repeating: 1, count: span)
        sum = Double(span)
    }

    /// What is ready after these samples; `end`: all that is left.
    mutating func process(_ input: [Float], end: Bool) -> [Float] {
        var output: [Float] = []
        output.reserveCapacity(input.count + span)
        for sample in input { push(sample * gain, &output) }
        if end {
            for _ in 1..<span { push(0, &output) }
        }
        return output
    }

    private mutating func push(_ sample: Float, _ output: inout [Float]) {
        let size = abs(sample)
        if size > 1 {
            loudest = max(loudest, size)
            count += 1
        }
        let wanted = size > Self.ceiling ? Double(Self.ceiling / size) : 1
        while let last = least.last, last.gain >= wanted { least.removeLast() }
        least.append((place, wanted))
        samples[place % span] = sample
        place += 1
        // The sample that now has all that follows it within reach.
        let due = place - span
        if due < 0 { return }
        if least[0].place < due { least.removeFirst() }
        held = min(least[0].gain, held + (1 - held) * release)
        sum += held - gains[due % span]
        gains[due % span] = held
        let result = samples[due % span] * Float(sum / Double(span))
        output.append(min(max(result, -Self.ceiling), Self.ceiling))
    }
}
