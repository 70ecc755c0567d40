// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit

/// The power spectrum of the last 12th of a second or so: the mean of all channels. By one thread at a time.
final class Spectrum {
    /// Samples of one transform, a power of two.
    var size: Int { transform.size }
    /// Hz from one bin to the next.
    let step: Double

    private let channels: Int
    private let transform: WindowedTransform
    private let history: History
    private var powers: [Float]
    private var isFresh = false

    /// For `rate` in Hz. Throws where the library is missing.
    init(channels: Int, rate: Double) throws(NodeError) {
        transform = try WindowedTransform(longest: rate / 7)
        self.channels = channels
        step = rate / Double(transform.size)
        history = History(channels: channels, size: transform.size)
        powers = Array(repeating: 0, count: transform.size / 2 + 1)
    }

    /// Takes frames, channel after channel.
    func add(_ samples: UnsafePointer<Float>, frames: Int) {
        history.add(samples, frames: frames)
        isFresh = false
    }

    /// The squared amplitude of a sine at each multiple of `step`, from 0 to half the rate.
    var power: [Float] {
        if !isFresh { powers = transform.power(history, from: 0) }
        isFresh = true
        return powers
    }

    /// The same in dBFS.
    var decibels: [Float] { power.decibels }
}

/// The last samples of each channel, the oldest first.
final class History {
    let channels, size: Int
    private let samples: Samples

    init(channels: Int, size: Int) {
        (self.channels, self.size) = (channels, size)
        samples = Samples(count: size * channels)
    }

    /// Takes frames, channel after channel.
    func add(_ added: UnsafePointer<Float>, frames: Int) {
        let taken = min(frames, size)
        for channel in 0..<channels {
            let start = samples.pointer + channel * size
            start.update(from: start + taken, count: size - taken)
            (start + size - taken).update(from: added + channel * frames + frames - taken, count: taken)
        }
    }

    /// Of a channel, from its oldest sample on.
    func channel(_ channel: Int) -> UnsafePointer<Float> { UnsafePointer(samples.pointer + channel * size) }
}

extension [Float] {
    /// Powers in dBFS, -140 at least.
    var decibels: [Float] { map { 10 * log10(Swift.max($0, 1e-14)) } }
}

/// A Fourier transform by kissfft, through a Hann window. By one thread at a time.
final class WindowedTransform {
    /// Samples of it, a power of two.
    let size: Int

    private let functions: KissFunctions
    private let transform: OpaquePointer
    private let window: [Float]
    private let block: Samples
    /// Real and imaginary parts.
    private var bins: [Float]

    /// Of up to so many samples, 256 at least. Throws where the library is missing.
    init(longest: Double) throws(NodeError) {
        functions = try KissFunctions.loaded.get()
        var size = 256
        while Double(2 * size) <= longest, size < 65_536 { size *= 2 }
        guard let transform = functions.create(Int32(size), 0, nil, nil) else {
            throw NodeError("no memory for a Fourier transform")
        }
        self.transform = transform
        self.size = size
        // Periodic; divided by its mean and by half, so that a sine shows its amplitude.
        window = (0..<size).map { Float((1 - cos(2 * .pi * Double($0) / Double(size))) * 2 / Double(size)) }
        block = Samples(count: size)
        bins = Array(repeating: 0, count: size + 2)
    }

    deinit { free(UnsafeMutableRawPointer(transform)) }

    /// The squared amplitude of a sine at each frequency from 0 to half the rate, in `size` samples that begin at `start` of a
    /// history: the mean of its channels. Through pointers, so that the loops become instructions for several numbers at once.
    func power(_ history: History, from start: Int) -> [Float] {
        var powers = [Float](repeating: 0, count: size / 2 + 1)
        let part = 1 / Float(history.channels)
        window.withUnsafeBufferPointer { window in
            bins.withUnsafeMutableBufferPointer { bins in
                powers.withUnsafeMutableBufferPointer { powers in
                    for channel in 0..<history.channels {
                        let samples = history.channel(channel) + start
                        for place in 0..<size { block.pointer[place] = samples[place] * window[place] }
                        functions.transform(transform, block.pointer, bins.baseAddress!)
                        for bin in 0..<powers.count {
                            let (real, imaginary) = (bins[2 * bin], bins[2 * bin + 1])
                            powers[bin] += (real * real + imaginary * imaginary) * part
                        }
                    }
                }
            }
        }
        return powers
    }
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
