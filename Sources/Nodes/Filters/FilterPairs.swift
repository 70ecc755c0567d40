// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Two sections of a chain that compute at the same time, the second one a frame behind the first. All that is computed
/// is what `filterStep` computes, in the same order, so that the result is the same bit for bit.
struct FilterPair: BitwiseCopyable {
    private var a1 = SIMD2<Double>(), a2 = SIMD2<Double>(), a3 = SIMD2<Double>()
    private var m0 = SIMD2<Double>(), m1 = SIMD2<Double>(), m2 = SIMD2<Double>()
    private var band = SIMD2<Double>(), low = SIMD2<Double>()
    /// What the first section gave for its last frame, which is the next one of the second.
    var carried = 0.0

    init() {}

    /// Takes over two sections and their states. [audio]
    @_noLocks
    mutating func load(_ pair: Int, _ sections: AudioArray<FilterSection>, _ states: AudioArray<FilterState>) {
        let (first, second) = (sections[2 * pair], sections[2 * pair + 1])
        a1 = SIMD2(first.a1, second.a1)
        a2 = SIMD2(first.a2, second.a2)
        a3 = SIMD2(first.a3, second.a3)
        m0 = SIMD2(first.m0, second.m0)
        m1 = SIMD2(first.m1, second.m1)
        m2 = SIMD2(first.m2, second.m2)
        band = SIMD2(states[2 * pair].band, states[2 * pair + 1].band)
        low = SIMD2(states[2 * pair].low, states[2 * pair + 1].low)
    }

    /// Gives the states back. [audio]
    @_noLocks
    func store(_ pair: Int, _ states: AudioArray<FilterState>) {
        states[2 * pair] = FilterState(band: band.x, low: low.x)
        states[2 * pair + 1] = FilterState(band: band.y, low: low.y)
    }

    /// Takes a frame of the first section and gives the one before it of the second. [audio]
    @_noLocks @inline(__always)
    mutating func step(_ input: Double) -> Double {
        let samples = SIMD2(input, carried)
        let rest = samples - low
        let bandWay = a1 * band + a2 * rest
        let lowWay = a2 * band + a3 * rest
        let result = m0 * samples + m1 * (band + bandWay) + m2 * (low + lowWay)
        band += 2 * bandWay
        low += 2 * lowWay
        carried = result.x
        return result.y
    }
}

/// One channel through two or more sections, in pairs; `frames` are more than there are pairs. Output and input may be
/// the same buffer. Pair p is p frames behind the first pair. [audio]
@_noLocks
func filterInPairs(
    _ pairs: AudioArray<FilterPair>, _ sections: AudioArray<FilterSection>, _ states: AudioArray<FilterState>,
    _ input: borrowing InputSamples, _ output: borrowing OutputSamples, _ frames: Range<Int>
) {
    let count = sections.count
    let pairCount = count / 2
    // Each of the first frames goes as far as the pair that begins with it.
    for ahead in 0..<pairCount {
        let pair = pairCount - 1 - ahead
        var sample = finiteSample(input[frames.lowerBound + ahead])
        for index in 0...(2 * pair) { sample = filterStep(sections[index], &states[index], sample) }
        pairs[pair].carried = sample
    }
    for pair in 0..<pairCount { pairs[pair].load(pair, sections, states) }
    if count == 2 {
        // A copy, which stays in registers.
        var pair = pairs[0]
        for frame in (frames.lowerBound + 1)..<frames.upperBound {
            output[frame - 1] = Float(pair.step(finiteSample(input[frame])))
        }
        pairs[0] = pair
    } else {
        let last = count - 1
        let isOdd = count % 2 == 1
        for frame in (frames.lowerBound + pairCount)..<frames.upperBound {
            var sample = finiteSample(input[frame])
            for pair in 0..<pairCount { sample = pairs[pair].step(sample) }
            if isOdd { sample = filterStep(sections[last], &states[last], sample) }
            output[frame - pairCount] = Float(sample)
        }
    }
    for pair in 0..<pairCount { pairs[pair].store(pair, states) }
    // The last frames go the rest of their way.
    for behind in 0..<pairCount {
        let pair = pairCount - 1 - behind
        var sample = pairs[pair].carried
        for index in (2 * pair + 1)..<count { sample = filterStep(sections[index], &states[index], sample) }
        output[frames.upperBound - 1 - pair] = Float(sample)
    }
}
