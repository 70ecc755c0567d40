// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Turns the gain that single frames need into one that is at or below each of them in time, and smooth: the smallest
/// within the look-ahead, an exponential release, and two running means one after the other, which together are as long
/// as the look-ahead, so that they have arrived when the frame comes.
struct PeakEnvelope: BitwiseCopyable {
    /// Frames to both sides of a peak in which the gain stays: what lies between two samples depends on many of them.
    static let margin = 12
    /// What gains are counted in, so that running sums never drift.
    private static let one = 1 << 30

    // Candidates for the smallest gain: a queue of rising gains with the frames at which they came.
    fileprivate var gains: AudioArray<Double>
    fileprivate var times: AudioArray<Int>
    fileprivate var mask: Int
    private var head = 0
    private var tail = 0
    private var time = 0
    fileprivate var reach: Int

    private var released = 1.0

    // The running means: what they add up and the sums.
    fileprivate var first: AudioArray<Int>
    fileprivate var second: AudioArray<Int>
    fileprivate var firstLength: Int
    fileprivate var secondLength: Int
    private var firstPlace = 0
    private var secondPlace = 0
    private var firstSum: Int
    private var secondSum: Int
    private let full: Int

    fileprivate init(_ memory: PeakEnvelopeMemory, firstLength: Int, secondLength: Int, reach: Int) {
        gains = memory.gains.array
        times = memory.times.array
        mask = gains.count - 1
        self.reach = reach
        memory.first.fill(Self.one)
        memory.second.fill(Self.one * firstLength)
        first = memory.first.array
        second = memory.second.array
        self.firstLength = firstLength
        self.secondLength = secondLength
        firstSum = Self.one * firstLength
        secondSum = Self.one * firstLength * secondLength
        full = secondSum
    }

    /// Whether the gain is 1 and stays so while no less is needed.
    var isResting: Bool {
        @_noLocks get { released == 1 && secondSum == full }
    }

    /// Takes the gain that a frame needs, at most 1, and gives the gain of the frame that is due. `release`: see
    /// `smoothing`. [audio]
    @_noLocks @inline(__always)
    mutating func next(_ needed: Double, release: Double) -> Double {
        while tail != head, gains[(tail &- 1) & mask] >= needed { tail &-= 1 }
        gains[tail & mask] = needed
        times[tail & mask] = time
        tail &+= 1
        if times[head & mask] <= time &- reach { head &+= 1 }
        time &+= 1
        let smallest = gains[head & mask]
        released = smallest < released ? smallest : smallest + (released - smallest) * release
        if smallest - released < 1e-9 { released = smallest }
        let units = Int(released * Double(Self.one))
        firstSum &+= units &- first[firstPlace]
        first[firstPlace] = units
        firstPlace = firstPlace &+ 1 == firstLength ? 0 : firstPlace &+ 1
        secondSum &+= firstSum &- second[secondPlace]
        second[secondPlace] = firstSum
        secondPlace = secondPlace &+ 1 == secondLength ? 0 : secondPlace &+ 1
        return secondSum == full ? 1 : Double(secondSum) / Double(full)
    }
}

/// The memory of a `PeakEnvelope`. [control]
final class PeakEnvelopeMemory {
    /// Frames from the one that needs a gain to the one that gets it.
    let delay: Int

    fileprivate let gains: AudioArrayMemory<Double>
    fileprivate let times: AudioArrayMemory<Int>
    fileprivate let first, second: AudioArrayMemory<Int>
    private let length: Int

    /// `length`: frames of the look-ahead, at least 1.
    init(length: Int) {
        self.length = length
        delay = length - 1 + PeakEnvelope.margin
        var capacity = 1
        while capacity < length + 2 * PeakEnvelope.margin + 1 { capacity *= 2 }
        gains = AudioArrayMemory(repeating: 1, count: capacity)
        times = AudioArrayMemory(repeating: 0, count: capacity)
        first = AudioArrayMemory(repeating: 0, count: length)
        second = AudioArrayMemory(repeating: 0, count: length)
    }

    /// An envelope at rest: for one processor.
    func envelope() -> PeakEnvelope {
        // Two means of a and b frames reach over a + b - 1.
        let firstLength = (length + 1) / 2
        return PeakEnvelope(
            self, firstLength: firstLength, secondLength: length + 1 - firstLength,
            reach: length + 2 * PeakEnvelope.margin)
    }
}
