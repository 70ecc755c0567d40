// SPDX-License-Identifier: Apache-2.0
import Glibc
import Resampling
import Testing

@Suite("The resampler") struct ResamplerTests {
    /// What comes out of a second of a sine, in blocks of 128 frames, and the most that waited in it meanwhile, in seconds.
    private func heard(_ frequency: Double, from rate: Double, _ quality: Resampler.Quality) throws -> (
        samples: [Float], held: Double
    ) {
        let resampler = try Resampler(from: rate, to: 16000, channels: 1, quality: quality)
        var samples: [Float] = []
        var held = 0.0
        let frames = Int(rate) / 128 * 128
        for start in stride(from: 0, to: frames, by: 128) {
            let block = (start..<start + 128).map { Float(sin(2 * .pi * frequency * Double($0) / rate)) }
            samples += block.withUnsafeBufferPointer { resampler.process($0, end: false) }
            // It has begun.
            guard start > frames / 2 else { continue }
            held = max(held, Double(start + 128) / rate - Double(samples.count) / 16000)
        }
        return (samples, held)
    }

    /// In dB, of what is in the middle: a sine of full scale is 0.
    private func level(_ samples: [Float]) -> Double {
        let middle = samples[4000..<12000]
        return 10 * log10(2 * middle.reduce(0) { $0 + Double($1) * Double($1) } / Double(middle.count) + 1e-30)
    }

    @Test("One for who waits for it holds back 10 ms and no more", arguments: [44100.0, 48000, 96000])
    func prompt(rate: Double) throws {
        let (samples, held) = try heard(1000, from: rate, .prompt)
        #expect(held < 0.0125, "\(held)")
        #expect(abs(level(samples)) < 0.01)
        #expect(abs(level(try heard(6000, from: rate, .prompt).samples)) < 0.01)
        // Folded into the band of speech.
        #expect(level(try heard(10000, from: rate, .prompt).samples) < -90)
        #expect(try heard(1000, from: rate, .live).held > held)
    }
}
