// SPDX-License-Identifier: Apache-2.0
import CRealtime
import Glibc
import TestSupport
import Testing

/// What is computed in vectors, against the same one by one.
@Suite struct ArithmeticTests {
    @Test("Decibels to take away follow the curve", arguments: [Float(0), 6, 24], [Float(6.0206), 3.0103])
    func reductions(_ width: Float, _ octave: Float) {
        var curve = vg_gain_curve(
            octave: octave, begin: -40, width: width, bend: width > 0 ? 0.5 / width : 0, slope: 0.75, most: 60)
        // From -200 to 60 dB, and nothing at all.
        let levels = [0] + (0..<2607).map { pow(10, (Float($0) / 10 - 200) / (octave > 4 ? 20 : 10)) }
        var found = [Float](repeating: -1, count: levels.count)
        _ = vg_reductions(&curve, levels, &found, UInt32(levels.count))
        for (level, found) in zip(levels, found) {
            let over = (octave > 4 ? 20 : 10) * log10(Double(level)) + 40
            let bent = min(max(over, 0), Double(width))
            let parabola = width > 0 ? bent * bent / 2 / Double(width) : 0
            #expect(abs(Double(found) - min(0.75 * (parabola + max(over - Double(width), 0)), 60)) < 2e-5, "\(level)")
        }
        #expect(vg_reductions(&curve, levels, &found, 8) == 0)
        #expect(vg_reductions(&curve, levels.suffix(8), &found, 8) > 0)
    }

    @Test("Gains are powers of ten, and exactly the whole where nothing is taken away") func gains() {
        let decibels = [0] + (0..<6007).map { Double($0) * 0.0731 }
        var found = [Float](repeating: -1, count: decibels.count)
        vg_gains(1.7, decibels, &found, UInt32(decibels.count))
        #expect(found[0] == 1.7)
        for (decibels, found) in zip(decibels, found) {
            #expect(abs(Double(found) / (1.7 * pow(10, -decibels / 20)) - 1) < 7e-8, "\(decibels) dB")
        }
    }

    @Test("A weighted sum has the same bits as one by one, of any length")
    func sums() {
        var random = TestRandom(seed: 3)
        let samples = (0..<400).map { _ in random.sample() }
        for count in [1, 2, 4, 12, 31, 48] {
            let weights = (0..<count).map { _ in random.sample() }
            let wanted = (0..<300).map { frame in
                weights.indices.reduce(into: Float(0)) { $0 += samples[frame + $1] * weights[$1] }
            }
            for frames in [1, 7, 8, 31, 33, 64, 100, 300] {
                var found = [Float](repeating: -1, count: frames)
                vg_convolve(samples, weights, UInt32(count), &found, UInt32(frames))
                #expect(found == Array(wanted[..<frames]), "\(count) weights, \(frames) frames")
            }
        }
    }

    @Test("Sections one after another give what each gives alone, however the samples are cut", arguments: 1...14)
    func sections(_ count: Int) {
        var random = TestRandom(seed: UInt64(count))
        let groups = (count + 3) / 4
        var values = [Double](repeating: 0, count: groups * 24)
        for section in 0..<count {
            let numbers = [-0.02, 0.2, 0.02, 0.8, 0.1, 0.3].map { $0 * Double.random(in: 0.5...1.5, using: &random) }
            for (row, number) in numbers.enumerated() { values[section / 4 * 24 + section % 4 + 4 * row] = number }
        }
        var samples = (0..<500).map { _ in random.sample() }
        (samples[100], samples[200]) = (.nan, -.infinity)
        let wanted = samples.map { Double($0.isFinite ? $0 : 0) }
        let one = (0..<count).reduce(wanted) { signal, section in
            let number = (0..<6).map { values[section / 4 * 24 + section % 4 + 4 * $0] }
            var (band, low) = (0.0, 0.0)
            return signal.map { sample in
                let rest = sample - low
                let result = (number[3] * sample + number[4] * band) + number[5] * low
                let next = (band + number[0] * band) + number[1] * rest
                low = (low + number[1] * band) + number[2] * rest
                band = next
                return result
            }
        }
        for cut in [1, 2, 3, 5, 64, 500] {
            var states = [Double](repeating: 0, count: groups * 8)
            // In place.
            var found = samples
            var start = 0
            while start < found.count {
                let frames = min(cut, found.count - start)
                found.withUnsafeMutableBufferPointer { all in
                    let place = all.baseAddress! + start
                    vg_sections(values, &states, UInt32(count), place, place, UInt32(frames))
                }
                start += frames
            }
            #expect(found == one.map { Float($0) }, "in pieces of \(cut)")
        }
    }
}
