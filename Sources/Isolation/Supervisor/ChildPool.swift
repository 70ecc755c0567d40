// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import Realtime
import System

/// A child that was started and has no nodes yet.
struct UnusedChild {
    let child: StartedChild
    let channel: Channel
    let page: SharedMemory
    let policy: IsolationPolicy
    /// The variables that it did not get.
    let secrets: Set<String>
    /// The most memory that this program had when it started the child: the kernel counts that as the child's too.
    var inherited = peakMemory()

    /// Ends it.
    func kill() {
        child.kill()
        _ = child.wait()
        close(child.output)
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
        var ready: [Int: Result<UnusedChild, NodeError>] = [:]
        /// The policies of the supervisors that have running nodes, one for each supervisor.
        var users: [IsolationPolicy] = []
        var spare: UnusedChild?
        /// Whether the spare could not be made: then it is not tried again before a child was asked for.
        var gaveUp = false
    }

    private let state = Lock(State())

    /// Gives a child, the spare one if there is one. [control]
    func take(_ policy: IsolationPolicy) throws(NodeError) -> UnusedChild {
        let spare: UnusedChild? = state.withLock { state in
            guard let spare = state.spare, spare.policy == policy, Glibc.kill(spare.child.process, 0) == 0 else {
                return nil
            }
            state.spare = nil
            return spare
        }
        if let spare {
            state.signal()
            // A key that the graph has named since may be among its variables.
            if spare.secrets == SecretVariables.names { return spare }
            spare.kill()
        }
        let number: Int? = state.withLock { state in
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

    /// A supervisor has running nodes from now on, so that it may need a spare child. [control]
    func retain(_ policy: IsolationPolicy) {
        state.withLock { state in
            start(&state)
            state.users.append(policy)
        }
        state.signal()
    }

    /// The supervisor that called `retain` needs no spare child any more. [control]
    func release(_ policy: IsolationPolicy) {
        let spare: UnusedChild? = state.withLock { state in
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
        state.hasThread = (try? SystemThread(name: "vg-child-pool") { [self] in serve() }) != nil
    }

    private func serve() -> Never {
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
            let result = make(policy)
            let unwanted: UnusedChild? = state.withLock { state in
                if let number {
                    state.ready[number] = result
                    return nil
                }
                guard case .success(let child) = result else {
                    state.gaveUp = true
                    return nil
                }
                if !state.users.contains(policy) { return child }
                state.spare = child
                return nil
            }
            unwanted?.kill()
            state.signal()
        }
    }

    static let missing = NodeError(
        "this program cannot isolate nodes", hint: "name the command to run with Isolation.shared.use", key: "isolate")

    private func make(_ policy: IsolationPolicy) -> Result<UnusedChild, NodeError> {
        guard let page = SharedMemory(size: StatusPage.size) else {
            return .failure(NodeError(SystemError("no shared memory")))
        }
        var ends: [Int32] = [-1, -1]
        guard vg_channel_open(&ends) else { return .failure(NodeError(SystemError("no channel to a child"))) }
        let channel = Channel(ends[0])
        defer { close(ends[1]) }
        var launcher = ChildLauncher(policy.command + ["\(getpid())"])
        launcher.environment = ChildLauncher.environmentWithoutBacktrace()
        launcher.endSignal = SIGKILL
        launcher.channel = ends[1]
        let secrets = SecretVariables.names
        let child: StartedChild
        do throws(SystemError) { child = try launcher.start() } catch { return .failure(NodeError(error)) }
        var hello = FrameWriter(.hello)
        hello.put(policy.memory)
        hello.put(UInt32(policy.realtimeLimit * 1000))
        _ = channel.send(hello, passing: page.descriptor)
        return .success(UnusedChild(child: child, channel: channel, page: page, policy: policy, secrets: secrets))
    }
}

/// The most memory that this program has had in use, in bytes.
private func peakMemory() -> UInt64 {
    var usage = rusage()
    return getrusage(RUSAGE_SELF.rawValue, &usage) == 0 ? UInt64(max(0, usage.ru_maxrss)) * 1024 : 0
}
