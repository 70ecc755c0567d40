// SPDX-License-Identifier: GPL-3.0-or-later
import CKissfft
import Glibc
import NodeKit

/// Makes sound of spectra, frame by frame, so that the first sample does not wait for the last: a pulse's spectrum is filtered,
/// noise and the rest are added, and the inverse transforms overlap (Griffin and Lim, Signal Estimation from Modified Short-Time
/// Fourier Transform, 1984).
///
/// Of each frame and bin there are five values, one kind after another: how a pulse is filtered (logarithm of the magnitude, and
/// atanh of the phase in half turns), how loud noise is, and what is neither (logarithm of the magnitude, and phase).
struct SpectralSound: ~Copyable {
    static let rate = 24_000.0
    /// Seconds from one frame to the next.
    static let frame = Double(hop) / rate
    /// Of a frame.
    static let values = 5 * bins
    private static let bins = size / 2 + 1
    private static let size = 1200
    private static let hop = 300
    /// Frames that each sample is part of.
    private static let overlap = size / hop
    private static let window = (0..<size).map { 0.5 - 0.5 * cosf(2 * .pi * Float($0) / Float(size)) }

    private let count: Int
    private var pulses: PulseTrain
    private var noise: GaussianNoise
    private let forward, backward: kiss_fftr_cfg
    private var spectrum = [kiss_fft_cpx](repeating: kiss_fft_cpx(), count: bins)
    private var block = [Float](repeating: 0, count: size)
    /// Sums that later frames add to, the oldest first.
    private var sums = [Float](repeating: 0, count: size)
    private var frame = 0

    /// `pitch`: in Hz of each frame that there will be, 0 where there is no voice.
    init(pitch: [Float], seed: UInt64) throws(NodeError) {
        guard let forward = kiss_fftr_alloc(Int32(Self.size), 0, nil, nil) else { throw NodeError("no memory") }
        guard let backward = kiss_fftr_alloc(Int32(Self.size), 1, nil, nil) else {
            free(UnsafeMutableRawPointer(forward))
            throw NodeError("no memory")
        }
        self.forward = forward
        self.backward = backward
        count = pitch.count
        pulses = PulseTrain(pitch: pitch, hop: Self.hop, rate: Self.rate)
        noise = GaussianNoise(seed: seed)
    }

    deinit {
        free(UnsafeMutableRawPointer(forward))
        free(UnsafeMutableRawPointer(backward))
    }

    /// Takes the next frames; adds the samples that no later frame is part of.
    mutating func take(_ frames: ArraySlice<Float>, _ samples: inout [Float]) {
        for start in stride(from: frames.startIndex, to: frames.endIndex, by: Self.values) {
            excite()
            shape(frames, start)
            kiss_fftri(backward, spectrum, &block)
            for place in 0..<Self.size { sums[place] += block[place] * Self.window[place] / Float(Self.size) }
            shift(&samples)
        }
    }

    /// Adds the last samples.
    mutating func finish(_ samples: inout [Float]) {
        for _ in 1..<Self.overlap { shift(&samples) }
    }

    private mutating func shift(_ samples: inout [Float]) {
        // What is in the middle of the first frame is the first sample.
        if (2..<(count + 2)).contains(frame) {
            for place in 0..<Self.hop { samples.append(sums[place] / weight(frame, place)) }
        }
        for place in 0..<(Self.size - Self.hop) { sums[place] = sums[place + Self.hop] }
        for place in (Self.size - Self.hop)..<Self.size { sums[place] = 0 }
        frame += 1
    }

    /// The sum of all squared windows at a sample of a block; at the ends there are fewer.
    private func weight(_ block: Int, _ place: Int) -> Float {
        var sum: Float = 0
        for part in 0..<Self.overlap where (0..<count).contains(block - part) {
            let window = Self.window[part * Self.hop + place]
            sum += window * window
        }
        return max(sum, 1e-11)
    }

    /// Transforms the pulses around the frame; at the ends they are mirrored.
    private mutating func excite() {
        let start = frame * Self.hop - Self.size / 2
        let last = pulses.count - 1
        pulses.make(until: start + Self.size + 1)
        for place in 0..<Self.size {
            var index = abs(start + place)
            if index > last { index = max(2 * last - index, 0) }
            // A unit cosine has the height 1.
            block[place] = pulses.samples[index] * Self.window[place] / Float(Self.size / 4)
        }
        kiss_fftr(forward, block, &spectrum)
    }

    /// Filters the pulses, and adds the noise and the rest.
    private mutating func shape(_ frames: ArraySlice<Float>, _ start: Int) {
        func loudness(_ logarithm: Float) -> Float { expf(min(logarithm, 7)) }
        for bin in 0..<Self.bins {
            func value(_ kind: Int) -> Float { frames[start + kind * Self.bins + bin] }
            let turn = Float.pi * tanhf(value(1))
            let size = loudness(value(0))
            let (cosine, sine) = (size * cosf(turn), size * sinf(turn))
            let pulse = spectrum[bin]
            let (first, second) = noise.pair()
            let noisy = loudness(value(2))
            let (rest, phase) = (loudness(value(3)), value(4))
            spectrum[bin].r = cosine * pulse.r - sine * pulse.i + noisy * first + rest * cosf(phase)
            spectrum[bin].i = cosine * pulse.i + sine * pulse.r + noisy * second + rest * sinf(phase)
        }
    }
}

/// Normal noise by Marsaglia's polar method (1964), the same of each seed.
struct GaussianNoise {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// From -1 to 1 (Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators, 2014).
    private mutating func uniform() -> Float {
        state &+= 0x9e37_79b9_7f4a_7c15
        var bits = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
        bits = (bits ^ (bits >> 27)) &* 0x94d0_49bb_1331_11eb
        return Float(Int32(truncatingIfNeeded: (bits ^ (bits >> 31)) >> 32)) * 0x1p-31
    }

    /// Two of them.
    mutating func pair() -> (Float, Float) {
        while true {
            let (first, second) = (uniform(), uniform())
            let square = first * first + second * second
            guard square < 1, square > 0 else { continue }
            let scale = (-2 * logf(square) / square).squareRoot()
            return (first * scale, second * scale)
        }
    }
}
