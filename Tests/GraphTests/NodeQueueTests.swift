// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Graph

/// The control calls of one node.
@Suite struct NodeQueueTests {
    @Test("A node that is only looked at is at rest; one that does what was asked, or has it before it, is not")
    func rest() {
        let queue = NodeQueue()
        queue.isDriven = true
        #expect(queue.isAtRest && queue.isEmpty)
        #expect(queue.runIfFree("poll") { queue.isAtRest && !queue.isEmpty } == true)
        #expect(queue.run("receive") { queue.isAtRest } == false)
        #expect(queue.isAtRest)
        #expect(queue.post(NodeQueue.Job(name: "say", work: {})))
        #expect(queue.runIfFree("poll") { queue.isAtRest } == false)
        #expect(queue.drain(limit: 2) == 1 && queue.isAtRest)
    }
}
