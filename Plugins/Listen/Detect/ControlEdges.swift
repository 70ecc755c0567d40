// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// A change of a control input, up above 0.5 or down again.
struct ControlEdge: BitwiseCopyable {
    /// Of the block with the change, in frames of the graph.
    var position: UInt64
    var isUp: Bool
}

/// The changes of a control input on their way from a processor to the control half.
struct ControlEdges: BitwiseCopyable {
    let edges: RingWriter<ControlEdge>
    private var isUp = false

    init(_ ring: Ring<ControlEdge>) { edges = ring.writer }

    /// Looks at the control in a block; what finds no room is tried again in the next one. [audio]
    @_noLocks
    mutating func take(_ value: Float, at position: UInt64) {
        let isUp = value > 0.5
        if isUp != self.isUp, edges.push(ControlEdge(position: position, isUp: isUp)) { self.isUp = isUp }
    }
}
