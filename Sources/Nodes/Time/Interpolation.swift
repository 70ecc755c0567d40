// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit

// What is between the samples of a line. All three kinds give the samples themselves at whole times, so that a time
// that moves goes from one to the next without a step.

/// Frames on each side of a time that a windowed sinc takes.
let sincReach = 16
/// Frames beyond a time's whole part that may be read.
let interpolationReach = sincReach
/// Rows of the table of weights for each frame; between two rows weights are taken on a straight line, which is exact
/// to -120 dB.
private let sincRows = 1024
/// So near to a whole number of frames a time counts as that.
private let wholeEnough = 1e-9

/// The weights of a sinc under a Kaiser window (Kaiser, 1974) of 32 frames that keeps sines below 0.42 of the rate
/// within 0.001 dB: row r has those of a time r / 1024 frames after a sample. Made when the first node needs it, never
/// freed, and read only. [control]
let sincTable = SincTable()

struct SincTable: @unchecked Sendable {
    // Sendable: written once, before anyone can see it.
    /// `2 * sincReach` weights a row, newest sample first.
    let weights: AudioArrayMemory<Float>

    fileprivate init() {
        let count = 2 * sincReach
        weights = AudioArrayMemory(repeating: 0, count: (sincRows + 1) * count)
        let beta = 0.1102 * (80 - 8.7)
        for row in 0...sincRows {
            let fraction = Double(row) / Double(sincRows)
            let values = (0..<count).map { index -> Double in
                // The newest sample is `sincReach - 1` frames after the whole part of the time.
                let distance = Double(index - sincReach + 1) - fraction
                let share = distance / Double(sincReach)
                if abs(share) >= 1 { return 0 }
                let window = besselI0(beta * (1 - share * share).squareRoot())
                return window * (distance == 0 ? 1 : sin(.pi * distance) / (.pi * distance))
            }
            let sum = values.reduce(0, +)
            for (index, value) in values.enumerated() {
                weights.array[row * count + index] = Float(value / sum)
            }
        }
    }
}

/// A place in a line from which is read: a delay in frames, and how its neighbours are weighted.
struct LineReader: BitwiseCopyable {
    /// In frames.
    private(set) var delay = -1.0
    /// Frames before the current one of the newest sample that counts; the others are older.
    private(set) var newest = 0
    /// How many count; 1: the sample itself.
    private(set) var count = 1
    /// The oldest sample's first; `2 * sincReach` numbers of the owner's.
    let weights: AudioArray<Float>
    /// What is read across the end of a line; `windowFrames` of the owner's.
    let window: AudioArray<Float>

    /// Frames that are read across the end of a line at a time.
    private static var piece: Int {
        @_noLocks get { 64 }
    }
    static var windowFrames: Int { piece + 2 * sincReach }

    init(weights: AudioArray<Float>, window: AudioArray<Float>) {
        (self.weights, self.window) = (weights, window)
    }

    /// The oldest frame that it reads, in frames before the current one.
    var oldest: Int { @_noLocks get { newest + count - 1 } }

    /// Moves it to a delay, not below `least`, the delay of the newest sample that there is. Far enough from that it is
    /// a windowed sinc, nearer a polynomial through all samples on both sides (Lagrange; of order 3 at least). [audio]
    @_noLocks
    mutating func move(to wanted: Double, least: Int, _ table: AudioArray<Float>) {
        delay = wanted > Double(least) ? wanted : Double(least)
        var whole = Int(delay)
        var fraction = delay - Double(whole)
        if fraction > 1 - wholeEnough {
            whole += 1
            fraction = 0
        }
        if fraction < wholeEnough {
            (newest, count) = (whole, 1)
            return
        }
        let reach = min(sincReach, whole - least + 1)
        if reach == sincReach {
            (newest, count) = (whole - sincReach + 1, 2 * sincReach)
            let place = fraction * Double(sincRows)
            let row = Int(place)
            let share = Float(place - Double(row))
            let from = table.part(row * count..<(row + 2) * count)
            for index in 0..<count {
                weights[count - 1 - index] = from[index] + share * (from[index + count] - from[index])
            }
        } else {
            count = max(4, 2 * reach)
            newest = reach == 1 ? whole : whole - reach + 1
            interpolate(at: Double(whole - newest) + fraction)
        }
    }

    /// The weights of a polynomial through `count` samples at 0, 1, 2, ..., in the barycentric form (Berrut and
    /// Trefethen, SIAM Review 46, 2004). `place` is not whole. [audio]
    @_noLocks
    private func interpolate(at place: Double) {
        var (factor, sum) = (1.0, 0.0)
        for index in 0..<count {
            sum += factor / (place - Double(index))
            factor *= -Double(count - 1 - index) / Double(index + 1)
        }
        factor = 1
        for index in 0..<count {
            weights[count - 1 - index] = Float(factor / (place - Double(index)) / sum)
            factor *= -Double(count - 1 - index) / Double(index + 1)
        }
    }

    /// Reads a line into `output`; `position` is the first frame's, and the line has frame p at `line[p & mask]`. Every
    /// sample is the same sum in the same order, wherever a block begins. [audio]
    @_noLocks
    func read(_ line: AudioArray<Float>, mask: UInt64, position: UInt64, _ output: borrowing OutputSamples) {
        let frames = output.count
        if count == 1 {
            let start = Int((position &- UInt64(newest)) & mask)
            let first = min(frames, line.count - start)
            output.part(0..<first).copy(line.samples(start..<start + first).written)
            output.part(first..<frames).copy(line.samples(0..<frames - first).written)
            return
        }
        let start = Int((position &- UInt64(oldest)) & mask)
        let weights = weights.part(0..<count)
        let reach = count - 1
        if start + frames + reach <= line.count {
            return output.convolve(line.samples(start..<start + frames + reach).written, with: weights)
        }
        var done = 0
        while done < frames {
            let length = min(Self.piece, frames - done)
            let from = (start + done) & Int(mask)
            let first = min(length + reach, line.count - from)
            window.samples(0..<first).copy(line.samples(from..<from + first).written)
            window.samples(first..<length + reach).copy(line.samples(0..<length + reach - first).written)
            output.part(done..<done + length).convolve(window.samples(0..<length + reach).written, with: weights)
            done += length
        }
    }
}
