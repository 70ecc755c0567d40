// SPDX-License-Identifier: Apache-2.0
import CEbur128
import Glibc

/// Loudness of EBU R 128 by libebur128: five channels count as left, right, centre and two surrounds, of six the fourth is
/// the low-frequency channel, and others beyond do not count. By one thread at a time.
final class Loudness {
    /// What silence shows, in LUFS: what is gated anyway.
    static let floor: Float = -70

    private let meter: EburMeter
    /// Momentary loudness is due ten times a second (EBU Tech 3341): the others change no faster.
    private var due = 0
    private(set) var momentary = floor
    private(set) var shortTerm = floor
    private(set) var integrated = floor
    /// In LU.
    private(set) var range: Float = 0

    /// For `rate` in Hz; nil: the library takes no such audio.
    init?(channels: Int, rate: Double) {
        let mode =
            EBUR128_MODE_S.rawValue | EBUR128_MODE_I.rawValue | EBUR128_MODE_LRA.rawValue
            | EBUR128_MODE_HISTOGRAM.rawValue
        guard let meter = EburMeter(channels: channels, rate: rate, mode: Int32(mode)) else { return nil }
        self.meter = meter
    }

    /// Takes one 60th of a second, channel after channel.
    func add(_ samples: UnsafePointer<Float>, frames: Int) {
        meter.add(samples, frames: frames)
        due -= 1
        guard due <= 0 else { return }
        due = 6
        momentary = meter.read(ebur128_loudness_momentary) ?? Self.floor
        shortTerm = meter.read(ebur128_loudness_shortterm) ?? Self.floor
        integrated = meter.read(ebur128_loudness_global) ?? Self.floor
        range = meter.read(ebur128_loudness_range, least: 0) ?? 0
    }
}

/// True peaks of ITU-R BS.1770-4 by libebur128. By one thread at a time.
final class TruePeakMeter {
    private let meter: EburMeter
    private let channels: Int

    /// For `rate` in Hz; nil: the library takes no such audio.
    init?(channels: Int, rate: Double) {
        self.channels = channels
        let mode = Int32(EBUR128_MODE_TRUE_PEAK.rawValue)
        guard let meter = EburMeter(channels: channels, rate: rate, mode: mode) else { return nil }
        self.meter = meter
    }

    /// Takes frames, channel after channel; gives the peak of each channel in them, in dBTP, -140 at least.
    func add(_ samples: UnsafePointer<Float>, frames: Int) -> [Float] {
        meter.add(samples, frames: frames)
        return (0..<channels).map { channel in
            var peak = 0.0
            ebur128_prev_true_peak(meter.state, UInt32(channel), &peak)
            return Float(20 * log10(max(peak, 1e-7)))
        }
    }
}

/// A state of libebur128, and memory in which the channels are interleaved for it.
private final class EburMeter {
    let state: UnsafeMutablePointer<ebur128_state>
    private let channels: Int
    private var interleaved = Samples(count: 0)

    init?(channels: Int, rate: Double, mode: Int32) {
        guard let state = ebur128_init(UInt32(channels), UInt(rate), mode) else { return nil }
        self.state = state
        self.channels = channels
    }

    deinit {
        var state: UnsafeMutablePointer<ebur128_state>? = state
        ebur128_destroy(&state)
    }

    func add(_ samples: UnsafePointer<Float>, frames: Int) {
        if interleaved.count < frames * channels { interleaved = Samples(count: frames * channels) }
        let target = interleaved.pointer
        for channel in 0..<channels {
            let source = samples + channel * frames
            for frame in 0..<frames { target[frame * channels + channel] = source[frame] }
        }
        ebur128_add_frames_float(state, target, frames)
    }

    /// A number that the library has for the state; nil: there is none yet, or less than can be.
    func read(
        _ function: (UnsafeMutablePointer<ebur128_state>, UnsafeMutablePointer<Double>) -> Int32,
        least: Float = Loudness.floor
    ) -> Float? {
        var value = 0.0
        guard function(state, &value) == 0, value.isFinite else { return nil }
        return max(Float(value), least)
    }
}
