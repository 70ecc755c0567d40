// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What the kernel counts of a thread's life, in seconds since it began. Asking costs the thread itself nothing.
public struct ThreadTimes: Sendable, Equatable {
    /// On a processor.
    public var ran: Double
    /// Ready to run, while others had the processors.
    public var waited: Double

    /// Describes such a count.
    public init(ran: Double, waited: Double) {
        self.ran = ran
        self.waited = waited
    }
}

/// Reads the times of one thread of this process again and again.
public final class ThreadWatch {
    /// The kernel's id of the thread.
    public let thread: Int32
    private let file: Int32

    /// Watches a thread of this process. [control]
    public init(thread: Int32) {
        self.thread = thread
        file = thread == 0 ? -1 : open("/proc/self/task/\(thread)/schedstat", O_RDONLY | O_CLOEXEC)
    }

    deinit { if file >= 0 { close(file) } }

    /// The times now; nil: the thread has ended, or the kernel does not count. [control]
    public var times: ThreadTimes? {
        guard file >= 0 else { return nil }
        var text = [CChar](repeating: 0, count: 128)
        guard pread(file, &text, text.count - 1, 0) > 0 else { return nil }
        var rest: UnsafeMutablePointer<CChar>?
        return text.withUnsafeMutableBufferPointer { text in
            let ran = strtoull(text.baseAddress!, &rest, 10)
            guard let rest, rest != text.baseAddress else { return nil }
            return ThreadTimes(ran: Double(ran) * 1e-9, waited: Double(strtoull(rest, nil, 10)) * 1e-9)
        }
    }
}
