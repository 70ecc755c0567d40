// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Synchronization
import System

/// Somebody who wants to know how loud a node is. While there is one, the guard behind the node measures, or the step that
/// runs it; each hears all, whoever else listens.
public final class PeakListener: Sendable {
    private let node: NodeInstance

    /// From now on. [control]
    fileprivate init(_ node: NodeInstance) {
        self.node = node
        node.heard.withLock { heard in
            // What came before is for the others.
            node.share(&heard)
            if heard.isEmpty {
                _ = node.guardFindings.pointee.attention.bitwiseOr(
                    GuardAttention.any | GuardAttention.measured, ordering: .relaxed)
            }
            heard[ObjectIdentifier(self)] = GuardFindings.nothing
        }
    }

    deinit {
        node.heard.withLock { heard in
            heard[ObjectIdentifier(self)] = nil
            guard heard.isEmpty else { return }
            _ = node.guardFindings.pointee.attention.bitwiseAnd(~GuardAttention.measured, ordering: .relaxed)
        }
    }

    /// The loudest sample that came out since the last call, linear; nil: no block was measured, as of nodes from which no
    /// audio comes. [control]
    public func take() -> Float? {
        let bits = node.heard.withLock { heard -> UInt32 in
            node.share(&heard)
            return heard.updateValue(GuardFindings.nothing, forKey: ObjectIdentifier(self)) ?? GuardFindings.nothing
        }
        return bits == GuardFindings.nothing ? nil : Float(bitPattern: bits)
    }
}

extension NodeInstance {
    /// Begins to listen how loud the node is, until the listener is let go. [control]
    public func listen() -> PeakListener { PeakListener(self) }

    /// Gives all who listen what the guard has measured.
    fileprivate func share(_ heard: inout [ObjectIdentifier: UInt32]) {
        let news = guardFindings.pointee.loudest.exchange(GuardFindings.nothing, ordering: .relaxed)
        guard news != GuardFindings.nothing else { return }
        for (listener, old) in heard { heard[listener] = old == GuardFindings.nothing ? news : max(old, news) }
    }
}
