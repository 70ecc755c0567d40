// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Whoever answers. On the agent's thread, one turn after another.
protocol Backend: AnyObject {
    /// Answers one item with `reply.say`, and returns when that is all, or soon after `reply.isStopped`.
    func answer(_ reply: Reply) throws(AgentFault)

    /// What was said before is to be forgotten.
    func forget()

    /// The node goes away.
    func end()
}

extension Backend {
    /// Nothing to forget.
    func forget() {}
    /// Nothing to end.
    func end() {}
}
