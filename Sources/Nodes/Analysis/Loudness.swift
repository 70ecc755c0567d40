// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Loudness of EBU R 128 by libebur128: five channels count as left, right, centre and two surrounds, of six the fourth is
/// the low-frequency channel, and others beyond do not count. By one thread at a time.
final class Loudness {
    /// What silence shows, in LUFS: what is gated anyway.
    static let floor: Float = -70

    private let meter: EburMeter
    /// 60ths of a second until those are due that need not be looked at as often as momentary loudness: ten times a second.
    private var due = tenth
    private static let tenth = 6
    /// Mean powers of the last thirty 10ths of a second, which are the short-term loudness: the library would read the
    /// samples of 3 s each time.
    private var tenths = [Double](repeating: 0, count: 30)
    private var place = 0
    private(set) var momentary = floor
    private(set) var shortTerm = floor
    private(set) var integrated = floor
    /// In LU.
    private(set) var range: Float = 0

    /// For `rate` in Hz. Throws where the library is missing, or takes no such audio.
    init(channels: Int, rate: Double) throws(NodeError) {
        meter = try EburMeter(channels: channels, rate: rate, mode: [.shortTerm, .integrated, .range, .histogram])
    }

    /// Takes so many 60ths of a second, channel after channel: one, two, three or six.
    func add(_ samples: UnsafePointer<Float>, frames: Int, sixtieths: Int) {
        meter.add(samples, frames: frames)
        momentary = meter.read(\.momentary) ?? Self.floor
        due -= sixtieths
        guard due <= 0 else { return }
        due += Self.tenth
        tenths[place] = meter.power(milliseconds: 100)
        place = (place + 1) % tenths.count
        shortTerm = EburMeter.loudness(of: tenths.reduce(0, +) / Double(tenths.count))
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
        return (0..<channels).map { EburMeter.decibels(meter.lastTruePeak($0)) }
    }
}
