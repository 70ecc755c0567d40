// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Spectra of a long window and of short ones, for pictures that are sharp in frequency and in time. The short ones lie around
/// the middle of the long one. By one thread at a time.
final class Spectrogram {
    /// Short windows in what is added at once.
    static let parts = 4

    private let long, short: WindowedTransform
    private let history: History
    /// Frames that were added last.
    private var added = 0

    /// For `rate` in Hz. Throws where the library is missing.
    init(channels: Int, rate: Double) throws(NodeError) {
        long = try WindowedTransform(longest: rate / 5)
        short = try WindowedTransform(longest: rate / 40)
        history = History(channels: channels, size: long.size)
    }

    /// Takes frames, channel after channel.
    func add(_ samples: UnsafePointer<Float>, frames: Int) {
        history.add(samples, frames: frames)
        added = frames
    }

    /// Of the long window, in dBFS.
    var fine: [Float] { long.power(history, from: 0).decibels }

    /// Of the short ones, the oldest first.
    var fast: [Float] {
        (0..<Self.parts).flatMap { part -> [Float] in
            let middle = long.size / 2 + (2 * part + 1 - Self.parts) * added / (2 * Self.parts)
            let start = min(max(middle - short.size / 2, 0), long.size - short.size)
            return short.power(history, from: start).decibels
        }
    }
}
