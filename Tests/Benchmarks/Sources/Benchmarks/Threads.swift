// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// Opened by one thread, waited for, busy, by another.
final class StartGate: Sendable {
    private let isOpen = Atomic(false)
    func open() { isOpen.store(true, ordering: .releasing) }
    var isOpened: Bool { isOpen.load(ordering: .acquiring) }
    func wait() { while !isOpen.load(ordering: .acquiring) { sched_yield() } }
}
