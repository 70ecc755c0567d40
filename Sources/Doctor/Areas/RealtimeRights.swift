// SPDX-License-Identifier: Apache-2.0
import Drivers
import Glibc
import System

/// What this user may: realtime threads and locked memory, which keep other programs from holding up the sound.
struct RealtimeRights: Sendable {
    /// Whether the kernel made a thread SCHED_FIFO with these priorities: 1, and 70, which voicegraph asks for.
    var grantsLow = true
    var grantsHigh = true
    /// RLIMIT_RTPRIO.
    var priorityLimit = 0
    /// Bytes that may be locked; nil: any number.
    var lockable: Int?
    var isRoot = false
    /// Whether this process is in the group audio.
    var isInAudioGroup = true
    /// Whether the user will be in it after logging in again.
    var willBeInAudioGroup = true
    /// Whether Debian's limits for that group are there and switched off.
    var hasDisabledLimits = false
    /// Whether rtkit can be asked, as PipeWire does.
    var hasRTKit = false
    /// Microseconds of each second that realtime threads may run; -1: all.
    var runtime = 950_000

    /// What there is to say of it.
    func findings() -> [Finding] {
        let area = DoctorArea.realtime
        var findings: [Finding] = []
        if runtime == 0 {
            findings.append(
                area.warning(
                    "the kernel gives realtime threads no time at all (sched_rt_runtime_us is 0)",
                    do: "sysctl kernel.sched_rt_runtime_us=950000"))
        } else if !grantsLow {
            findings.append(
                area.warning(
                    "this user may not have realtime threads (rtprio limit \(priorityLimit)): others hold up the sound",
                    do: remedy))
        } else if !grantsHigh {
            findings.append(
                area.warning(
                    "realtime threads are granted, but not with priority 70 (rtprio limit \(priorityLimit))",
                    do: "set '@audio - rtprio 95' in /etc/security/limits.d/audio.conf and log in again"))
        } else {
            let why = isRoot ? "as root" : "rtprio limit \(priorityLimit)"
            findings.append(area.fine("realtime threads are granted (\(why)), tried with SCHED_FIFO 70"))
        }
        if let lockable {
            findings.append(
                area.warning(
                    "only \(size(lockable)) may be locked: the sound's memory may be paged out",
                    do: "set '@audio - memlock unlimited' in /etc/security/limits.d/audio.conf and log in again; for a "
                        + "systemd service LimitMEMLOCK=infinity"))
        } else {
            findings.append(area.fine("any memory may be locked"))
        }
        findings.append(
            area.fine(
                hasRTKit
                    ? "rtkit is there, which PipeWire asks for realtime" : "rtkit is not there; only PipeWire asks it")
        )
        return findings
    }

    private var remedy: String {
        if !isInAudioGroup, willBeInAudioGroup { return "log in again: the group audio counts from then on" }
        if hasDisabledLimits {
            return "dpkg-reconfigure -p high jackd2 grants it to the group audio"
                + (isInAudioGroup ? "" : ", of which you become a member with usermod -aG audio NAME")
                + "; then log in again"
        }
        return Scheduling.permission + "; then log in again"
    }
}

extension RealtimeRights {
    /// Asks the kernel, and tries. [control]
    static func read() -> RealtimeRights {
        var rights = RealtimeRights()
        rights.isRoot = geteuid() == 0
        rights.grantsLow = Scheduling.isPermitted(priority: 1)
        rights.grantsHigh = Scheduling.isPermitted(priority: 70)
        rights.lockable = Scheduling(thread: 0).lockableMemory
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(__RLIMIT_RTPRIO.rawValue), &limit) == 0 {
            rights.priorityLimit = Int(clamping: limit.rlim_cur)
        }
        let groups = textOfFile("/etc/group")
        if let group = audioGroup(groups) {
            var own = [gid_t](repeating: 0, count: 1024)
            let count = max(0, Int(getgroups(Int32(own.count), &own)))
            rights.isInAudioGroup = own[..<count].contains(group.number) || getegid() == group.number
            let user = getpwuid(getuid()).map { String(cString: $0.pointee.pw_name) } ?? ""
            rights.willBeInAudioGroup = rights.isInAudioGroup || group.members.contains(user)
        }
        rights.hasDisabledLimits =
            access("/etc/security/limits.d/audio.conf.disabled", F_OK) == 0
            && access("/etc/security/limits.d/audio.conf", F_OK) != 0
        rights.hasRTKit =
            access("/usr/share/dbus-1/system-services/org.freedesktop.RealtimeKit1.service", F_OK) == 0
            && access("/run/dbus/system_bus_socket", F_OK) == 0
        rights.runtime = Int(textOfFile("/proc/sys/kernel/sched_rt_runtime_us").trimmed) ?? 950_000
        return rights
    }

    /// The group audio in a text like /etc/group; nil: there is none.
    static func audioGroup(_ text: String) -> (number: gid_t, members: [String])? {
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: ":", omittingEmptySubsequences: false)
            guard fields.count >= 4, fields[0] == "audio", let number = gid_t(fields[2]) else { continue }
            return (number, fields[3].split(separator: ",").map(String.init))
        }
        return nil
    }
}

/// "8 MiB", "64 KiB"; "3.2 GiB" from a thousand MiB on.
func size(_ bytes: Int) -> String {
    if bytes < 1 << 20 { return "\(bytes >> 10) KiB" }
    if bytes < 1000 << 20 { return "\(bytes >> 20) MiB" }
    let tenths = bytes / ((1 << 30) / 10)
    return "\(tenths / 10).\(tenths % 10) GiB"
}
