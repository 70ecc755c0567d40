// SPDX-License-Identifier: Apache-2.0
import Glibc

/// How the system runs a thread, asked of the kernel: what a server says of itself is not to be trusted here.
public struct Scheduling: Sendable, Equatable {
    /// The kernel's policies that matter to audio.
    public enum Policy: String, Sendable {
        /// There is no audio thread, or it has not run yet.
        case unknown
        /// The ordinary time-sharing policy: dropouts under load.
        case other = "SCHED_OTHER"
        /// First in, first out, by priority.
        case fifo = "SCHED_FIFO"
        /// By priority, sharing time among equals.
        case roundRobin = "SCHED_RR"
        /// By deadline.
        case deadline = "SCHED_DEADLINE"
    }

    /// How the thread is scheduled.
    public var policy: Policy = .unknown
    /// 1...99 for FIFO and RR; 0 otherwise.
    public var priority = 0
    /// Memory of this process that cannot be paged out, in bytes.
    public var lockedMemory = 0

    /// Facts that are not known yet.
    public init() {}

    /// Asks the kernel about the thread `id`; 0: no thread yet. [control]
    init(thread id: pid_t) {
        lockedMemory = Self.lockedBytes()
        guard id != 0 else { return }
        // The flag that says whether children inherit the policy does not matter here.
        let resetOnFork: Int32 = 0x4000_0000
        let (batch, idle, deadline): (Int32, Int32, Int32) = (3, 5, 6)
        switch sched_getscheduler(id) & ~resetOnFork {
        case SCHED_OTHER, batch, idle: policy = .other
        case SCHED_FIFO: policy = .fifo
        case SCHED_RR: policy = .roundRobin
        case deadline: policy = .deadline
        default: policy = .unknown
        }
        var parameter = sched_param()
        if sched_getparam(id, &parameter) == 0 { priority = Int(parameter.sched_priority) }
    }

    /// Whether the thread preempts ordinary ones.
    public var isRealtime: Bool { policy == .fifo || policy == .roundRobin || policy == .deadline }

    /// What to do when the thread is not realtime; empty when it is or nothing is known.
    public var advice: String {
        guard policy == .other else { return "" }
        return "the audio thread has no realtime priority: allow it with 'rtprio 95' and 'memlock unlimited' for your "
            + "group in /etc/security/limits.d/, or run the server with realtime scheduling"
    }

    /// Whether this process may make a thread realtime, found out by trying. [control]
    static func isPermitted(priority: Int32) -> Bool {
        DriverThread.runOnce(name: "vg-probe") {
            var parameter = sched_param(sched_priority: priority)
            return pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameter) == 0
        }
    }

    private static func lockedBytes() -> Int {
        guard let file = fopen("/proc/self/status", "re") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            var kilobytes = 0
            let found = withUnsafeMutablePointer(to: &kilobytes) { target in
                withVaList([target]) { vsscanf(line, "VmLck: %ld kB", $0) }
            }
            if found == 1 { return kilobytes * 1024 }
        }
        return 0
    }
}
