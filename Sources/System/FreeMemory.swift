// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Bytes of memory that this process may still take, by the kernel and by the limits of its control groups; nil: nobody
/// says. [any]
public func freeMemory() -> Int? { freeMemory(processes: "/proc", groups: "/sys/fs/cgroup") }

/// The same, by the files of two folders (proc_meminfo(5), and cgroup v2 of the kernel's documentation).
func freeMemory(processes: String, groups: String) -> Int? {
    var free: [Int] = []
    for line in text(processes + "/meminfo").split(separator: "\n") where line.hasPrefix("MemAvailable:") {
        if let kilobytes = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) {
            free.append(kilobytes << 10)
        }
    }
    let line = text(processes + "/self/cgroup").split(separator: "\n").first { $0.hasPrefix("0::/") }
    var parts = (line?.dropFirst(4) ?? "").split(separator: "/")
    // A limit of a group is one of all groups in it.
    while !parts.isEmpty {
        let group = groups + "/" + parts.joined(separator: "/")
        if let most = number(group + "/memory.max"), let used = number(group + "/memory.current") {
            free.append(max(0, most - used))
        }
        parts.removeLast()
    }
    return free.min()
}

/// Nil: there is none, as where it says "max".
private func number(_ path: String) -> Int? { Int(text(path).prefix { $0 != "\n" }) }

private func text(_ path: String) -> String {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return "" }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 16_384)
    let count = read(file, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
}
