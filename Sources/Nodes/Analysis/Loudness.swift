// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Loudness of EBU R 128 by libebur128: five channels count as left, right, centre and two surrounds, of six the fourth is
/// the low-frequency channel, and others beyond do not count. By one thread at a time.
final class Loudness {
    /// What silence shows, in LUFS: what is gated anyway.
    static let floor: Float = -70

    private let meter: EburMeter
    /// Until those are due that need not be looked at as often as momentary loudness: ten times a second.
    private var due = 0
    private(set) var momentary = floor
    private(set) var shortTerm = floor
    private(set) var integrated = floor
    /// In LU.
    private(set) var range: Float = 0

    /// For `rate` in Hz. Throws where the library is missing, or takes no such audio.
    init(channels: Int, rate: Double) throws(NodeError) {
        meter = try EburMeter(channels: channels, rate: rate, mode: [.shortTerm, .integrated, .range, .histogram])
    }

    /// Takes one 60th of a second, channel after channel.
    func add(_ samples: UnsafePointer<Float>, frames: Int) {
        meter.add(samples, frames: frames)
        momentary = meter.read(\.momentary) ?? Self.floor
        due -= 1
        guard due <= 0 else { return }
        due = 6
        shortTerm = meter.read(\.shortTerm) ?? Self.floor
        integrated = meter.read(\.integrated) ?? Self.floor
        range = meter.read(\.range, least: 0) ?? 0
    }
}

/// True peaks of ITU-R BS.1770-4 by libebur128. By one thread at a time.
final class TruePeakMeter {
    private let meter: EburMeter
    private let channels: Int

    /// For `rate` in Hz. Throws where the library is missing, or takes no such audio.
    init(channels: Int, rate: Double) throws(NodeError) {
        self.channels = channels
        meter = try EburMeter(channels: channels, rate: rate, mode: .truePeak)
    }

    /// Takes frames, channel after channel; gives the peak of each channel in them, in dBTP, -140 at least.
    func add(_ samples: UnsafePointer<Float>, frames: Int) -> [Float] {
        meter.add(samples, frames: frames)
        return (0..<channels).map(meter.lastTruePeak)
    }
}
