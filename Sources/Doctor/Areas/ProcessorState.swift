// SPDX-License-Identifier: Apache-2.0
import Drivers
import Glibc
import System

/// How the kernel runs the processors, as far as that makes dropouts.
struct ProcessorState: Sendable {
    /// What governs the frequency of each processor; empty: nothing does here.
    var governors: [String] = []
    /// The kernel's description of itself, as `uname -v`: "#1 SMP PREEMPT_DYNAMIC Debian 6.1.90-1".
    var kernel = ""
    /// Whether /sys/kernel/realtime says so.
    var isRealtime = false
    /// What it was started with.
    var commandLine = ""
    /// How readily memory is paged out, 0...200; nil: not known.
    var swappiness: Int?
    /// Kilobytes of swap space.
    var swap = 0
    var processors = 1

    /// What there is to say of it.
    func findings() -> [Finding] {
        let area = DoctorArea.processor
        var findings: [Finding] = []
        let slow = Set(governors).intersection(["powersave", "ondemand", "conservative"]).sorted()
        let count = "\(processors) processor\(processors == 1 ? "" : "s")"
        if !slow.isEmpty {
            findings.append(
                area.warning(
                    "the processors' frequency follows the load (governor \(slow.joined(separator: ", "))): it rises too "
                        + "late for a block that takes long",
                    do: "for short blocks: cpupower frequency-set -g performance"))
        } else {
            let governed = Set(governors).sorted().joined(separator: ", ")
            findings.append(
                area.fine(
                    governed.isEmpty ? "\(count), whose frequency nothing governs" : "\(count), governor \(governed)")
            )
        }
        findings.append(preemption)
        if let swappiness, swap > 0, swappiness > 60 {
            findings.append(
                area.warning(
                    "memory is paged out readily (swappiness \(swappiness))", do: "sysctl vm.swappiness=10"))
        } else if let swappiness {
            findings.append(area.fine(swap > 0 ? "swappiness \(swappiness)" : "there is no swap space"))
        }
        return findings
    }

    private var preemption: Finding {
        let area = DoctorArea.processor
        let words = Set(kernel.split(separator: " ").map(String.init))
        let options = Set(commandLine.split(separator: " ").map(String.init))
        let threads = options.contains("threadirqs") ? ", interrupts in threads" : ""
        if isRealtime || words.contains("PREEMPT_RT") { return area.fine("the kernel is PREEMPT_RT") }
        if let chosen = options.first(where: { $0.hasPrefix("preempt=") })?.dropFirst(8) {
            return chosen == "none" ? never : area.fine("the kernel is preempted: \(chosen)\(threads)")
        }
        if words.contains("PREEMPT_DYNAMIC") { return area.fine("the kernel is PREEMPT_DYNAMIC\(threads)") }
        if words.contains("PREEMPT") { return area.fine("the kernel is PREEMPT\(threads)") }
        return kernel.isEmpty || words.contains("SMP") && kernel.contains("voluntary")
            ? area.fine("how the kernel is preempted is not known\(threads)") : never
    }

    private var never: Finding {
        DoctorArea.processor.warning(
            "the kernel does not let itself be preempted: short blocks come late",
            do: "start it with preempt=full threadirqs, or with a kernel that can (linux-image-rt-amd64)")
    }
}

extension ProcessorState {
    /// Looks at the kernel's files. [control]
    static func read() -> ProcessorState {
        var state = ProcessorState()
        let folder = "/sys/devices/system/cpu"
        let processors = names(in: folder).filter { $0.hasPrefix("cpu") && Int($0.dropFirst(3)) != nil }
        state.processors = max(1, processors.count)
        state.governors = processors.map { textOfFile("\(folder)/\($0)/cpufreq/scaling_governor").trimmed }
            .filter { !$0.isEmpty }
        var facts = utsname()
        uname(&facts)
        state.kernel = withUnsafeBytes(of: facts.version) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        state.isRealtime = textOfFile("/sys/kernel/realtime").trimmed == "1"
        state.commandLine = textOfFile("/proc/cmdline").trimmed
        state.swappiness = Int(textOfFile("/proc/sys/vm/swappiness").trimmed)
        state.swap = swap(textOfFile("/proc/meminfo"))
        return state
    }

    /// Kilobytes of swap space in a text like /proc/meminfo.
    static func swap(_ text: String) -> Int {
        let line = text.split(separator: "\n").first { $0.hasPrefix("SwapTotal:") }
        return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    }
}
