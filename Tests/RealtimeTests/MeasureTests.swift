// SPDX-License-Identifier: Apache-2.0
import Realtime
import TestSupport

/// Every length around the vector's, and longer ones; every start within a vector.
private let lengths = Array(0...40) + [63, 64, 65, 127, 128, 1000, 1024, 4097]

/// Runs `body` on samples that start off any alignment, among others that would be seen if they were read.
private func withSamples(_ frames: Int, offset: Int, _ body: (UnsafeMutablePointer<Float>) -> Void) {
    var samples = [Float](repeating: 12345, count: frames + offset + 16)
    for frame in 0..<frames { samples[offset + frame] = Float.random(in: -1...1) }
    samples.withUnsafeMutableBufferPointer { body($0.baseAddress! + offset) }
}

@Suite("Measure") struct MeasureTests {
    @Test("R9: In vectors the peak is exact and the sum right at every length and alignment", arguments: lengths)
    func values(frames: Int) {
        for offset in 0..<5 {
            withSamples(frames, offset: offset) { samples in
                let measured = DSP.measure(samples, frames: frames)
                let all = UnsafeBufferPointer(start: samples, count: frames)
                let sum = all.reduce(0.0) { $0 + Double($1) * Double($1) }
                #expect(measured.peak == all.map(abs).max() ?? 0)
                #expect(abs(Double(measured.sumOfSquares) - sum) <= 2e-6 * sum)
            }
        }
    }

    @Test("The peak is found at every position, negative or positive")
    func peakPosition() {
        for position in 0..<50 {
            for value in [Float(0.75), -0.75] {
                var samples = [Float](repeating: 0.1, count: 50)
                samples[position] = value
                #expect(DSP.measure(samples, frames: 50).peak == 0.75)
            }
        }
    }

    @Test(
        "A NaN anywhere makes peak and sum NaN, also beside an infinity",
        arguments: [0, 1, 7, 8, 15, 16, 31, 32, 48, 49])
    func notANumber(position: Int) {
        var samples = [Float](repeating: 0.5, count: 50)
        samples[20] = .infinity
        #expect(DSP.measure(samples, frames: 50) == Measure(peak: .infinity, sumOfSquares: .infinity))
        for value in [Float.nan, -Float.nan, .signalingNaN] {
            samples[position] = value
            let measured = DSP.measure(samples, frames: 50)
            #expect(measured.peak.isNaN)
            #expect(measured.sumOfSquares.isNaN)
        }
    }
}
