// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import Realtime

/// A child that was started and has no nodes yet.
struct Infant {
    let process: pid_t
    let channel: Channel
    /// Reading end of what it prints.
    let output: Int32
    let page: SharedMemory
    let policy: IsolationPolicy
    /// The most memory that this program had when it started the child: the kernel counts that as the child's too.
    var inherited = peakMemory()

    /// Ends it.
    func kill() {
        Glibc.kill(-process, SIGKILL)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        close(output)
    }
}

/// Starts children. It does so on a thread that lives as long as the program: the kernel ends a child when the thread
/// that started it ends. One child waits in reserve while there are isolated nodes that run, so that a restart does
/// not have to wait for a program to load.
final class ChildPool: Sendable {
    static let shared = ChildPool()

    private struct State {
        var hasThread = false
        var nextNumber = 0
        var wanted: [(number: Int, policy: IsolationPolicy)] = []
        var ready: [Int: Result<Infant, NodeError>] = [:]
        /// Supervisors with nodes that run, and what they run.
        var users: [IsolationPolicy] = []
        var spare: Infant?
        /// Whether the spare could not be made: then it is not tried again before one was asked for.
        var gaveUp = false
    }

    private let state = Guarded(State())

    /// A child, the spare one if there is one. [control]
    func take(_ policy: IsolationPolicy) throws(NodeError) -> Infant {
        let spare: Infant? = state.with { state in
            guard let spare = state.spare, spare.policy == policy, Glibc.kill(spare.process, 0) == 0 else { return nil }
            state.spare = nil
            return spare
        }
        if let spare {
            state.signal()
            return spare
        }
        let number: Int? = state.with { state in
            start(&state)
            guard state.hasThread else { return nil }
            state.nextNumber += 1
            state.wanted.append((state.nextNumber, policy))
            state.gaveUp = false
            return state.nextNumber
        }
        guard let number else { throw NodeError("no thread to start a child could be created") }
        state.signal()
        // The thread answers every request.
        let result = state.wait { $0.ready.removeValue(forKey: number) } ?? .failure(Self.missing)
        state.signal()
        return try result.get()
    }

    /// Somebody may need a restart from now on, or no longer. [control]
    func retain(_ policy: IsolationPolicy) {
        state.with { state in
            start(&state)
            state.users.append(policy)
        }
        state.signal()
    }

    /// See `retain`. [control]
    func release(_ policy: IsolationPolicy) {
        let spare: Infant? = state.with { state in
            if let index = state.users.firstIndex(of: policy) { state.users.remove(at: index) }
            guard let spare = state.spare, !state.users.contains(spare.policy) else { return nil }
            state.spare = nil
            return spare
        }
        spare?.kill()
        state.signal()
    }

    private func start(_ state: inout State) {
        guard !state.hasThread else { return }
        state.hasThread = (try? Worker { [self] in serve() }) != nil
    }

    private func serve() -> Never {
        vg_thread_name("vg-child-pool")
        while true {
            let task: (number: Int?, policy: IsolationPolicy)? = state.wait { state in
                if !state.wanted.isEmpty {
                    let first = state.wanted.removeFirst()
                    return (first.number, first.policy)
                }
                guard let policy = state.users.last, state.spare == nil, !state.gaveUp else { return nil }
                return (nil, policy)
            }
            guard let (number, policy) = task else { continue }
            let result = bear(policy)
            let unwanted: Infant? = state.with { state in
                if let number {
                    state.ready[number] = result
                    return nil
                }
                guard case .success(let infant) = result else {
                    state.gaveUp = true
                    return nil
                }
                if !state.users.contains(policy) { return infant }
                state.spare = infant
                return nil
            }
            unwanted?.kill()
            state.signal()
        }
    }

    static let missing = NodeError(
        "this program cannot isolate nodes", hint: "name the command to run with Isolation.shared.use", key: "isolate")

    private func bear(_ policy: IsolationPolicy) -> Result<Infant, NodeError> {
        func failure(_ what: String) -> Result<Infant, NodeError> {
            .failure(NodeError("\(what): \(String(cString: strerror(errno)))"))
        }
        guard let page = SharedMemory(size: StatusPage.size) else { return failure("no shared memory") }
        var ends: [Int32] = [-1, -1]
        guard vg_channel_open(&ends) else { return failure("no channel to a child") }
        let channel = Channel(ends[0])
        var arguments = (policy.command + ["\(getpid())"]).map { strdup($0) } + [nil]
        var variables = environmentWithoutBacktrace()
        var output: Int32 = -1
        let process = vg_isolate_start(&arguments, &variables, ends[1], &output)
        for text in arguments + variables { free(text) }
        close(ends[1])
        guard process > 0 else {
            errno = -process
            return failure("\(policy.command.first ?? "") cannot be started")
        }
        var hello = FrameWriter(.hello)
        hello.put(policy.memory)
        hello.put(UInt32(policy.realtimeLimit * 1000))
        _ = channel.send(hello, passing: page.descriptor)
        return .success(Infant(process: process, channel: channel, output: output, page: page, policy: policy))
    }
}

/// The most memory that this program has had in use, in bytes.
private func peakMemory() -> UInt64 {
    var usage = rusage()
    return getrusage(RUSAGE_SELF.rawValue, &usage) == 0 ? UInt64(max(0, usage.ru_maxrss)) * 1024 : 0
}
