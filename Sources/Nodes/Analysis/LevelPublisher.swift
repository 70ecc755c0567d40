// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What meter and visualizer share: levels measured on the audio thread, all else on the control thread, which publishes.
final class LevelPublisher {
    struct Processor: BitwiseCopyable {
        var meter: LevelMeter
        var pipe: CapturePipe.Writer
    }

    private let channels: Int
    private let host: NodeHost
    private let needle: Needle.Kind?
    /// What the needles' 0 is, in dBFS of a sine's amplitude.
    private let reference: Double
    /// Of the orb's scale, in dB.
    private let range: Double
    let analyzer: Analyzer
    private var queue: LevelQueue?
    /// Frames of the series that nobody took in time, as told.
    private var dropped = 0

    /// `analysis`: of the first series of the analyzer among those of the node.
    init(
        channels: Int, host: NodeHost, analysis: Int, bands: BandRange = BandRange(), needle: Needle.Kind? = nil,
        reference: Double = 0, reports: Bool = false, range: Double = 50
    ) {
        self.range = range
        analyzer = Analyzer(channels: channels, host: host, first: analysis, bands: bands, reports: reports)
        self.channels = channels
        self.host = host
        self.needle = needle
        self.reference = reference
    }

    /// Starts measuring anew. The processor made before must not run any more. [control]
    func prepare(_ preparation: Preparation) -> Processor {
        let queue = LevelQueue(channels: channels, rate: preparation.rate, needle: needle, range: Float(range))
        self.queue = queue
        dropped = 0
        return Processor(meter: queue.meter, pipe: analyzer.prepare(preparation))
    }

    /// Publishes what was measured since the last time. [control]
    func poll() {
        while let record = queue?.next() {
            let levels = [record.peak, record.rms, [record.orb]]
            host.publish(needle == nil ? levels : levels + [record.needle.map(decibels)], at: record.position)
            if record.dropped > dropped { host.count("dropped_levels", record.dropped - dropped) }
            dropped = record.dropped
        }
        analyzer.poll()
    }

    private func decibels(_ level: Float) -> Float { 20 * vg_log10(max(level, 1e-7)) - Float(reference) }
}

extension [Series] {
    /// What `LevelPublisher` publishes, in its order.
    static let levels = [
        Series("peak", "largest absolute sample of each channel", rate: 60),
        Series("rms", "root mean square of each channel", rate: 60),
        Series("orb", "0 to 1: all channels together on a scale of 50 dB, over 1024 frames", rate: 60, width: 1),
    ]
}

/// Measures a block, and lets it pass. [audio]
@_noLocks
func measureLevels(_ state: inout LevelPublisher.Processor, _ block: borrowing Block) {
    state.meter.feed(block)
    state.pipe.write(block)
    block.pass()
}
