// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// A meter's report of audio as it comes. Offline it is measured on a thread of its own, beside the one that plays, since it
/// takes longer than all else of a file that is only measured. All calls by one thread at a time.
final class MeasuredReport {
    private let channels: Int
    private let report: MeterReport
    private let queue = Queue()
    private var worker: Worker?
    /// What is measured here.
    private var samples: [Float] = []

    /// What waits for the thread.
    private final class Queue: @unchecked Sendable {
        // Sendable: `monitor` guards everything.
        let monitor = Monitor()
        var pieces: [(samples: [Float], frames: Int)] = []
        var isBusy = false
        var isEnding = false
        /// Pieces at most.
        static let limit = 16
    }

    /// What the thread measures; while it does, nobody else has it.
    private struct Measured: @unchecked Sendable { let report: MeterReport }

    /// For `rate` in Hz. Throws where the library is missing, or there is no thread. [control]
    init(channels: Int, rate: Double, isOffline: Bool) throws(NodeError) {
        self.channels = channels
        report = try MeterReport(channels: channels, rate: rate)
        guard isOffline else { return }
        worker = try Worker { [queue, measured = Measured(report: report)] in
            while let piece = Self.next(queue) { Self.measure(piece.samples, piece.frames, measured.report) }
        }
    }

    deinit {
        queue.monitor.locked {
            queue.isEnding = true
            queue.monitor.signal()
        }
        worker?.join()
    }

    /// Takes what was heard.
    func add(_ audio: CapturePipe.Audio) {
        let size = audio.frames * channels
        if worker != nil || samples.count < size { samples = [Float](repeating: 0, count: size) }
        samples.withUnsafeMutableBufferPointer { samples in
            for channel in 0..<channels {
                for frame in 0..<audio.frames {
                    // One that is no number would stay in every filter.
                    let sample = audio.channels[channel]?[frame] ?? 0
                    samples[channel * audio.frames + frame] = sample.isFinite ? sample : 0
                }
            }
        }
        guard worker != nil else { return Self.measure(samples, audio.frames, report) }
        queue.monitor.locked {
            while queue.pieces.count >= Queue.limit { queue.monitor.wait() }
            queue.pieces.append((samples, audio.frames))
            queue.monitor.signal()
        }
    }

    /// What was measured; of what came last only so much that there are `count` frames. Nil: all.
    func fields(frames count: Int? = nil) -> [String: SettingValue] {
        queue.monitor.locked { while queue.isBusy || !queue.pieces.isEmpty { queue.monitor.wait() } }
        return report.fields(frames: count)
    }

    /// The next piece; nil: the thread ends.
    private static func next(_ queue: Queue) -> (samples: [Float], frames: Int)? {
        queue.monitor.locked {
            queue.isBusy = false
            queue.monitor.signal()
            while queue.pieces.isEmpty, !queue.isEnding { queue.monitor.wait() }
            guard !queue.pieces.isEmpty else { return nil }
            queue.isBusy = true
            return queue.pieces.removeFirst()
        }
    }

    private static func measure(_ samples: [Float], _ frames: Int, _ report: MeterReport) {
        samples.withUnsafeBufferPointer { report.add($0.baseAddress!, frames: frames, stride: frames) }
    }
}
