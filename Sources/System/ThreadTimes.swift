// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What the kernel counts of a thread's life, in seconds since it began. Asking costs the thread itself nothing.
public struct ThreadTimes: Sendable, Equatable {
    /// On a processor.
    public var ran: Double
    /// Ready to run, while others had the processors. Counted when such a wait ends.
    public var waited: Double

    /// Describes such a count.
    public init(ran: Double, waited: Double) {
        self.ran = ran
        self.waited = waited
    }
}

/// Reads the times of one thread again and again.
public final class ThreadWatch: Sendable {
    /// The kernel's id of the thread.
    public let thread: Int32
    private let counts: Int32
    private let state: Int32

    /// Watches a thread of a process, of this one unless told otherwise. [control]
    public init(thread: Int32, of process: pid_t = getpid()) {
        self.thread = thread
        func file(_ name: String) -> Int32 {
            thread == 0 ? -1 : open("/proc/\(process)/task/\(thread)/\(name)", O_RDONLY | O_CLOEXEC)
        }
        (counts, state) = (file("schedstat"), file("stat"))
    }

    deinit { for file in [counts, state] where file >= 0 { close(file) } }

    /// The times now; nil: the thread has ended, or the kernel does not count. [control]
    public var times: ThreadTimes? {
        guard let text = read(counts) else { return nil }
        var rest: UnsafeMutablePointer<CChar>?
        return text.withUnsafeBufferPointer { text in
            let ran = strtoull(text.baseAddress!, &rest, 10)
            guard let rest, UnsafePointer(rest) != text.baseAddress else { return nil }
            return ThreadTimes(ran: Double(ran) * 1e-9, waited: Double(strtoull(rest, nil, 10)) * 1e-9)
        }
    }

    /// Whether it runs, or would if it had a processor; false: it sleeps, is stopped, or has ended. [control]
    public var isReady: Bool {
        // "ID (NAME) STATE ...", where the name may hold what it likes.
        guard let text = read(state), let end = text.lastIndex(of: CChar(UInt8(ascii: ")"))) else { return false }
        return text.dropFirst(end + 2).first == CChar(UInt8(ascii: "R"))
    }

    private func read(_ file: Int32) -> [CChar]? {
        var text = [CChar](repeating: 0, count: 1024)
        guard file >= 0, pread(file, &text, text.count - 1, 0) > 0 else { return nil }
        return text
    }
}
