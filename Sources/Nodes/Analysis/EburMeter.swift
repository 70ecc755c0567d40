// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit

/// A meter of libebur128, which is loaded when one is first made. By one thread at a time.
final class EburMeter {
    /// What it is to measure: the bits of the library.
    struct Mode: OptionSet {
        let rawValue: Int32
        static let shortTerm = Mode(rawValue: 1 << 1 | 1)
        static let integrated = Mode(rawValue: 1 << 2 | 1)
        static let range = Mode(rawValue: 1 << 3 | shortTerm.rawValue)
        static let truePeak = Mode(rawValue: 1 << 5 | 1 << 4 | 1)
        /// Counts loudness in steps of 0.1 LU, so that hours take no more memory than minutes.
        static let histogram = Mode(rawValue: 1 << 6)
    }

    private let functions: EburFunctions
    private let state: OpaquePointer
    private let channels: Int
    private var interleaved = Samples(count: 0)

    /// For `rate` in Hz. Throws where the library is missing, or takes no such audio.
    init(channels: Int, rate: Double, mode: Mode) throws(NodeError) {
        functions = try EburFunctions.loaded.get()
        guard let state = functions.create(UInt32(channels), UInt(rate), mode.rawValue) else {
            throw NodeError("libebur128 does not measure \(channels) channels at \(rate) Hz")
        }
        self.state = state
        self.channels = channels
    }

    deinit {
        var state: OpaquePointer? = state
        functions.destroy(&state)
    }

    /// Takes frames, channel after channel, which begin `stride` samples apart; nil: as many as there are frames.
    func add(_ samples: UnsafePointer<Float>, frames: Int, stride: Int? = nil) {
        if interleaved.count < frames * channels { interleaved = Samples(count: frames * channels) }
        let target = interleaved.pointer
        for channel in 0..<channels {
            let source = samples + channel * (stride ?? frames)
            for frame in 0..<frames { target[frame * channels + channel] = source[frame] }
        }
        add(interleaved: target, frames: frames)
    }

    /// Takes interleaved frames.
    func add(interleaved samples: UnsafePointer<Float>, frames: Int) { _ = functions.add(state, samples, frames) }

    /// A number that the library has for what came; nil: there is none yet, or less than can be.
    func read(_ function: KeyPath<EburFunctions, EburFunctions.Read>, least: Float = Loudness.floor) -> Float? {
        var value = 0.0
        guard functions[keyPath: function](state, &value) == 0, value.isFinite else { return nil }
        return max(Float(value), least)
    }

    /// The mean power of the last so many milliseconds, weighted as loudness is: -0.691 LUFS is 1.
    func power(milliseconds: Int) -> Double {
        var value = 0.0
        guard functions.window(state, UInt(milliseconds), &value) == 0, value.isFinite else { return 0 }
        return pow(10, (value + Self.offset) / 10)
    }

    /// The loudness of a mean power, in LUFS, of silence `Loudness.floor`.
    static func loudness(of power: Double) -> Float {
        power > 0 ? max(Float(10 * log10(power) - offset), Loudness.floor) : Loudness.floor
    }

    /// Between loudness and decibels of the weighted power (ITU-R BS.1770-4).
    private static let offset = 0.691

    /// The true peak of a channel in what was added last, linear.
    func lastTruePeak(_ channel: Int) -> Double {
        var value = 0.0
        return functions.truePeak(state, UInt32(channel), &value) == 0 ? value : 0
    }

    /// In dBTP, -140 at least.
    static func decibels(_ truePeak: Double) -> Float { Float(20 * log10(max(truePeak, 1e-7))) }
}

/// What is used of libebur128.
struct EburFunctions: @unchecked Sendable {
    // Sendable: functions of a library that stays loaded.
    typealias Read = @convention(c) (OpaquePointer, UnsafeMutablePointer<Double>) -> Int32

    let create: @convention(c) (UInt32, UInt, Int32) -> OpaquePointer?
    let destroy: @convention(c) (UnsafeMutablePointer<OpaquePointer?>) -> Void
    let add: @convention(c) (OpaquePointer, UnsafePointer<Float>, Int) -> Int32
    let momentary, integrated, range: Read
    let window: @convention(c) (OpaquePointer, UInt, UnsafeMutablePointer<Double>) -> Int32
    let truePeak: @convention(c) (OpaquePointer, UInt32, UnsafeMutablePointer<Double>) -> Int32

    /// Loaded once.
    static let loaded = Result { () throws(NodeError) in try EburFunctions() }

    private init() throws(NodeError) {
        let library = try Library(["libebur128.so.1"], package: "libebur128-1")
        create = try library.function("ebur128_init")
        destroy = try library.function("ebur128_destroy")
        add = try library.function("ebur128_add_frames_float")
        momentary = try library.function("ebur128_loudness_momentary")
        window = try library.function("ebur128_loudness_window")
        integrated = try library.function("ebur128_loudness_global")
        range = try library.function("ebur128_loudness_range")
        truePeak = try library.function("ebur128_prev_true_peak")
    }
}
