// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit

/// White noise, evenly spread over -1..<1. Each sample is a function of seed, channel and frame alone (the mixing
/// step of SplitMix64: Steele, Lea, Flood, OOPSLA 2014). [audio]
@_noLocks
func whiteNoise(_ seed: UInt64, _ channel: Int, from start: UInt64, _ output: borrowing OutputSamples) {
    let origin = scramble(seed &+ UInt64(channel) &* 0xD1B5_4A32_D192_ED03)
    for frame in 0..<output.count {
        let bits = scramble(origin &+ (start &+ UInt64(frame) &+ 1) &* 0x9E37_79B9_7F4A_7C15)
        output[frame] = Float(Int64(bitPattern: bits) >> 40) * (1 / 8_388_608)
    }
}

@_noLocks
private func scramble(_ bits: UInt64) -> UInt64 {
    var z = bits
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
}

/// One section of the filter: y = x - zero * x' + pole * y', where ' is the frame before.
struct PinkSection: BitwiseCopyable {
    var pole, zero: Double
}

/// Makes white noise pink: poles and zeros in turn, evenly in octaves, make a slope of -3 dB an octave (Kasdin, Proc.
/// IEEE 83, 1995, has the method). Poles stand two octaves apart, from 1.49 radians a frame down to 2 Hz, each zero an
/// octave above its pole; one more pair of real numbers straightens the highest octave. The three numbers were fitted
/// by least squares over the whole band and hold for every rate.
struct PinkFilter: BitwiseCopyable {
    fileprivate let sections: AudioArray<PinkSection>
    /// As many numbers a channel.
    fileprivate let state: AudioArray<Double>
    fileprivate let gain: Double

    /// Filters a block of a channel in place. [audio]
    @_noLocks
    func apply(_ channel: Int, _ samples: borrowing OutputSamples) {
        let count = sections.count
        let state = state.part(channel * count..<(channel + 1) * count)
        for frame in 0..<samples.count {
            var sample = Double(samples[frame])
            for index in 0..<count {
                let result = sample + state[index]
                state[index] = sections[index].pole * result - sections[index].zero * sample
                sample = result
            }
            samples[frame] = Float(sample * gain)
        }
    }
}

/// The memory of a `PinkFilter`.
final class PinkMemory {
    let filter: PinkFilter
    private let sections: AudioArrayMemory<PinkSection>
    private let state: AudioArrayMemory<Double>

    /// Of the root mean square, beside the level: the highest of some 10^8 samples is there. -15 dB.
    private static let rms = 0.177_827_941

    /// [control]
    init(channels: Int, rate: Double) {
        var list = [PinkSection(pole: -0.18433388, zero: -0.27193527)]
        var place = 1.48974871
        while place * rate > 2 * .pi * 2 {
            list.append(PinkSection(pole: exp(-place), zero: exp(-2 * place)))
            place /= 4
        }
        sections = AudioArrayMemory(list)
        state = AudioArrayMemory(repeating: 0, count: list.count * channels)
        filter = PinkFilter(
            sections: sections.array, state: state.array, gain: Self.rms / (Self.power(list) / 3).squareRoot())
    }

    /// The mean of the filter's squared magnitude over the whole band, by the trapezoid rule over octaves: what the
    /// power of white noise is multiplied by; that of the noise here is 1/3.
    private static func power(_ sections: [PinkSection]) -> Double {
        func squared(_ angle: Double) -> Double {
            sections.reduce(1) { product, section in
                func distance(_ root: Double) -> Double { 1 + root * root - 2 * root * cos(angle) }
                return product * distance(section.zero) / distance(section.pole)
            }
        }
        let (lowest, count) = (1e-7, 4000)
        let width = log(.pi / lowest) / Double(count)
        var sum = squared(lowest) * lowest
        for index in 0...count {
            let angle = lowest * exp(width * Double(index))
            sum += squared(angle) * angle * width * (index == 0 || index == count ? 0.5 : 1)
        }
        return sum / .pi
    }
}
