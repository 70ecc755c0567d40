// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What a meter shows of one channel. It rises at once and falls at a steady rate, so that its state at any time
/// follows from the last update alone.
public struct Ballistics: Sendable, Equatable {
    /// The lowest level shown, in dBFS.
    public static let floor = -60.0
    /// dB a second that body and peak fall.
    public static let fall = 36.0
    /// dB a second that the held peak falls after its time.
    public static let holdFall = 24.0
    /// Seconds a peak is held.
    public static let hold = 1.5
    /// Seconds a clip is shown.
    public static let clip = 3.0

    private var rms = Mark()
    private var peak = Mark()
    private var held = Mark()
    private var clippedAt = -Double.infinity

    private struct Mark: Sendable, Equatable {
        var level = -Double.infinity
        var time = 0.0
    }

    /// What to draw, in dBFS; minus infinity for nothing.
    public struct Reading: Sendable, Equatable {
        /// The body.
        public var rms: Double
        /// Beyond the body.
        public var peak: Double
        /// A line.
        public var held: Double
        /// Whether the channel was at full scale lately.
        public var clipped: Bool

        /// Describes one; nothing by default.
        public init(
            rms: Double = -.infinity, peak: Double = -.infinity, held: Double = -.infinity, clipped: Bool = false
        ) {
            (self.rms, self.peak, self.held, self.clipped) = (rms, peak, held, clipped)
        }
    }

    /// Of a channel that was never heard.
    public init() {}

    /// Takes linear levels. NaN counts as clipping: whatever it is, it is not audio.
    public mutating func update(rms newRMS: Float, peak newPeak: Float, at time: Double) {
        let before = reading(at: time)
        let peakLevel = decibels(newPeak)
        let rmsLevel = decibels(newRMS)
        if rmsLevel >= before.rms { rms = Mark(level: rmsLevel, time: time) }
        if peakLevel >= before.peak { peak = Mark(level: peakLevel, time: time) }
        if peakLevel >= before.held { held = Mark(level: peakLevel, time: time) }
        if newPeak >= 0.9999 || newPeak.isNaN { clippedAt = time }
    }

    /// No clip is shown any more.
    public mutating func forgetClip() { clippedAt = -.infinity }

    /// What to draw at a time.
    public func reading(at time: Double) -> Reading {
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
public func decibels(_ linear: Float) -> Double {
    linear > 0 && linear.isFinite ? 20 * log10(Double(linear)) : -.infinity
}
