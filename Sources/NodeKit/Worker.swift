// SPDX-License-Identifier: Apache-2.0

/// A thread of a node's own, for what takes time: disks, synthesis, networks.
public typealias Worker = SystemThread

extension SystemThread {
    /// Starts a thread that runs `body` and ends with it. [control]
    public convenience init(_ body: @escaping @Sendable () -> Void) throws(NodeError) {
        do throws(SystemError) { try self.init(name: "vg-node", body) } catch { throw NodeError(error) }
    }
}
