// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit

// Square, saw and triangle without aliases. An ideal wave that went through an ideal low-pass filter before it was
// sampled differs from the wave itself only near its steps and corners, by a function of the time since the step or
// until it. So a sample is the ideal wave and the sum of what all steps within reach add: the method of band-limited
// steps (Stilson and Smith, ICMC 1996; Brandt, ICMC 2001), with a filter that is long, and without its delay, since the
// steps to come are known from phase and frequency. A sample is a function of these two alone.

/// What is left of a step and a corner at one distance from it. The filter h has an integral of 1.
struct EdgePoint: BitwiseCopyable {
    /// h: what the filter answers to an impulse.
    var impulse: Double
    /// The integral of h from here to infinity.
    var step: Double
    /// The integral of `step` from here to infinity.
    var corner: Double
}

/// Frames on each side of a step that it reaches. Samples per frame of the table.
private let reach = 64
private let density = 64
/// The Kaiser window that stops 90 dB (Kaiser, 1974: beta = 0.1102 (A - 8.7), width of the transition (A - 8) / 14.36
/// per frame of the window), so that the filter passes up to 0.455 of the rate and stops from half of it on.
private let beta = 0.1102 * (90 - 8.7)
private let transition = (90.0 - 8) / (14.36 * 2 * Double(reach))

/// Made when the first node needs it, never freed, and read only. [control]
let edgeTable = EdgeTable()

struct EdgeTable: @unchecked Sendable {
    // Sendable: written once, before anyone can see it.
    let points: AudioArrayMemory<EdgePoint>

    fileprivate init() {
        let count = reach * density
        // Twice as dense, for Simpson's rule.
        var filter = (0...2 * count).map { lowPass(Double($0) / Double(2 * density)) }
        let width = 1 / Double(density)
        func integral(_ interval: Int) -> Double {
            (filter[2 * interval] + 4 * filter[2 * interval + 1] + filter[2 * interval + 2]) * width / 6
        }
        let half = (0..<count).reversed().reduce(0) { $0 + integral($1) }
        for index in filter.indices { filter[index] *= 0.5 / half }
        // Two points of zeros behind the end: for the last interval.
        points = AudioArrayMemory(repeating: EdgePoint(impulse: 0, step: 0, corner: 0), count: count + 2)
        let table = points.array
        for index in (0..<count).reversed() {
            let next = table[index + 1]
            let step = next.step + integral(index)
            // The trapezoid rule with its correction by the slopes, which are known.
            let corner =
                next.corner + (step + next.step) * width / 2 + (next.impulse - filter[2 * index]) * width * width / 12
            table[index] = EdgePoint(impulse: filter[2 * index], step: step, corner: corner)
        }
    }
}

/// A windowed sinc, not yet scaled; `time` in frames.
private func lowPass(_ time: Double) -> Double {
    let share = time / Double(reach)
    if share >= 1 { return 0 }
    let angle = 2 * .pi * (0.5 - transition / 2) * time
    return (time == 0 ? 1 : sin(angle) / angle) * besselI0(beta * (1 - share * share).squareRoot())
}

/// The modified Bessel function of the first kind and order 0, by its series (Abramowitz and Stegun 9.6.12).
func besselI0(_ x: Double) -> Double {
    var (sum, term, k) = (1.0, 1.0, 1.0)
    while term > sum * 1e-17 {
        term *= (x / (2 * k)) * (x / (2 * k))
        sum += term
        k += 1
    }
    return sum
}

/// What all steps of a cycle's phase `place` add, for steps upwards by 1. [audio]
@_noLocks @inline(__always)
private func steps(_ since: Double, _ step: Double, _ table: AudioArray<EdgePoint>) -> Double {
    var sum = 0.0
    let stride = Double(density) / step
    let end = Double(reach * density)
    var place = since * stride
    while place < end {
        sum -= stepAt(place, table)
        place += stride
    }
    place = (1 - since) * stride
    while place < end {
        sum += stepAt(place, table)
        place += stride
    }
    return sum
}

/// What all corners of a cycle's phase add, for slopes that rise by 1 a frame. [audio]
@_noLocks @inline(__always)
private func corners(_ since: Double, _ step: Double, _ table: AudioArray<EdgePoint>) -> Double {
    var sum = 0.0
    let stride = Double(density) / step
    let end = Double(reach * density)
    var place = since * stride
    while place < end {
        sum += cornerAt(place, table)
        place += stride
    }
    place = (1 - since) * stride
    while place < end {
        sum += cornerAt(place, table)
        place += stride
    }
    return sum
}

/// Between two points: the cubic that has their values and slopes (Hermite). [audio]
@_noLocks @inline(__always)
private func hermite(_ from: Double, _ fromSlope: Double, _ to: Double, _ toSlope: Double, _ x: Double) -> Double {
    let rise = to - from
    let (a, b) = (fromSlope - rise, rise - toSlope)
    return from + x * rise + x * (1 - x) * (a * (1 - x) + b * x)
}

@_noLocks @inline(__always)
private func stepAt(_ place: Double, _ table: AudioArray<EdgePoint>) -> Double {
    let index = Int(place)
    let (point, next) = (table[index], table[index + 1])
    let width = 1 / Double(density)
    return hermite(
        point.step, -width * point.impulse, next.step, -width * next.impulse, place - Double(index))
}

@_noLocks @inline(__always)
private func cornerAt(_ place: Double, _ table: AudioArray<EdgePoint>) -> Double {
    let index = Int(place)
    let (point, next) = (table[index], table[index + 1])
    let width = 1 / Double(density)
    return hermite(
        point.corner, -width * point.step, next.corner, -width * next.step, place - Double(index))
}

/// Cycles since the phase was `place`, 0..<1.
@_noLocks @inline(__always)
private func since(_ place: Double, _ phase: Double) -> Double { phase >= place ? phase - place : phase - place + 1 }

/// A square of peak 1 that begins upwards; `phase` 0..<1, `step` in cycles per frame. [audio]
@_noLocks
func squareWave(_ phase: Double, _ step: Double, _ table: AudioArray<EdgePoint>?) -> Double {
    let ideal = phase < 0.5 ? 1.0 : -1
    guard let table, step > 0 else { return ideal }
    return ideal + 2 * (steps(phase, step, table) - steps(since(0.5, phase), step, table))
}

/// A rising saw of peak 1 that begins at 0 and falls at half a cycle. [audio]
@_noLocks
func sawWave(_ phase: Double, _ step: Double, _ table: AudioArray<EdgePoint>?) -> Double {
    let ideal = phase < 0.5 ? 2 * phase : 2 * phase - 2
    guard let table, step > 0 else { return ideal }
    return ideal - 2 * steps(since(0.5, phase), step, table)
}

/// A triangle of peak 1 that begins at 0 and rises. [audio]
@_noLocks
func triangleWave(_ phase: Double, _ step: Double, _ table: AudioArray<EdgePoint>?) -> Double {
    let ideal = phase < 0.25 ? 4 * phase : phase < 0.75 ? 2 - 4 * phase : 4 * phase - 4
    guard let table, step > 0 else { return ideal }
    return ideal
        + 8 * step * (corners(since(0.75, phase), step, table) - corners(since(0.25, phase), step, table))
}
