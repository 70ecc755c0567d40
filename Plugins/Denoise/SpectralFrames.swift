// SPDX-License-Identifier: Apache-2.0
import CKissfft
import Glibc
import NodeKit

/// Spectra of sound, and sound of spectra: blocks of `2 * hop` samples that overlap by half, with the root of a Hann window
/// before and behind, so that what is not changed comes out as it was, `hop` samples later (Griffin and Lim, Signal Estimation
/// from Modified Short-Time Fourier Transform, 1984).
struct SpectralFrames: ~Copyable {
    /// Samples from one block to the next.
    let hop: Int
    /// Of the block, from 0 Hz to half the rate.
    var spectrum: [kiss_fft_cpx]
    private let window: [Float]
    private let forward, backward: kiss_fftr_cfg
    private var block, heard, sums: [Float]

    init(hop: Int) throws(NodeError) {
        self.hop = hop
        let size = 2 * hop
        guard let forward = kiss_fftr_alloc(Int32(size), 0, nil, nil) else { throw NodeError("no memory") }
        guard let backward = kiss_fftr_alloc(Int32(size), 1, nil, nil) else {
            free(UnsafeMutableRawPointer(forward))
            throw NodeError("no memory")
        }
        (self.forward, self.backward) = (forward, backward)
        spectrum = [kiss_fft_cpx](repeating: kiss_fft_cpx(), count: hop + 1)
        window = (0..<size).map { sinf(.pi * Float($0) / Float(size)) }
        block = [Float](repeating: 0, count: size)
        (heard, sums) = (block, block)
    }

    deinit {
        free(UnsafeMutableRawPointer(forward))
        free(UnsafeMutableRawPointer(backward))
    }

    /// Takes the next `hop` samples; then `spectrum` is that of the last block.
    mutating func take(_ samples: [Float]) {
        for place in 0..<hop {
            heard[place] = heard[hop + place]
            heard[hop + place] = samples[place]
        }
        for place in block.indices { block[place] = heard[place] * window[place] }
        kiss_fftr(forward, block, &spectrum)
    }

    /// Gives `hop` samples of the spectra so far, `spectrum` the last of them.
    mutating func give(_ samples: inout [Float]) {
        kiss_fftri(backward, spectrum, &block)
        let scale = 1 / Float(block.count)
        for place in 0..<hop {
            samples[place] = sums[hop + place] + block[place] * window[place] * scale
        }
        for place in hop..<2 * hop { sums[place] = block[place] * window[place] * scale }
    }
}
