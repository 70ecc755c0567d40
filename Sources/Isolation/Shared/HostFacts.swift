// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What a node asks its host at any time, and its child therefore has at hand.
struct Surroundings: BitwiseCopyable, Equatable {
    /// The way from the node to the ear, in frames.
    var outputLatency: UInt32 = 0
    /// Which of its series somebody reads, as `vg_host.wanted`.
    var wanted: UInt64 = .max

    /// Not known yet.
    init() {}

    /// As they are now.
    init(_ host: NodeHost) { (outputLatency, wanted) = (UInt32(clamping: host.outputLatency), host.wantedSeries) }
}

extension FrameWriter {
    mutating func put(_ surroundings: Surroundings) {
        put(surroundings.outputLatency)
        put(surroundings.wanted)
    }
}

extension FrameReader {
    mutating func surroundings() -> Surroundings {
        var surroundings = Surroundings()
        (surroundings.outputLatency, surroundings.wanted) = (number(), number())
        return surroundings
    }
}
