// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Realtime

/// What meter and visualizer share: measuring on the audio thread, publishing on the control thread.
final class LevelPublisher {
    struct Processor: BitwiseCopyable {
        var meter: LevelMeter
    }

    private let channels: Int
    private let host: NodeHost
    private var queue: LevelQueue?

    init(channels: Int, host: NodeHost) {
        self.channels = channels
        self.host = host
    }

    /// Starts measuring anew. The processor made before must not run any more. [control]
    func prepare(_ preparation: Preparation) -> Processor {
        let queue = LevelQueue(channels: channels, rate: preparation.rate)
        self.queue = queue
        return Processor(meter: queue.meter)
    }

    /// Publishes what was measured since the last time. [control]
    func poll() {
        while let record = queue?.next() {
            record.peak.withUnsafeBufferPointer { peak in
                record.rms.withUnsafeBufferPointer { rms in
                    host.publish(
                        levels: vg_levels(
                            channels: UInt32(peak.count), peak: peak.baseAddress, rms: rms.baseAddress,
                            orb: record.orb, position: record.position))
                }
            }
        }
    }
}

@_noLocks
func levelsProcess(_ memory: ProcessorMemory, _ io: BlockIO, _ cycle: Cycle) {
    let state = memory.assumingMemoryBound(to: LevelPublisher.Processor.self)
    var isSilent = true
    for channel in 0..<io.inputCount where !io.isSilent(input: channel) { isSilent = false }
    // Nothing to look at in silence, but time goes on.
    state.pointee.meter.feed(
        isSilent ? nil : io.pointee.audio_in, count: io.inputCount, frames: cycle.frames,
        position: cycle.pointee.position)
    passThrough(io, cycle.frames)
}
