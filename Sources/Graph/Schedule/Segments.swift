// SPDX-License-Identifier: Apache-2.0
import CNode

/// A run of steps between two looks at the clock, as the control side sees it.
struct Segment: Equatable {
    /// Steps from the end of the segment before.
    var steps: Range<Int>
    /// The node whose time the segment measures; nil: several light ones, or none. Its step need not be the last.
    var node: Int?
}

extension Plan {
    /// A segment has at most so many steps.
    static let longestSegment = 32

    /// Divides the steps so that the clock is read once for each node, but only once for up to 32 steps of nodes that
    /// take less time than reading it; and where a task ends. What is summed or delayed for a node right before it
    /// counts as its own time.
    func segments(_ graph: ResolvedGraph) -> [Segment] {
        var segments: [Segment] = []
        var start = 0
        /// The first of the helper steps that come right before the step looked at.
        var helpers = 0
        func close(at end: Int, node: Int? = nil) {
            guard end > start else { return }
            let nodes = steps[start..<end].compactMap(\.role?.node)
            segments.append(Segment(steps: start..<end, node: node ?? (nodes.count == 1 ? nodes[0] : nil)))
            start = end
        }
        let ends = Set(tasks?.ends ?? [])
        for (index, step) in steps.enumerated() {
            // Each thread reads the clock for itself.
            if ends.contains(index) {
                close(at: index)
                helpers = index
            }
            guard let node = step.role?.node else { continue }
            defer { helpers = index + 1 }
            if graph.nodes[node].instance.isLight {
                if index + 1 - start >= Self.longestSegment { close(at: index + 1) }
                continue
            }
            close(at: max(start, helpers))
            close(at: index + 1, node: node)
        }
        close(at: steps.count)
        return segments
    }
}

extension Plan {
    /// Which part of a node's work a step is.
    struct Role: Equatable {
        var node: Int
        /// Only takes the inputs.
        var absorbs = false
    }
}

extension Plan.Step {
    /// The node that it runs; nil: work between nodes.
    var role: Plan.Role? {
        switch self {
        case .process(let node), .guarded(let node): Plan.Role(node: node)
        case .absorb(let node): Plan.Role(node: node, absorbs: true)
        default: nil
        }
    }
}

extension NodeInstance {
    /// Whether its process function takes less time than a look at the clock.
    var isLight: Bool { type.pointee.flags & UInt32(VG_LIGHT) != 0 }
}
