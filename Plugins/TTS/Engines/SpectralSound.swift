// SPDX-License-Identifier: GPL-3.0-or-later
import CKissfft
import Glibc
import NodeKit

/// What a voice says of each frame of its sound, 601 bins after another: how a pulse is filtered, how loud noise is, and what is
/// neither. All magnitudes are natural logarithms.
struct SpectralFrames {
    /// Of the pulse's spectrum: magnitude, and turn of the phase (atanh of half turns).
    var pulse, turn: [Float]
    /// Magnitude of the noise.
    var noise: [Float]
    /// Magnitude and phase of the rest.
    var rest, phase: [Float]
    /// Hz, 0 where there is no voice.
    var pitch: [Float]
    var count: Int { pitch.count }
}

/// Makes sound of spectra, frame by frame, so that the first sample does not wait for the last: the pulses' spectrum is
/// filtered, noise and the rest are added, and the inverse transforms overlap (Griffin and Lim, Signal Estimation from Modified
/// Short-Time Fourier Transform, 1984).
struct SpectralSound: ~Copyable {
    static let rate = 24_000.0
    static let bins = size / 2 + 1
    private static let size = 1200
    private static let hop = 300
    /// Frames that each sample is part of.
    private static let overlap = size / hop
    private static let window = (0..<size).map { 0.5 - 0.5 * cosf(2 * .pi * Float($0) / Float(size)) }

    private let frames: SpectralFrames
    private var pulses: PulseTrain
    private var noise: GaussianNoise
    private let forward, backward: kiss_fftr_cfg
    private var spectrum = [kiss_fft_cpx](repeating: kiss_fft_cpx(), count: bins)
    private var block = [Float](repeating: 0, count: size)
    /// Sums that later frames add to, the oldest first.
    private var sums = [Float](repeating: 0, count: size)
    private var frame = 0

    init(_ frames: SpectralFrames, seed: UInt64) throws(NodeError) {
        guard let forward = kiss_fftr_alloc(Int32(Self.size), 0, nil, nil) else { throw NodeError("no memory") }
        guard let backward = kiss_fftr_alloc(Int32(Self.size), 1, nil, nil) else {
            free(UnsafeMutableRawPointer(forward))
            throw NodeError("no memory")
        }
        self.frames = frames
        self.forward = forward
        self.backward = backward
        pulses = PulseTrain(pitch: frames.pitch, hop: Self.hop, rate: Self.rate)
        noise = GaussianNoise(seed: seed)
    }

    deinit {
        free(UnsafeMutableRawPointer(forward))
        free(UnsafeMutableRawPointer(backward))
    }

    /// Adds the next samples, 300 at a time once two frames are made; false: that was the last.
    mutating func next(_ samples: inout [Float]) -> Bool {
        let count = frames.count
        guard frame < count + Self.overlap - 1 else { return false }
        if frame < count {
            excite()
            shape()
            kiss_fftri(backward, spectrum, &block)
            for place in 0..<Self.size { sums[place] += block[place] * Self.window[place] / Float(Self.size) }
        }
        // What is in the middle of the first frame is the first sample.
        if (2..<(count + 2)).contains(frame) {
            for place in 0..<Self.hop { samples.append(sums[place] / weight(frame, place)) }
        }
        for place in 0..<(Self.size - Self.hop) { sums[place] = sums[place + Self.hop] }
        for place in (Self.size - Self.hop)..<Self.size { sums[place] = 0 }
        frame += 1
        return frame < count + Self.overlap - 1
    }

    /// The sum of all squared windows at a sample of a block; at the ends there are fewer.
    private func weight(_ block: Int, _ place: Int) -> Float {
        var sum: Float = 0
        for part in 0..<Self.overlap where (0..<frames.count).contains(block - part) {
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
    private mutating func shape() {
        let start = frame * Self.bins
        func loudness(_ logarithm: Float) -> Float { expf(min(logarithm, 7)) }
        for bin in 0..<Self.bins {
            let place = start + bin
            let turn = Float.pi * tanhf(frames.turn[place])
            let size = loudness(frames.pulse[place])
            let (cosine, sine) = (size * cosf(turn), size * sinf(turn))
            let pulse = spectrum[bin]
            let (first, second) = noise.pair()
            let noisy = loudness(frames.noise[place])
            let rest = loudness(frames.rest[place])
            let phase = frames.phase[place]
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
