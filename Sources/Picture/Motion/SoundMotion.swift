// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What pictures of measurements show: how the sound is now, and how it was in the last seconds.
public struct SoundState: Sendable, Equatable {
    /// In dBFS, at frequencies in equal ratios from 20 Hz to half the rate; empty: nothing is known.
    public var spectrum: [Float] = []
    /// The same, as it was at most lately.
    public var heldSpectrum: [Float] = []
    /// Over the last 8 s, at frequencies on the mel scale from 0 to half the rate, the newest last; fewer where less is known.
    public var spectrogram: [[Float]] = []
    /// Samples one after another, -1 to 1 where they fill the picture.
    public var scope: [Float] = []
    /// Side and middle of samples, the oldest first, 1 where they touch the rim.
    public var points: [SIMD2<Float>] = []
    /// Of the points, as `StereoField` measures it; nil: nothing is known.
    public var correlation: Float?
    /// Of each channel.
    public var meters: [Ballistics.Reading] = []
    /// Momentary and short-term loudness over the last 20 s, in LUFS, the newest last.
    public var loudness: [SIMD2<Float>] = []
    /// In LUFS; nil: nothing is known.
    public var integrated: Float?
    /// Half the rate, in Hz.
    public var top = 24_000.0

    /// Nothing is known.
    public init() {}

    /// The middle of what a row of the spectrum covers, in Hz.
    public func frequency(ofRow row: Int) -> Double {
        FrequencyRows.low * pow(top / FrequencyRows.low, (Double(row) + 0.5) / Double(max(spectrum.count, 1)))
    }

    /// Loudness that is kept.
    static let loudnessCount = 300
}

/// Takes what was measured, and keeps what pictures of it show.
struct SoundMotion: Sendable {
    /// Frames a second of the sound, in Hz: what the spectrum reaches to.
    var rate = 48_000.0
    private(set) var meters: [Ballistics] = []
    private var spectrum = SpectrumMotion()
    private var scope: [Float] = []
    private var scopeRange = Range()
    private var points: [[SIMD2<Float>]] = []
    private var pointRange = Range()
    private var correlation: Float?
    private var peaks: [Float] = []
    private var loudness: [SIMD2<Float>] = []
    private var integrated: Float?
    /// Momentary loudness since the last that was kept, how many there were, and how long it has been silent.
    private var (loudest, frames, silentFrames): (Float, Int, Int) = (-70, 0, 0)

    /// Frames whose points are shown: a tenth of a second.
    private static let pointFrames = 6
    /// Frames that become one of the loudness that is kept.
    private static let together = 4

    /// Pictures of samples fill their height: what is quieter is enlarged, eightfold at most, soon down and slowly up.
    private struct Range: Sendable {
        private var top: Float = 1
        private var takenAt = -Double.infinity

        mutating func factor(_ peak: Float, at time: Double) -> Float {
            let passed = min(max(0, time - takenAt), 10)
            takenAt = time
            top = max(peak, top * Float(exp(-passed / 1.5)), 1.0 / 8)
            return 0.9 / top
        }
    }

    /// Takes a row of a frame; false: it says what was known already.
    mutating func take(_ series: String, _ values: [Float], at time: Double) -> Bool {
        switch series {
        case "peak": peaks = values
        case "rms": return take(rms: values, at: time)
        case "spectrum": return spectrum.take(values, rate: rate, at: time)
        case "scope":
            let peak = values.reduce(0) { max($0, $1.magnitude) }
            let factor = scopeRange.factor(peak, at: time)
            let isNews = peak > 0 || scope.contains { $0 != 0 } || scope.count != values.count
            scope = values.map { $0 * factor }
            return isNews
        case "goniometer": return take(points: values, at: time)
        case "correlation": correlation = values.first
        case "lufs_m": return take(momentary: values.first ?? -70)
        case "lufs_s": if let value = values.first, !loudness.isEmpty { loudness[loudness.count - 1].y = value }
        case "lufs_i": integrated = values.first
        default: break
        }
        return false
    }

    private mutating func take(rms: [Float], at time: Double) -> Bool {
        guard peaks.count == rms.count else { return false }
        if meters.count != peaks.count { meters = peaks.map { _ in Ballistics() } }
        for index in meters.indices { meters[index].update(rms: rms[index], peak: peaks[index], at: time) }
        return peaks.contains { $0 != 0 }
    }

    private mutating func take(points values: [Float], at time: Double) -> Bool {
        let pairs = stride(from: 0, to: values.count - 1, by: 2).map { SIMD2(values[$0], values[$0 + 1]) }
        let peak = pairs.reduce(0) { max($0, ($1 * $1).sum()) }.squareRoot()
        let factor = pointRange.factor(peak, at: time)
        let isNews = peak > 0 || points.contains { $0.contains { $0 != .zero } }
        if points.count == Self.pointFrames { points.removeFirst() }
        points.append(pairs.map { $0 * factor })
        return isNews
    }

    private mutating func take(momentary: Float) -> Bool {
        if frames == 0 {
            if loudness.count == SoundState.loudnessCount { loudness.removeFirst() }
            loudness.append(SIMD2(-70, loudness.last?.y ?? -70))
            loudest = -70
        }
        frames = (frames + 1) % Self.together
        loudest = max(loudest, momentary)
        loudness[loudness.count - 1].x = loudest
        silentFrames = momentary > -70 ? 0 : silentFrames + 1
        return silentFrames <= SoundState.loudnessCount * Self.together
    }

    mutating func forgetClips() { for index in meters.indices { meters[index].forgetClip() } }

    /// What is drawn at a time.
    func state(at time: Double) -> SoundState {
        var state = SoundState()
        state.spectrum = spectrum.levels
        state.heldSpectrum = spectrum.held
        state.spectrogram = spectrum.past
        state.scope = scope
        state.points = points.flatMap { $0 }
        state.correlation = correlation
        state.meters = meters.map { $0.reading(at: time) }
        state.loudness = loudness
        state.integrated = integrated
        state.top = rate / 2
        return state
    }
}
