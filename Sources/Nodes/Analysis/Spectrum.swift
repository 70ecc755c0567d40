// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit

/// The power spectrum of the last 12th of a second or so, by kissfft, through a Hann window: the mean of all channels. By one
/// thread at a time.
final class Spectrum {
    /// Samples of one transform, a power of two.
    let size: Int
    /// Hz from one bin to the next.
    let step: Double

    private let channels: Int
    private let functions: KissFunctions
    private let transform: OpaquePointer
    private let window: [Float]
    /// The last samples of each channel, the oldest first.
    private let history: Samples
    private let block: Samples
    /// Real and imaginary parts.
    private var bins: [Float]
    private var powers: [Float]
    private var isFresh = false

    /// For `rate` in Hz. Throws where the library is missing.
    init(channels: Int, rate: Double) throws(NodeError) {
        functions = try KissFunctions.loaded.get()
        var size = 256
        while Double(size) < rate / 14, size < 65_536 { size *= 2 }
        guard let transform = functions.create(Int32(size), 0, nil, nil) else {
            throw NodeError("no memory for a Fourier transform")
        }
        self.transform = transform
        self.size = size
        self.channels = channels
        step = rate / Double(size)
        // Periodic; divided by its mean and by half, so that a sine shows its amplitude.
        window = (0..<size).map { Float((1 - cos(2 * .pi * Double($0) / Double(size))) * 2 / Double(size)) }
        history = Samples(count: size * channels)
        block = Samples(count: size)
        bins = Array(repeating: 0, count: size + 2)
        powers = Array(repeating: 0, count: size / 2 + 1)
    }

    deinit { free(UnsafeMutableRawPointer(transform)) }

    /// Takes frames, channel after channel.
    func add(_ samples: UnsafePointer<Float>, frames: Int) {
        let taken = min(frames, size)
        for channel in 0..<channels {
            let start = history.pointer + channel * size
            start.update(from: start + taken, count: size - taken)
            (start + size - taken).update(from: samples + channel * frames + frames - taken, count: taken)
        }
        isFresh = false
    }

    /// The squared amplitude of a sine at each multiple of `step`, from 0 to half the rate.
    var power: [Float] {
        if !isFresh { measure() }
        isFresh = true
        return powers
    }

    /// Through pointers, so that the loops become instructions for several numbers at once.
    private func measure() {
        let part = 1 / Float(channels)
        window.withUnsafeBufferPointer { window in
            bins.withUnsafeMutableBufferPointer { bins in
                powers.withUnsafeMutableBufferPointer { powers in
                    powers.update(repeating: 0)
                    for channel in 0..<channels {
                        let start = history.pointer + channel * size
                        for place in 0..<size { block.pointer[place] = start[place] * window[place] }
                        functions.transform(transform, block.pointer, bins.baseAddress!)
                        for bin in 0..<powers.count {
                            let (real, imaginary) = (bins[2 * bin], bins[2 * bin + 1])
                            powers[bin] += (real * real + imaginary * imaginary) * part
                        }
                    }
                }
            }
        }
    }

    /// The same in dBFS, -140 at least.
    var decibels: [Float] { power.map { 10 * log10(max($0, 1e-14)) } }
}

/// What is used of kissfft, which computes with single precision: a complex number is two floats.
private struct KissFunctions: @unchecked Sendable {
    // Sendable: functions of a library that stays loaded.
    let create: @convention(c) (Int32, Int32, UnsafeMutableRawPointer?, UnsafeMutablePointer<Int>?) -> OpaquePointer?
    let transform: @convention(c) (OpaquePointer, UnsafePointer<Float>, UnsafeMutablePointer<Float>) -> Void

    /// Loaded once.
    static let loaded = Result { () throws(NodeError) in try KissFunctions() }

    private init() throws(NodeError) {
        let library = try Library(["libkissfft-float.so.131", "libkissfft-float.so"], package: "libkissfft-float131")
        create = try library.function("kiss_fftr_alloc")
        transform = try library.function("kiss_fftr")
    }
}
