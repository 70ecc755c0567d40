// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Gives out what is recorded, without the pauses, to whoever subscribes to the audio of the node. By whoever has the file.
final class TakeAudio {
    private let channels: Int
    private let host: NodeHost
    /// What the file gets interleaved, channel by channel.
    private var planar: [Float] = []

    init(channels: Int, host: NodeHost) {
        self.channels = channels
        self.host = host
    }

    /// Publishes interleaved frames; `position` is the frame of the graph of the first.
    func publish(_ samples: UnsafePointer<Float>, _ frames: Int, at position: UInt64, _ rate: Double) {
        if planar.count < channels * frames { planar = [Float](repeating: 0, count: channels * frames) }
        planar.withUnsafeMutableBufferPointer { planar in
            for channel in 0..<channels {
                for frame in 0..<frames { planar[channel * frames + frame] = samples[frame * channels + channel] }
            }
            let starts = (0..<channels).map { UnsafePointer(planar.baseAddress! + $0 * frames) as UnsafePointer? }
            starts.withUnsafeBufferPointer { starts in
                host.publish(
                    audio: vg_audio(
                        size: UInt32(MemoryLayout<vg_audio>.size), channels: UInt32(channels), frames: UInt32(frames),
                        samples: starts.baseAddress, rate: rate, position: position))
            }
        }
    }
}
