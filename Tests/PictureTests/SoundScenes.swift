// SPDX-License-Identifier: Apache-2.0
import Glibc
import Picture

/// A motion that has heard so many seconds of a made-up voice, which is loud in the middle channel and turns inverted.
func motion(level: Float, seconds: Double) -> PictureMotion {
    var motion = PictureMotion()
    for frame in 0..<Int(seconds * 60) {
        let time = Double(frame) / 60
        let swing = level * (0.6 + 0.4 * Float(sin(time * 5)))
        let pitch = 160 * (1 + 0.3 * sin(time * 2))
        let spectrum = (0...2048).map { bin -> Float in
            let frequency = Double(bin) * 24_000 / 2048
            let harmonic = (frequency / pitch).rounded()
            let away = harmonic < 1 ? 9 : (frequency - harmonic * pitch) / 14
            let voice = 20 * log10(swing) - 4 - Float(harmonic) * 1.6 - Float(away * away) * 3
            return max(voice, -84 - Float(frequency) / 1500 + Float((bin * 7919 + frame * 131) % 17) / 4)
        }
        let scope = (0..<800).map { frame -> Float in
            let phase = 2 * Float.pi * Float(frame) / 48_000 * 187
            return swing * (0.5 * sinf(phase) + 0.25 * sinf(2 * phase + 1) + 0.12 * sinf(5 * phase))
        }
        let points = (0..<100).flatMap { point -> [Float] in
            let place = Float(frame * 100 + point)
            return [swing * 0.4 * sinf(place * 0.37), swing * sinf(place * 0.37 + 0.5 + 0.2 * sinf(place / 50))]
        }
        let momentary = -20 + 20 * log10(swing)
        let rows: [(String, [Float])] = [
            ("peak", [swing, swing * 0.6]), ("rms", [swing * 0.4, swing * 0.25]), ("orb", [swing]),
            ("correlation", [0.7]), ("goniometer", points), ("scope", scope), ("spectrum", spectrum),
            ("lufs_m", [momentary]), ("lufs_s", [-20 + 20 * log10(level)]), ("lufs_i", [-23]),
        ]
        for row in rows { _ = motion.take(row.0, row.1, at: time) }
    }
    return motion
}

/// What pictures of it show.
func sound(level: Float, seconds: Double = 9) -> SoundState {
    var heard = motion(level: level, seconds: seconds)
    return heard.state(.spectrum, at: seconds).sound
}
