// SPDX-License-Identifier: Apache-2.0
import NodeKit
import Realtime

/// The control calls of one node: one after another, on whatever thread is free, so that a slow one delays this node
/// alone. What is urgent overtakes what is not; whoever waits for a call to return overtakes both.
///
/// Messages have an inbox of bounded size: one that finds it full is refused and counted. In an offline run nothing
/// happens by itself: whoever drives the run calls `drain`, so that every run is the same.
final class NodeQueue: @unchecked Sendable {
    // Sendable: `monitor` guards everything that changes.

    /// Messages that wait for one node at most.
    static let inbox = 1024

    /// Something to be done for the node.
    struct Job {
        /// For an error that says what keeps the node busy.
        var name: String
        var isMessage = false
        var work: @Sendable () -> Void
    }

    private let monitor = Monitor()
    private var urgent: [Job] = []
    private var waiting: [Job] = []
    private var first = 0
    private var messages = 0
    private var refusals: UInt64 = 0
    /// What is being done; nil: nothing.
    private var current: String?
    /// Whether that is a call that nobody asked for: the node is looked at again and again.
    private var isLook = false
    /// Threads that wait to make a call themselves.
    private var callers = 0
    private var driven = false

    /// Whether only `drain` does what waits. [any]
    var isDriven: Bool {
        get { monitor.locked { driven } }
        set { monitor.locked { driven = newValue } }
    }

    /// Whether nothing is done and nothing waits. [any]
    var isEmpty: Bool { monitor.locked { current == nil && !hasWork } }

    /// Whether nothing was asked for that is not done: a node that is only looked at is at rest. [any]
    var isAtRest: Bool { monitor.locked { (current == nil || isLook) && !hasWork } }

    /// Messages that were refused. [any]
    var refused: UInt64 { monitor.locked { refusals } }

    private var hasWork: Bool { !urgent.isEmpty || first < waiting.count }

    /// Adds a job; false: it is a message, and the inbox is full. [any]
    func post(_ job: Job, urgent isUrgent: Bool = false) -> Bool {
        let (isTaken, begins) = monitor.locked {
            if job.isMessage {
                guard messages < Self.inbox else {
                    refusals += 1
                    return (false, false)
                }
                messages += 1
            }
            if isUrgent { urgent.append(job) } else { waiting.append(job) }
            guard current == nil, !driven else { return (true, false) }
            current = "its messages"
            return (true, true)
        }
        if begins { ControlThreads.shared.submit { [self] in serve() } }
        return isTaken
    }

    /// Makes a call on this thread as soon as no other is made; nil: not within `patience` seconds. [control]
    func run<R>(_ name: String, patience: Double = .infinity, _ body: () -> R) -> R? {
        guard acquire(name, patience) else { return nil }
        defer { release() }
        return body()
    }

    /// Looks at the node on this thread if no call is made and nothing waits; nil: not now. [control]
    func runIfFree<R>(_ name: String, _ body: () -> R) -> R? {
        let isFree = monitor.locked {
            guard current == nil, callers == 0, driven || !hasWork else { return false }
            current = name
            isLook = true
            return true
        }
        guard isFree else { return nil }
        defer { release() }
        return body()
    }

    /// Does what waits, on this thread, up to a bound, since a node may send to itself; returns how much was done. In
    /// offline runs. [control]
    func drain(limit: Int) -> Int {
        for done in 0..<limit {
            guard let job = take() else { return done }
            job.work()
            release()
        }
        return limit
    }

    private func take() -> Job? {
        monitor.locked {
            guard current == nil, let job = next() else { return nil }
            current = job.name
            return job
        }
    }

    /// What is being done, for people; nil: nothing. [any]
    var occupation: String? { monitor.locked { current } }

    private func next() -> Job? {
        let job: Job
        if !urgent.isEmpty {
            job = urgent.removeFirst()
        } else if first < waiting.count {
            job = waiting[first]
            first += 1
            if first == waiting.count {
                waiting.removeAll(keepingCapacity: waiting.count <= 64)
                first = 0
            } else if first >= 256 {
                waiting.removeFirst(first)
                first = 0
            }
        } else {
            return nil
        }
        if job.isMessage { messages -= 1 }
        return job
    }

    /// Does what waits until there is nothing, or until somebody wants to make a call of their own.
    private func serve() {
        while true {
            let job: Job? = monitor.locked {
                if callers == 0, let job = next() {
                    current = job.name
                    return job
                }
                current = nil
                monitor.signal()
                return nil
            }
            guard let job else { return }
            job.work()
        }
    }

    private func acquire(_ name: String, _ patience: Double) -> Bool {
        monitor.locked {
            let end = nanoseconds(in: patience)
            callers += 1
            defer { callers -= 1 }
            while current != nil {
                let now = vg_nanoseconds()
                guard now < end else { return false }
                monitor.wait(milliseconds: Int(min(1000, (end - now) / 1_000_000 + 1)))
            }
            current = name
            return true
        }
    }

    private func release() {
        let begins = monitor.locked {
            current = nil
            isLook = false
            monitor.signal()
            guard callers == 0, hasWork, !driven else { return false }
            current = "its messages"
            return true
        }
        if begins { ControlThreads.shared.submit { [self] in serve() } }
    }
}
