// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Turns the gain that single frames need into one that is at or below each of them in time, and smooth: the smallest
/// within the look-ahead, an exponential release, and two running means one after the other, which together are as long
/// as the look-ahead, so that they have arrived when the frame comes.
struct PeakEnvelope: BitwiseCopyable {
    /// What gains are counted in, so that running sums never drift.
    private static let one = 1 << 30

    // The smallest of the last frames, as many as `needs` has (M. van Herk, "A fast algorithm for local minimum and maximum
    // filters", Pattern Recognition Letters 13, 1992): what they need, and of the round before at each place the smallest from
    // there to its end.
    fileprivate var needs: AudioArray<Double>
    private var place = 0
    private var smallestOfRound = 1.0

    private var released = 1.0

    // The running means: what they add up and the sums.
    fileprivate var first: AudioArray<Int>
    fileprivate var second: AudioArray<Int>
    private var firstPlace = 0
    private var secondPlace = 0
    private var firstSum: Int
    private var secondSum: Int
    private let full: Int
    private let share: Double

    fileprivate init(_ memory: PeakEnvelopeMemory) {
        memory.needs.fill(1)
        needs = memory.needs.array
        first = memory.first.array
        second = memory.second.array
        memory.first.fill(Self.one)
        memory.second.fill(Self.one * first.count)
        firstSum = Self.one * first.count
        secondSum = firstSum * second.count
        full = secondSum
        share = 1 / Double(full)
    }

    /// Whether the gain is 1 and stays so while no less is needed.
    var isResting: Bool {
        @_noLocks get { released == 1 && secondSum == full }
    }

    /// Takes the gain that a frame needs, at most 1, and gives the gain of the frame that is due. `release`: see
    /// `smoothing`. [audio]
    @_noLocks @inline(__always)
    mutating func next(_ needed: Double, release: Double) -> Double {
        smallestOfRound = min(smallestOfRound, needed)
        needs[place] = needed
        place &+= 1
        var smallest = smallestOfRound
        if place == needs.count {
            beginRound()
        } else {
            smallest = min(smallest, needs[place])
        }
        // It arrives: the end lies a billionth further.
        released = min(smallest, released * release + (smallest + 1e-9) * (1 - release))
        let units = Int(released * Double(Self.one))
        firstSum &+= units &- first[firstPlace]
        first[firstPlace] = units
        firstPlace = firstPlace &+ 1 == first.count ? 0 : firstPlace &+ 1
        secondSum &+= firstSum &- second[secondPlace]
        second[secondPlace] = firstSum
        secondPlace = secondPlace &+ 1 == second.count ? 0 : secondPlace &+ 1
        return secondSum == full ? 1 : Double(secondSum) * share
    }

    @_noLocks
    private mutating func beginRound() {
        var smallest = 1.0
        for index in 0..<needs.count {
            let place = needs.count &- 1 &- index
            smallest = min(smallest, needs[place])
            needs[place] = smallest
        }
        place = 0
        smallestOfRound = 1
    }
}

/// The memory of a `PeakEnvelope`. [control]
final class PeakEnvelopeMemory {
    /// Frames from the one that needs a gain to the one that gets it.
    let delay: Int

    fileprivate let needs: AudioArrayMemory<Double>
    fileprivate let first, second: AudioArrayMemory<Int>

    /// `length`: frames of the look-ahead, at least 1. `margin`: frames to both sides of a peak in which the gain stays.
    init(length: Int, margin: Int) {
        delay = length - 1 + margin
        needs = AudioArrayMemory(repeating: 1, count: length + 2 * margin)
        // Two means of a and b frames reach over a + b - 1.
        let firstLength = (length + 1) / 2
        first = AudioArrayMemory(repeating: 0, count: firstLength)
        second = AudioArrayMemory(repeating: 0, count: length + 1 - firstLength)
    }

    /// An envelope at rest: for one processor.
    func envelope() -> PeakEnvelope { PeakEnvelope(self) }
}
