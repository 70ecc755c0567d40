// SPDX-License-Identifier: Apache-2.0
import NodeKit

/// Works on what a node hears; all of it on one thread, but for what is said to be for any.
protocol Listener: AnyObject {
    /// Where it hears.
    var speechInput: SpeechInput? { get }

    /// Works on some of what was heard; false: there is nothing.
    func work() -> Bool

    /// Seconds after which it looks again when there was nothing: the audio thread wakes nobody. What comes of what it hears
    /// later is late by that.
    var rest: Double { get }
}

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
    private let listener: any Listener

    init(_ listener: any Listener) { self.listener = listener }

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
            while worker != nil, !(isResting && jobs.isEmpty && urgent.isEmpty && !isWaiting) {
                let rest = deadline - monotonicSeconds()
                if rest <= 0 { return false }
                monitor.signal()
                monitor.wait(seconds: min(rest, 0.1))
            }
            return true
        }
    }

    /// Whether something was heard that nobody has taken yet. [any]
    private var isWaiting: Bool { (listener.speechInput?.pipe.waiting ?? 0) > 0 }

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
            if listener.work() { continue }
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
                monitor.wait(seconds: listener.rest)
                return false
            }
            if isOver { return }
        }
    }
}
