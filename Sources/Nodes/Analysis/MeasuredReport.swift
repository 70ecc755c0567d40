// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// A meter's report of audio as it comes. Offline it is measured on a thread of its own, beside the one that plays, since it
/// takes longer than all else of a file that is only measured. All calls by one thread at a time.
final class MeasuredReport {
    private let channels: Int
    private let measured: Measured
    /// Nil: what comes is measured where it comes.
    private let queue: WorkerQueue?
    /// What is measured here.
    private var samples: [Float] = []

    private struct Measured: @unchecked Sendable {
        // Sendable: while the queue has something to do it alone has the report.
        let report: MeterReport

        func add(_ samples: [Float], _ frames: Int) {
            samples.withUnsafeBufferPointer { report.add($0.baseAddress!, frames: frames, stride: frames) }
        }
    }

    /// For `rate` in Hz. Throws where the library is missing, or there is no thread. [control]
    init(channels: Int, rate: Double, isOffline: Bool) throws(NodeError) {
        self.channels = channels
        measured = Measured(report: try MeterReport(channels: channels, rate: rate))
        queue = isOffline ? try WorkerQueue() : nil
    }

    /// Takes what was heard.
    func add(_ audio: CapturePipe.Audio) {
        let size = audio.frames * channels
        if queue != nil || samples.count < size { samples = [Float](repeating: 0, count: size) }
        samples.withUnsafeMutableBufferPointer { samples in
            for channel in 0..<channels {
                for frame in 0..<audio.frames {
                    // One that is no number would stay in every filter.
                    let sample = audio.channels[channel]?[frame] ?? 0
                    samples[channel * audio.frames + frame] = sample.isFinite ? sample : 0
                }
            }
        }
        guard let queue else { return measured.add(samples, audio.frames) }
        queue.add { [measured, samples, frames = audio.frames] in measured.add(samples, frames) }
    }

    /// What was measured; of what came last only so much that there are `count` frames. Nil: all.
    func fields(frames count: Int? = nil) -> [String: SettingValue] {
        queue?.settle()
        return measured.report.fields(frames: count)
    }
}
