// SPDX-License-Identifier: Apache-2.0
import Glibc
import Picture
import TestSupport

/// Pictures of measurements: where things stand in them.
@Suite struct MeasuredPictureTests {
    private func state(_ change: (inout SoundState) -> Void) -> PictureState {
        var state = PictureState()
        change(&state.sound)
        return state
    }

    /// Rows, from the top, in which a column shows more than `opacity`.
    private func rows(_ image: PixelImage, x: Int, above opacity: Float = 0.5) -> [Int] {
        (0..<image.height).filter { image[x, $0].rgba.w > opacity }
    }

    /// A motion that has taken a spectrum with one tone, so many times.
    private func tone(_ frequency: Double, _ level: Float, frames: Int = 1) -> PictureMotion {
        var motion = PictureMotion()
        take(&motion, frequency, level, frames: 0..<frames)
        return motion
    }

    private func take(_ motion: inout PictureMotion, _ frequency: Double, _ level: Float, frames: Range<Int>) {
        var spectrum = [Float](repeating: -140, count: 2049)
        spectrum[Int((frequency * 2048 / 24_000).rounded())] = level
        for frame in frames { _ = motion.take("spectrum", spectrum, at: Double(frame) / 60) }
    }

    @Test(
        "A tone is a peak in the spectrum where its frequency and its level say",
        arguments: [(1000.0, Float(-24)), (8000, -48)])
    func spectrum(_ tone: (frequency: Double, level: Float)) throws {
        var motion = self.tone(tone.frequency, tone.level)
        let state = motion.state(.spectrum, at: 0)
        let image = SpectrumPicture().draw(state, width: 300, height: 200)
        let tops = (0..<300).map { rows(image, x: $0).first ?? 200 }
        let peak = try #require(tops.indices.min { tops[$0] < tops[$1] })
        let place = log(tone.frequency / 20) / log(24_000.0 / 20) * 300
        #expect(abs(Double(peak) - place) <= 3)
        #expect(abs(tops[peak] - Int(200 * (1 - SpectrumPicture.height(of: tone.level)))) <= 3)
        #expect(SpectrumPicture.height(of: -48) == 0.5 && SpectrumPicture.height(of: -140) == 0)
        let row = try #require(state.sound.spectrum.indices.max { state.sound.spectrum[$0] < state.sound.spectrum[$1] })
        #expect(abs(state.sound.frequency(ofRow: row) / tone.frequency - 1) < 0.03)
    }

    @Test("A spectrum falls slowly, and its peaks are held") func falling() {
        var motion = tone(1000, -20)
        take(&motion, 1000, -140, frames: 1..<31)
        let state = motion.state(.spectrum, at: 0.5).sound
        // 60 dB a second.
        #expect(abs((state.spectrum.max() ?? 0) - (-50)) < 0.1)
        #expect(state.heldSpectrum.max() == -20)
        take(&motion, 1000, -140, frames: 31..<600)
        #expect(motion.state(.spectrum, at: 10).sound.heldSpectrum.allSatisfy { $0 < -130 })
    }

    @Test("A spectrogram has the newest at the right and high tones above") func spectrogram() throws {
        var motion = tone(200, -30, frames: 120)
        take(&motion, 5000, -30, frames: 120..<240)
        let image = SpectrogramPicture().draw(motion.state(.spectrogram, at: 4), width: 240, height: 160)
        func brightest(_ x: Int) -> Int? { rows(image, x: x, above: 0.3).first }
        func row(_ frequency: Double) -> Double { 160 * (1 - log(1 + frequency / 700) / log(1 + 24_000 / 700.0)) }
        // Four of eight seconds are known.
        #expect(rows(image, x: 60, above: 0).isEmpty)
        #expect(abs(Double(try #require(brightest(150))) - row(200)) <= 4)
        #expect(abs(Double(try #require(brightest(239))) - row(5000)) <= 4)
    }

    @Test("A scope's line goes through its samples, and what is quiet is enlarged, eightfold at most") func scope() {
        var motion = PictureMotion()
        let samples = (0..<800).map { sinf(2 * .pi * Float($0) / 800) }
        _ = motion.take("scope", samples, at: 0)
        let full = motion.state(.scope, at: 0).sound.scope
        #expect(abs((full.max() ?? 0) - 0.9) < 1e-3)
        let image = ScopePicture().draw(motion.state(.scope, at: 0), width: 200, height: 100)
        #expect(rows(image, x: 50).allSatisfy { $0 < 20 } && rows(image, x: 150).allSatisfy { $0 > 80 })
        for frame in 1...900 { _ = motion.take("scope", samples.map { $0 * 0.01 }, at: Double(frame) / 60) }
        let quiet = motion.state(.scope, at: 15).sound.scope.max() ?? 0
        #expect(abs(quiet - 0.01 * 0.9 * 8) < 1e-3)
    }

