// SPDX-License-Identifier: Apache-2.0
import CEbur128
import Glibc
import NodeKit

/// How loud a recording is. In a render, where that takes longer than all else of the recorder, it is measured on a thread of
/// its own, beside the one that writes. By one thread at a time.
final class TakeLevels {
    private let measured: Measured
    private let channels: Int
    /// Nil: what comes is measured where it comes.
    private let queue: WorkerQueue?
    /// What was not given to the queue yet: it takes so many samples at a time.
    private var waiting: [Float] = []
    private static let piece = 32_768

    /// For frames of `channels` at `rate` Hz. [control]
    init(channels: Int, rate: Double, isOffline: Bool) {
        self.channels = channels
        measured = Measured(channels: channels, rate: rate)
        // Without room for a thread it takes longer.
        queue = isOffline ? try? WorkerQueue() : nil
    }

    /// Adds interleaved frames. [worker]
    func add(_ samples: UnsafePointer<Float>, _ frames: Int) {
        guard queue != nil else { return measured.add(samples, frames) }
        waiting += UnsafeBufferPointer(start: samples, count: frames * channels)
        if waiting.count >= Self.piece { measureWaiting() }
    }

    private func measureWaiting() {
        queue?.add { [measured, waiting, channels] in
            waiting.withUnsafeBufferPointer { measured.add($0.baseAddress!, $0.count / channels) }
        }
        waiting = []
        waiting.reserveCapacity(Self.piece)
    }

    /// What was measured of all that came. [any]
    var result: Measured {
        if !waiting.isEmpty { measureWaiting() }
        queue?.settle()
        return measured
    }

    /// The largest sample; and what libebur128 says: the largest value between samples (true peak, ITU-R BS.1770-4) and the
    /// loudness of the whole (EBU R 128).
    final class Measured: @unchecked Sendable {
        // Sendable: while the queue has something to do it alone uses this.
        private let state: UnsafeMutablePointer<ebur128_state>?
        /// One a channel.
        private let meters: [UnsafeMutablePointer<ebur128_state>?]
        private let largest: LargestTruePeak
        private let channels: Int
        private(set) var outline: TakeOutline

        fileprivate init(channels: Int, rate: Double) {
            self.channels = channels
            outline = TakeOutline(samples: max(1, Int(rate / 50)) * channels)
            let mode = EBUR128_MODE_I.rawValue | EBUR128_MODE_HISTOGRAM.rawValue
            state = ebur128_init(UInt32(channels), UInt(rate), Int32(mode))
            let meters = (0..<channels).map { _ in
                ebur128_init(1, UInt(rate), Int32(EBUR128_MODE_TRUE_PEAK.rawValue))
            }
            self.meters = meters
            largest = LargestTruePeak(channels: channels, rate: rate) { channel, samples, count in
                var peak = 0.0
                guard let meter = meters[channel], ebur128_add_frames_float(meter, samples, count) == 0 else {
                    return 0
                }
                return ebur128_prev_true_peak(meter, 0, &peak) == 0 ? peak : 0
            }
        }

        deinit {
            for state in meters + [state] {
                var state = state
                if state != nil { ebur128_destroy(&state) }
            }
        }

        fileprivate func add(_ samples: UnsafePointer<Float>, _ frames: Int) {
            if let state { ebur128_add_frames_float(state, samples, frames) }
            largest.add(samples, frames: frames)
            outline.add(samples, frames * channels)
        }

        /// In dBFS; nil: silence.
        var peak: Double? {
            let largest = Double(outline.values.max() ?? 0)
            return largest > 0 ? 20 * log10(largest) : nil
        }
        /// In dBTP; nil: silence.
        var truePeak: Double? { largest.peak > 0 ? 20 * log10(largest.peak) : nil }
        /// In LUFS; nil: too short or too quiet for one.
        var loudness: Double? {
            var result = 0.0
            guard let state, ebur128_loudness_global(state, &result) == 0, result.isFinite else { return nil }
            return result
        }
    }
}

/// The largest samples of equal parts of a recording, of all channels together: enough to draw it, whatever its length. Parts
/// are 20 ms long; where there are more than `most`, two become one.
struct TakeOutline {
    static let most = 200
    private var parts: [Float] = []
    private var part: Int
    private var filled = 0
    private var peak: Float = 0

    /// With so many samples in a part.
    init(samples: Int) { part = samples }

    /// As magnitudes, 1 is full scale, oldest first; the last part may be shorter.
    var values: [Float] { filled > 0 ? parts + [peak] : parts }

    /// Adds samples. [worker]
    mutating func add(_ samples: UnsafePointer<Float>, _ count: Int) {
        var start = 0
        while start < count {
            let end = min(count, start + part - filled)
            for index in start..<end where abs(samples[index]) > peak { peak = abs(samples[index]) }
            filled += end - start
            start = end
            if filled == part { close() }
        }
    }

    private mutating func close() {
        parts.append(peak)
        (filled, peak) = (0, 0)
        if parts.count < Self.most { return }
        parts = stride(from: 0, to: parts.count, by: 2).map { max(parts[$0], parts[$0 + 1]) }
        part *= 2
    }
}
