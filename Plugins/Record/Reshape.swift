// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Resampling

/// Makes audio of one rate and number of channels into that of a file. By one thread at a time.
final class Reshape {
    /// Hz and channels of what comes.
    let rate: Double
    private let channels: Int
    private let fileChannels: Int
    private let resampler: Resampler?

    /// [control]
    init(rate: Double, channels: Int, fileRate: Double, fileChannels: Int) throws(NodeError) {
        self.rate = rate
        self.channels = channels
        self.fileChannels = fileChannels
        resampler =
            rate == fileRate ? nil : try Resampler(from: rate, to: fileRate, channels: fileChannels, quality: .offline)
    }

    /// Whether everything passes as it is.
    var isNothing: Bool { resampler == nil && channels == fileChannels }

    /// Takes interleaved frames and gives those of the file that are ready. [worker]
    func process(_ samples: UnsafeBufferPointer<Float>) -> [Float] {
        let mixed = mix(samples)
        guard let resampler else { return mixed }
        return mixed.withUnsafeBufferPointer { resampler.process($0, end: false) }
    }

    /// What it held back. What is taken afterwards is a new stream. [worker]
    func end() -> [Float] {
        guard let resampler else { return [] }
        defer { resampler.reset() }
        return resampler.process(UnsafeBufferPointer(start: nil, count: 0), end: true)
    }

    /// One channel is the mean of all, or all are the one.
    private func mix(_ samples: UnsafeBufferPointer<Float>) -> [Float] {
        if channels == fileChannels { return Array(samples) }
        var result: [Float] = []
        result.reserveCapacity(samples.count / channels * fileChannels)
        for frame in stride(from: 0, to: samples.count, by: channels) {
            var sum = samples[frame]
            for channel in 1..<max(channels, 1) { sum += samples[frame + channel] }
            for _ in 0..<fileChannels { result.append(sum / Float(channels)) }
        }
        return result
    }
}
