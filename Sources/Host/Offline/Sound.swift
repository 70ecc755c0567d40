// SPDX-License-Identifier: Apache-2.0

/// Sound in memory.
public struct Sound: Sendable, Equatable {
    /// Frames per second, in Hz.
    public var rate: Double
    /// Samples per channel, 1 being full scale; all the same length.
    public var channels: [[Float]]

    /// Describes a sound.
    public init(rate: Double, channels: [[Float]]) { (self.rate, self.channels) = (rate, channels) }

    /// How many there are in each channel.
    public var frames: Int { channels.first?.count ?? 0 }
    /// How long it is.
    public var seconds: Double { Double(frames) / rate }

    /// Puts another one behind it, of as many channels.
    public mutating func append(_ other: Sound) {
        if channels.isEmpty { channels = Array(repeating: [], count: other.channels.count) }
        for channel in channels.indices { channels[channel] += other.channels[channel] }
    }
}
