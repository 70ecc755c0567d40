// SPDX-License-Identifier: Apache-2.0
import Glibc
import System

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
    /// Memory of this process that cannot be paged out, in bytes: what its audio threads may touch, where they are realtime.
    public var lockedMemory = 0
    /// Memory that it shares with others and that cannot be paged out either: a JACK server's, with the buffers of all ports
    /// that there could be, which the server and each of its clients lock.
    public var sharedMemory = 0
    /// How much of it this process may lock, in bytes; nil: as much as it likes.
    public var lockableMemory: Int? = 0
    /// Whether this process may make threads realtime.
    public var isPermitted = false

    /// Facts that are not known yet.
    public init() {}

    /// Asks the kernel about the thread `id`; 0: no thread yet. [control]
    package init(thread id: pid_t) {
        let own = LockedMemory.figures
        lockedMemory = Int(own.present)
        // The kernel counts what is mapped, not what is there.
        sharedMemory = max(0, Self.lockedBytes() - Int(own.mapped))
        lockableMemory = Self.lockableBytes()
        isPermitted = Self.permitted
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

    /// "SCHED_FIFO 70", "SCHED_OTHER".
    public var text: String { isRealtime && priority > 0 ? "\(policy.rawValue) \(priority)" : policy.rawValue }

    /// What to do when the thread is not realtime, or its memory may be paged out; empty when all is well or nothing is
    /// known.
    public var advice: String {
        switch policy {
        case .unknown: ""
        case .other where isPermitted:
            "the audio thread is \(text), so that other programs can hold it up, though this user may have realtime "
                + "threads: start the server with realtime scheduling (jackd -R -P 70; PipeWire: the module rt)"
        case .other:
            "the audio thread is \(text), so that other programs can hold it up: \(Self.permission); then log in again"
        default:
            lockableMemory == nil
                ? ""
                : "the audio thread's memory may be paged out, because only \((lockableMemory ?? 0) / 1024) KiB may be "
                    + "locked: add '@audio - memlock unlimited' to /etc/security/limits.d/audio.conf and log in again; "
                    + "for a systemd service set LimitMEMLOCK=infinity"
        }
    }

    /// How a user gets the right to realtime threads. [any]
    package static let permission =
        "add the lines '@audio - rtprio 95' and '@audio - memlock unlimited' to /etc/security/limits.d/audio.conf and "
        + "yourself to the group (usermod -aG audio NAME), or install rtkit where PipeWire serves; for a systemd "
        + "service set LimitRTPRIO=95 and LimitMEMLOCK=infinity"

    /// Found out once: limits do not change while a process runs.
    private static let permitted = isPermitted(priority: 1)

    /// Whether this process may make a thread realtime, found out by trying. [control]
    package static func isPermitted(priority: Int32) -> Bool {
        let result = try? SystemThread.run(name: "vg-probe") {
            var parameter = sched_param(sched_priority: priority)
            return pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameter) == 0
        }
        return result ?? false
    }

    private static func lockableBytes() -> Int? {
        var limit = rlimit()
        // Root may lock whatever the limit.
        if geteuid() == 0 || getrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &limit) != 0 { return nil }
        return limit.rlim_cur >= UInt(Int.max) ? nil : Int(limit.rlim_cur)
    }

    /// When it was read last, and what it was: a face asks for the status many times a second.
    private static let locked = Lock((at: -Double.infinity, bytes: 0))

    private static func lockedBytes() -> Int {
        locked.withLock { last in
            let now = monotonicSeconds()
            if now - last.at > 0.5 { last = (now, readLockedBytes()) }
            return last.bytes
        }
    }

    static func readLockedBytes(in status: String = "/proc/self/status") -> Int {
        guard let file = fopen(status, "re") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            var kilobytes = 0
            let found = withUnsafeMutablePointer(to: &kilobytes) { target in
                withVaList([target]) { vsscanf(line, "VmLck: %ld kB", $0) }
            }
            // The kernel's sum is wrong where a library locked more pages than fit its count.
            if found == 1 { return (0...Int.max / 1024).contains(kilobytes) ? kilobytes * 1024 : 0 }
        }
        return 0
    }
}
