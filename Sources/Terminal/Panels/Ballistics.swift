// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What a meter shows of one channel. It rises at once and falls at a steady rate, so that its state at any time
/// follows from the last update alone.
struct Ballistics: Sendable, Equatable {
    /// The lowest level shown, in dBFS.
    static let floor = -60.0
    /// dB a second that body and peak fall.
    static let fall = 36.0
    /// dB a second that the held peak falls after its time.
    static let holdFall = 24.0
    /// Seconds a peak is held.
    static let hold = 1.5
    /// Seconds a clip is shown.
    static let clip = 3.0

    private var rms = Mark()
    private var peak = Mark()
    private var held = Mark()
    private var clippedAt = -Double.infinity

    private struct Mark: Sendable, Equatable {
        var level = -Double.infinity
        var time = 0.0
    }

    /// What to draw, in dBFS; minus infinity for nothing.
    struct Reading: Sendable, Equatable {
        var rms: Double
        var peak: Double
        var held: Double
        var clipped: Bool
    }

    /// Takes linear levels. NaN counts as clipping: whatever it is, it is not audio.
    mutating func update(rms newRMS: Float, peak newPeak: Float, at time: Double) {
        let before = reading(at: time)
        let peakLevel = decibels(newPeak)
        let rmsLevel = decibels(newRMS)
        if rmsLevel >= before.rms { rms = Mark(level: rmsLevel, time: time) }
        if peakLevel >= before.peak { peak = Mark(level: peakLevel, time: time) }
        if peakLevel >= before.held { held = Mark(level: peakLevel, time: time) }
        if newPeak >= 0.9999 || newPeak.isNaN { clippedAt = time }
    }

    /// No clip is shown any more.
    mutating func forgetClip() { clippedAt = -.infinity }

    /// What to draw at a time.
    func reading(at time: Double) -> Reading {
        func fallen(_ mark: Mark, after wait: Double, _ rate: Double) -> Double {
            let level = mark.level - max(0, time - mark.time - wait) * rate
            return level > Ballistics.floor ? level : -.infinity
        }
        let peak = fallen(peak, after: 0, Ballistics.fall)
        return Reading(
            rms: fallen(rms, after: 0, Ballistics.fall), peak: peak,
            held: max(peak, fallen(held, after: Ballistics.hold, Ballistics.holdFall)),
            clipped: time >= clippedAt && time - clippedAt < Ballistics.clip)
    }
}

/// dBFS of a linear level; minus infinity for silence and nonsense.
func decibels(_ linear: Float) -> Double { linear > 0 && linear.isFinite ? 20 * log10(Double(linear)) : -.infinity }

/// A level for people: "-12.3", "0.0", "+1.2", or a sign for silence.
func decibelText(_ level: Double, unicode: Bool) -> String {
    guard level > -200 else { return unicode ? "-∞" : "-inf" }
    return (level >= 0.05 ? "+" : "") + fixed(level, 1)
}

/// A number with a given count of decimals, without a locale.
package func fixed(_ value: Double, _ decimals: Int) -> String {
    guard value.isFinite else { return "-" }
    var scale = 1.0
    for _ in 0..<decimals { scale *= 10 }
    let scaled = (value * scale).rounded()
    guard abs(scaled) < 1e15 else { return "-" }
    let digits = String(Int64(abs(scaled)))
    let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
    let sign = scaled < 0 ? "-" : ""
    return decimals == 0 ? sign + padded : sign + padded.dropLast(decimals) + "." + padded.suffix(decimals)
}
