// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// What a node asks its host at any time, and its child therefore has at hand.
struct HostFacts: BitwiseCopyable, Equatable {
    /// The way from the node to the ear, in frames.
    var outputLatency: UInt32 = 0
    /// Which of its series somebody reads, as `vg_host_series.wanted`.
    var wanted: UInt64 = .max

    /// Not known yet.
    init() {}

    /// As they are now.
    init(_ host: NodeHost) { (outputLatency, wanted) = (UInt32(clamping: host.outputLatency), host.wantedSeries) }
}

extension FrameWriter {
    mutating func put(_ hostFacts: HostFacts) {
        put(hostFacts.outputLatency)
        put(hostFacts.wanted)
    }
}

extension FrameReader {
    mutating func hostFacts() -> HostFacts {
        var hostFacts = HostFacts()
        (hostFacts.outputLatency, hostFacts.wanted) = (number(), number())
        return hostFacts
    }
}
