// SPDX-License-Identifier: Apache-2.0
import System

/// A thread that does one thing after the other, beside whoever gives it those; who is far ahead of it waits.
package final class WorkerQueue: Sendable {
    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var isBusy = false
        var isEnding = false
    }

    private final class Queue: @unchecked Sendable {
        // Sendable: `monitor` guards `state`.
        let monitor = Monitor()
        var state = State()
    }

    private let queue = Queue()
    private let worker: Worker
    private let limit: Int

    /// With at most `limit` things that wait. [control]
    package init(limit: Int = 16) throws(NodeError) {
        self.limit = limit
        worker = try Worker { [queue] in
            while let work = Self.next(queue) { work() }
        }
    }

    /// What was given is done before it is gone.
    deinit {
        queue.monitor.locked {
            queue.state.isEnding = true
            queue.monitor.signal()
        }
        worker.join()
    }

    /// Gives it something to do. [control]
    package func add(_ work: @escaping @Sendable () -> Void) {
        queue.monitor.locked {
            while queue.state.waiting.count >= limit { queue.monitor.wait() }
            queue.state.waiting.append(work)
            queue.monitor.signal()
        }
    }

    /// Returns when all is done that it was given. [control]
    package func settle() {
        queue.monitor.locked { while queue.state.isBusy || !queue.state.waiting.isEmpty { queue.monitor.wait() } }
    }

    /// The next; nil: the thread ends.
    private static func next(_ queue: Queue) -> (@Sendable () -> Void)? {
        queue.monitor.locked {
            queue.state.isBusy = false
            queue.monitor.signal()
            while queue.state.waiting.isEmpty, !queue.state.isEnding { queue.monitor.wait() }
            guard !queue.state.waiting.isEmpty else { return nil }
            queue.state.isBusy = true
            return queue.state.waiting.removeFirst()
        }
    }
}
