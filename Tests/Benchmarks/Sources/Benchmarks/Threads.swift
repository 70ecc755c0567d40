// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// A thread that runs one body.
final class PlainThread {
    private final class Work {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    private var thread = pthread_t()

    init(_ body: @escaping @Sendable () -> Void) {
        let work = Unmanaged.passRetained(Work(body)).toOpaque()
        let failure = pthread_create(
            &thread, nil,
            { pointer in
                Unmanaged<Work>.fromOpaque(pointer!).takeRetainedValue().body()
                return nil
            }, work)
        precondition(failure == 0, "no thread to measure with")
    }

    func join() { pthread_join(thread, nil) }
}

/// Opened by one thread, waited for, busy, by another.
final class OutputMode: Sendable {
    private let isOpen = Atomic(false)
    func open() { isOpen.store(true, ordering: .releasing) }
    var isOpened: Bool { isOpen.load(ordering: .acquiring) }
    func wait() { while !isOpen.load(ordering: .acquiring) { sched_yield() } }
}
