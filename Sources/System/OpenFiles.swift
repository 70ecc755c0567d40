// SPDX-License-Identifier: Apache-2.0
import Glibc

/// How many files this process can have open: sockets, pipes, timers and the like count too.
public enum OpenFiles {
    /// What the smallest graph needs, with whoever asks it something.
    public static let least = 64

    /// How many it may have at once, after as many were asked for as there usually are, where it may have them. [any]
    public static func raisedLimit() -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return .max }
        let wanted = min(limit.rlim_max, 1024)
        if limit.rlim_cur < wanted {
            limit.rlim_cur = wanted
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        }
        return Int(clamping: limit.rlim_cur)
    }

    /// How many more it can open now. [any]
    public static var free: Int {
        // To look at the folder takes one.
        let open = names(in: "/proc/self/fd").count - 1
        return open < 0 ? access("/proc/self/fd", X_OK) == 0 ? 0 : .max : max(0, raisedLimit() - open)
    }
}
