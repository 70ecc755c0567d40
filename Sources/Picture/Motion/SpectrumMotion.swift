// SPDX-License-Identifier: Apache-2.0

/// What live pictures of frequencies show: levels that fall slowly, held peaks, and how it was in the last seconds.
struct SpectrumMotion: Sendable {
    /// Frequencies, in equal ratios from `low` to half the rate.
    static let rows = 256
    /// The lowest, in Hz.
    static let low = FrequencyRows.low
    /// Frames of the past that are kept: 8 s.
    static let kept = 480
    /// dB a second that levels fall, seconds that a peak is held, dB a second that it falls then.
    private static let (fall, hold, heldFall): (Double, Double, Double) = (60, 1.5, 24)
    private static let silence: Float = -139

    /// In dBFS, the lowest frequency first.
    private(set) var levels: [Float] = []
    private(set) var held: [Float] = []
    /// As they were measured, on the mel scale, the newest last.
    private(set) var past: [[Float]] = []
    private var places: (rows: FrequencyRows, mels: FrequencyRows, width: Int, rate: Double)?
    private var heldSince: [Double] = []
    private var takenAt = 0.0
    private var silentFrames = 0

    /// Takes the level of each frequency from 0 to half of `rate` in even steps; false: all of it is silent, as before.
    mutating func take(_ spectrum: [Float], rate: Double, at time: Double) -> Bool {
        guard spectrum.count > 1, rate > 2 * Self.low else { return false }
        if places?.width != spectrum.count || places?.rate != rate {
            func rows(_ scale: FrequencyScale) -> FrequencyRows {
                FrequencyRows(scale, count: Self.rows, width: spectrum.count, high: rate / 2)
            }
            self = Self()
            places = (rows(.ratios), rows(.mel), spectrum.count, rate)
            (levels, held) = (Array(repeating: -140, count: Self.rows), Array(repeating: -140, count: Self.rows))
            heldSince = Array(repeating: time, count: Self.rows)
            takenAt = time
        }
        guard let places else { return false }
        let now = places.rows.values(spectrum)
        let passed = Float(max(0, time - takenAt))
        takenAt = time
        for row in now.indices {
            levels[row] = max(now[row], levels[row] - Float(Self.fall) * passed, -140)
            if levels[row] >= held[row] {
                (held[row], heldSince[row]) = (levels[row], time)
            } else if time - heldSince[row] > Self.hold {
                held[row] = max(levels[row], held[row] - Float(Self.heldFall) * passed)
            }
        }
        if past.count == Self.kept { past.removeFirst() }
        past.append(places.mels.values(spectrum))
        silentFrames = now.contains { $0 > Self.silence } ? 0 : silentFrames + 1
        return silentFrames <= Self.kept
    }
}
