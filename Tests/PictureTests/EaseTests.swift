// SPDX-License-Identifier: Apache-2.0
import Picture
import TestSupport

@Suite struct EaseTests {
    @Test("O3: The level moves evenly over 50 ms") func level() {
        var ease = LevelEase()
        ease.set(level: 0.75, at: 1)
        #expect(ease.level.value(at: 1) == 0)
        #expect(abs(ease.level.value(at: 1.0125) - 0.1875) < 1e-9)
        #expect(abs(ease.level.value(at: 1.025) - 0.375) < 1e-9)
        #expect(ease.level.value(at: 1.06) == 0.75)
        #expect(ease.level.value(at: 9) == 0.75)
    }

    @Test("O3: The view eases out over 150 ms", arguments: [(0.25, 0.378_5), (0.5, 0.684_64), (0.75, 0.906_5)])
    func view(share: Double, expected: Double) {
        var ease = LevelEase()
        ease.set(level: 1, at: 0)
        #expect(abs(ease.view.value(at: 0.15 * share) - expected) < 6e-4)
        #expect(ease.view.value(at: 0.15) == 1)
    }

    @Test("O3: What differs by less than anybody sees begins no change anew; small steps add up") func steady() {
        var ease = LevelEase()
        for frame in 0..<10 { ease.set(level: 0.54 + Float(frame % 2) * 1e-6, at: Double(frame) / 60) }
        #expect(abs(ease.view.value(at: 0.15) - 0.54) < 1e-5)
        for frame in 0..<1000 { ease.set(level: 0.54 + Float(frame) * 1e-5, at: 1 + Double(frame) / 60) }
        #expect(abs(ease.view.value(at: 19) - 0.55) < 2e-4)
    }

    @Test("O3: The speaking flag takes 600 ms and passes one half in the middle") func speakingFlag() {
        var ease = LevelEase()
        ease.set(speaking: true, at: 0)
        #expect(ease.flag.value(at: 0) == 0)
        #expect(abs(ease.flag.value(at: 0.15) - 0.129_2) < 6e-4)
        #expect(abs(ease.flag.value(at: 0.3) - 0.5) < 1e-9)
        #expect(ease.flag.value(at: 0.599) < 1)
        #expect(ease.flag.value(at: 0.6) == 1)
    }

    @Test("O3: The end fades evenly over 250 ms") func ending() {
        var ease = LevelEase()
        ease.set(level: 1, at: 0)
        ease.set(speaking: true, at: 0)
        ease.end(at: 2)
        #expect(abs(ease.level.value(at: 2.125) - 0.5) < 1e-9)
        #expect(abs(ease.view.value(at: 2.05) - 0.8) < 1e-9)
        #expect(ease.level.value(at: 2.25) == 0)
        #expect(!ease.isSettled(at: 2.3))
        #expect(ease.isSettled(at: 2.6))
        ease.set(level: 0.5, at: 3)
        #expect(ease.level.value(at: 3.06) == 0.5, "after a fade the usual time counts again")
    }

    @Test("T5: A level is looked at every 200 ms, and rises sooner than it falls") func smoothing() {
        let inputs: [Float] = [0.25, 0.25, 0, 0, 0]
        let expected: [Float] = [0.9, 0.99, 0.396, 0.158, 0.063]
        var smoothing = LevelSmoothing()
        for (step, input) in inputs.enumerated() {
            smoothing.take(input)
            let time = 3 + Double(step) * 0.2
            let value = smoothing.value(at: time + 0.01)
            #expect(abs(value - expected[step]) < 5e-4, "step \(step)")
            #expect(smoothing.value(at: time + 0.19) == value, "until the next look it stays")
        }
        // A long time later, and with nonsense.
        smoothing.take(.nan)
        #expect(smoothing.value(at: 4000) < 1e-6)
        smoothing.take(7)
        #expect(smoothing.value(at: 4001) > 0.99 && smoothing.value(at: 4100) <= 1)
    }

    @Test("T5: Bars without bands follow it") func guessedBars() {
        var motion = PictureMotion()
        for frame in 0...60 {
            let time = Double(frame) / 60
            for row in ["peak", "rms"] { _ = motion.take(row, [0.25], at: time) }
            _ = motion.state(.bars, at: time)
        }
        let bands = motion.state(.bars, at: 1).bands
        #expect(bands.count == 10 && bands[0] >= 0.75 && bands[9] < 0.6)
    }

    @Test("T6: A change of bars eases in and out over 150 ms, however often they are measured") func bars() {
        var ease = BarsEase()
        for frame in 0...60 { ease.set([frame < 30 ? 0.2 : 0.8, 0.5], at: Double(frame) / 60) }
        for (share, expected) in [(0.0, 0.2), (0.25, 0.2 + 0.6 * 0.129_2), (0.5, 0.5), (1, 0.8)] {
            var step = BarsEase()
            step.set([0.2, 0.5], at: -1)
            step.set([0.8, 0.5], at: 0)
            let value = step.values(at: 0.15 * share)
            #expect(abs(Double(value[0]) - expected) < 1e-3 && abs(value[1] - 0.5) < 1e-6, "\(share)")
        }
        #expect(abs(ease.values(at: 1)[0] - 0.8) < 1e-6 && ease.isSettled(at: 1.2))
        // Of what moves all the time, it is where that was half of it ago.
        var moving = BarsEase()
        for frame in 0...120 { moving.set([Float(frame) / 120], at: Double(frame) / 60) }
        #expect(abs(Double(moving.values(at: 2)[0]) - (2 - 0.075) / 2) < 0.01)
    }

    @Test("The times of changes are what is asked for, and silence is the end") func times() {
        var times = LevelTimes()
        (times.level, times.view, times.speaking, times.end) = (0.1, 0.2, 0.3, 1)
        var ease = LevelEase(times: times)
        ease.set(level: 1, at: 0)
        ease.set(speaking: true, at: 0)
        #expect(abs(ease.level.value(at: 0.05) - 0.5) < 1e-9 && ease.view.value(at: 0.19) < 1)
        #expect(abs(ease.flag.value(at: 0.15) - 0.5) < 1e-9)
        ease.set(level: 0, at: 1)
        #expect(abs(ease.level.value(at: 1.5) - 0.5) < 1e-9 && abs(ease.view.value(at: 1.25) - 0.75) < 1e-9)
    }

    @Test("A new target starts from where the number is") func newTarget() {
        var ease = Ease(duration: 1, curve: .linear)
        ease.go(to: 1, at: 0)
        ease.go(to: 0, at: 0.5)
        #expect(ease.value(at: 0.5) == 0.5)
        #expect(ease.value(at: 1) == 0.25)
        ease.go(to: 0, at: 1.2)
        #expect(ease.value(at: 1.5) == 0, "the same target does not start again")
    }

    @Test("Nonsense is clamped or ignored") func nonsense() {
        var ease = LevelEase()
        ease.set(level: 7, at: 0)
        #expect(ease.level.target == 1)
        ease.set(level: .nan, at: 1)
        #expect(ease.level.target == 1)
        ease.set(level: -3, at: 1)
        #expect(ease.level.target == 0)
    }
}