    @Test("A goniometer shows what is alike upright, one channel on its diagonal, and what is inverted across")
    func goniometer() {
        func width(_ pairs: (Float) -> SIMD2<Float>) -> (x: ClosedRange<Int>, y: ClosedRange<Int>) {
            let state = state { sound in sound.points = (-50...50).map { pairs(Float($0) / 50) } }
            let image = GoniometerPicture().draw(state, width: 200, height: 200)
            let idle = GoniometerPicture().draw(PictureState(), width: 200, height: 200)
            var (columns, lines): ([Int], [Int]) = ([], [])
            for y in 0..<200 {
                for x in 0..<200 where image[x, y].rgba.w > idle[x, y].rgba.w + 0.08 {
                    columns.append(x)
                    lines.append(y)
                }
            }
            return ((columns.min() ?? 0)...(columns.max() ?? 0), (lines.min() ?? 0)...(lines.max() ?? 0))
        }
        let mono = width { SIMD2(0, $0) }
        #expect(mono.x.count < 6 && mono.y.count > 120)
        let inverted = width { SIMD2($0, 0) }
        #expect(inverted.x.count > 120 && inverted.y.count < 6)
        let left = width { SIMD2(-$0, $0) * 0.7 }
        #expect(left.x.count > 80 && left.y.count > 80)
    }

    @Test("A meter's bar reaches as far as its level, lies in broad pictures, and is red where it clipped") func meter()
    {
        #expect(
            MeterPicture.place(of: -30) == 0.5 && MeterPicture.place(of: 0) == 1 && MeterPicture.place(of: -90) == 0)
        let half = Ballistics.Reading(rms: -30, peak: -15)
        for (width, height) in [(200, 60), (60, 200)] {
            let image = MeterPicture().draw(state { $0.meters = [half] }, width: width, height: height)
            func opacity(_ along: Int) -> Float {
                (width > height ? image[along, 30] : image[30, 199 - along]).rgba.w
            }
            #expect(opacity(50) > 0.9 && opacity(97) > 0.9)
            #expect(abs(opacity(125) - 0.4) < 0.05 && opacity(155) < 0.35)
        }
        let clipped = Ballistics.Reading(rms: -3, peak: 0, held: 0, clipped: true)
        let image = MeterPicture().draw(state { $0.meters = [half, clipped] }, width: 200, height: 60)
        #expect(image[199, 45].rgba.x > 0.9 && image[199, 45].rgba.y < 0.3)
        #expect(image[199, 15].rgba.w < 0.35)
    }

    @Test("Loudness stands where its scale says, and the line is at -23 LUFS") func loudness() throws {
        #expect(LoudnessPicture.height(of: -50) == 0 && LoudnessPicture.height(of: -5) == 1)
        let still = state { $0.loudness = Array(repeating: SIMD2(-23, -41), count: 300) }
        let image = LoudnessPicture().draw(still, width: 300, height: 180)
        // 45 LU are 180 rows.
        #expect(abs(try #require(rows(image, x: 250, above: 0.3).first) - 72) <= 2)
        let lines = rows(LoudnessPicture().draw(PictureState(), width: 300, height: 180), x: 2, above: 0.1)
        #expect(!lines.isEmpty && lines.allSatisfy { abs($0 - 72) <= 2 })
    }

    @Test("Pictures rest once the sound has: nothing is news for ever", arguments: PictureStyle.allCases)
    func resting(style: PictureStyle) {
        var heard = motion(level: 0.5, seconds: 1)
        var last = 0
        let silence: [(String, [Float])] = [
            ("peak", [0, 0]), ("rms", [0, 0]), ("orb", [0]), ("bands", [Float](repeating: 0, count: 10)),
            ("correlation", [0]), ("goniometer", [Float](repeating: 0, count: 200)),
            ("scope", [Float](repeating: 0, count: 800)), ("spectrum", [Float](repeating: -140, count: 2049)),
            ("lufs_m", [-70]), ("lufs_s", [-70]), ("lufs_i", [-23]),
        ]
        for frame in 60..<2000 {
            for row in silence where ["peak", "rms", "orb"].contains(row.0) || style.series.contains(row.0) {
                if heard.take(row.0, row.1, at: Double(frame) / 60) { last = frame }
            }
        }
        #expect(last < 60 + 21 * 60)
        let settled = heard.state(style, at: 40)
        #expect(
            Picture.draw(style, settled, width: 80, height: 40)
                == Picture.draw(style, heard.state(style, at: 40), width: 80, height: 40))
    }
}
