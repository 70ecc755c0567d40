// SPDX-License-Identifier: Apache-2.0
import NodeKit
import TestSupport

@Suite(.timeLimit(.minutes(1))) struct WorkerQueueTests {
    @Test("What it is given is done one after the other, all of it when it has settled") func order() throws {
        let done = Lock<[Int]>([])
        let queue = try WorkerQueue(limit: 2)
        queue.settle()
        for number in 0..<100 { queue.add { done.withLock { $0.append(number) } } }
        queue.settle()
        #expect(done.withLock { $0 } == Array(0..<100))
    }

    @Test("Who is far ahead of it waits") func ahead() throws {
        let (begun, given) = (Lock(0), Lock(0))
        let gate = Lock(false)
        let queue = try WorkerQueue(limit: 2)
        let giver = try Worker {
            for _ in 0..<5 {
                queue.add {
                    begun.withLock { $0 += 1 }
                    _ = gate.wait { $0 ? true : nil }
                }
                given.withLock { $0 += 1 }
                given.signal()
            }
        }
        // One is done, two wait, and the fourth is not taken.
        _ = given.wait { $0 >= 3 ? true : nil }
        #expect(begun.withLock { $0 } <= 1)
        #expect(given.wait(until: monotonicSeconds() + 0.2) { $0 > 3 ? true : nil } == nil)
        gate.withLock { $0 = true }
        gate.signal()
        giver.join()
        queue.settle()
        #expect(begun.withLock { $0 } == 5)
    }

    @Test("What waits is done before it is gone") func end() throws {
        let done = Lock(0)
        var queue: WorkerQueue? = try WorkerQueue()
        for _ in 0..<10 { queue?.add { done.withLock { $0 += 1 } } }
        queue = nil
        #expect(done.withLock { $0 } == 10)
    }
}
