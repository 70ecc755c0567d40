// SPDX-License-Identifier: Apache-2.0
import Glibc
import System

/// The threads that plugins' libraries start for themselves.
///
/// Some libraries crash when a plugin is freed while such a thread works for it or has not yet begun: they take a
/// thread that is not waiting for work for one that does not run. The host knows nothing of it but its number, and can
/// see in `/proc` whether it sleeps. So it waits for that before it frees a plugin. [control]
enum PluginThreads {
    /// Threads by library: one thread may serve all its plugins.
    private static let started = Lock<[String: Set<pid_t>]>([:])

    /// Runs `body` and takes the threads that begin meanwhile for those of `library`. Another's among them make a
    /// later `settle` longer, at worst.
    static func watch<Result>(_ library: String, _ body: () -> Result) -> Result {
        let before = all()
        defer {
            let made = all().subtracting(before)
            if !made.isEmpty { started.withLock { $0[library, default: []].formUnion(made) } }
        }
        return body()
    }

    /// Returns when the threads of `library` sleep, or when one has run for `patience` seconds meanwhile: those that
    /// never rest are not to hold up a host for ever. Nor is a busy machine, on which they hardly run: then it returns after
    /// five times as long.
    static func settle(_ library: String, patience: Double = 1) {
        var threads = started.withLock { $0[library] ?? [] }
        guard !threads.isEmpty else { return }
        let deadline = monotonicSeconds() + 5 * patience
        var first: [pid_t: UInt64] = [:]
        var ended: Set<pid_t> = []
        // One look is not enough: a thread that waits for a lock or a page sleeps as well, for a moment. One that only
        // looks for work now and then rests, although it runs a little.
        var looks = 0
        var since = monotonicSeconds()
        var before: [pid_t: UInt64] = [:]
        while monotonicSeconds() < deadline {
            var times: [pid_t: UInt64] = [:]
            var asleep = true
            for thread in threads {
                guard let state = state(of: thread) else {
                    threads.remove(thread)
                    ended.insert(thread)
                    continue
                }
                asleep = asleep && state.sleeps
                times[thread] = state.time
            }
            first.merge(times) { old, _ in old }
            if times.contains(where: { $0.value >= first[$0.key]! + UInt64(patience * 1e9) }) { break }
            looks = asleep ? looks + 1 : 0
            if looks == 5 {
                let share = UInt64((monotonicSeconds() - since) * 1e9) / 8
                if times.allSatisfy({ $0.value - min($0.value, before[$0.key] ?? 0) <= share }) { break }
                looks = 1
            }
            if looks <= 1 { (since, before) = (monotonicSeconds(), times) }
            usleep(500)
        }
        // Only those that have ended: meanwhile other copies may have started more.
        started.withLock { $0[library]?.subtract(ended) }
    }

    /// The threads of this process.
    static func all() -> Set<pid_t> {
        var result: Set<pid_t> = []
        var before: Set<pid_t>?
        var complete = 0
        // The kernel ends its list where a thread ends while it is being listed, and those behind it are missing. Their
        // number tells most often that it is not the whole list; where threads come and go, several lists are put together.
        for _ in 0..<100 {
            let count = count()
            let listed = listed()
            result.formUnion(listed)
            if listed.count >= max(count, self.count()) {
                complete += 1
                if listed == before || complete == 5 { break }
            }
            before = listed
        }
        return result
    }

    /// How many threads there are: each is a folder, which counts as a link of the one above it.
    private static func count() -> Int {
        var status = stat()
        return stat("/proc/self/task", &status) == 0 ? Int(status.st_nlink) - 2 : 0
    }

    private static func listed() -> Set<pid_t> {
        Set(names(in: "/proc/self/task").compactMap(pid_t.init))
    }

    /// Whether a thread sleeps, and the nanoseconds that it has run, where the kernel counts them; nil: it has ended.
    private static func state(of thread: pid_t) -> (sleeps: Bool, time: UInt64)? {
        guard let status = line(of: "/proc/self/task/\(thread)/stat") else { return nil }
        // The state stands behind the name, which may hold anything.
        guard let end = status.lastIndex(of: ")") else { return nil }
        let counted = line(of: "/proc/self/task/\(thread)/schedstat")?.split(separator: " ").first
        return (status[end...].dropFirst(2).first == "S", counted.flatMap { UInt64($0) } ?? 0)
    }

    /// What a file of the kernel's holds, which are short.
    private static func line(of path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        let text = String(unsafeUninitializedCapacity: 1024) { max(0, read(file, $0.baseAddress, 1024)) }
        return text.isEmpty ? nil : text
    }
}
