// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// A thread that works on what a node hears, and does what it is asked to in between: after what was heard before, or at
/// once. Control calls come one after another.
final class ListenThread: @unchecked Sendable {
    // Sendable: `monitor` guards everything that changes; what it works on is the thread's alone while it runs.
    private let monitor = Monitor()
    private var jobs: [() -> Void] = []
    private var urgent: [() -> Void] = []
    /// Whether it has found nothing to do, and looks again later.
    private var isResting = false
    private var isEnding = false
    private var worker: Worker?
    /// Works on some of what was heard; false: there is nothing.
    private let work: () -> Bool
    /// Whether something was heard that nobody has taken yet. [any]
    private let isWaiting: () -> Bool

    init(work: @escaping () -> Bool, isWaiting: @escaping () -> Bool) {
        self.work = work
        self.isWaiting = isWaiting
    }

    /// Begins, if it has not begun. [control]
    func start() throws(NodeError) {
        if worker == nil { worker = try Worker { [self] in run() } }
    }

    /// Does what it has to and ends. [control]
    func end() {
        monitor.locked {
            isEnding = true
            monitor.signal()
        }
        worker?.join()
        worker = nil
        isEnding = false
    }

    /// Does a job after all that was heard until now, and after the jobs before it. [any]
    func post(_ job: @escaping () -> Void) {
        monitor.locked {
            jobs.append(job)
            monitor.signal()
        }
    }

    /// Does a job before everything else. [any]
    func postUrgent(_ job: @escaping () -> Void) {
        monitor.locked {
            urgent.append(job)
            monitor.signal()
        }
    }

    /// Returns when everything was done that was to do when it was called, true, or after so many seconds. [control]
    @discardableResult
    func wait(seconds: Double = .infinity) -> Bool {
        let deadline = monotonicSeconds() + seconds
        return monitor.locked {
            while worker != nil, !(isResting && jobs.isEmpty && urgent.isEmpty && !isWaiting()) {
                let rest = deadline - monotonicSeconds()
                if rest <= 0 { return false }
                monitor.signal()
                monitor.wait(milliseconds: Int(min(rest, 0.1) * 1000) + 1)
            }
            return true
        }
    }

    private func run() {
        while true {
            // Counted before the audio is looked at: what was heard when they were asked for comes first.
            let (job, asked) = monitor.locked {
                isResting = false
                return (urgent.isEmpty ? nil : urgent.removeFirst(), jobs.count)
            }
            if let job {
                job()
                continue
            }
            if work() { continue }
            if asked > 0 {
                let job = monitor.locked { jobs.removeFirst() }
                job()
                continue
            }
            let isOver = monitor.locked {
                guard jobs.isEmpty, urgent.isEmpty else { return false }
                if isEnding { return true }
                isResting = true
                monitor.signal()
                // The audio thread wakes nobody.
                monitor.wait(milliseconds: 10)
                return false
            }
            if isOver { return }
        }
    }
}
