// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TestSupport
import Testing

@testable import Drivers

@Suite("Driver listener") struct DriverListenerTests {
    @Test("Who listens hears every event until told otherwise, and ten thousand of them leave nothing behind")
    func listening() {
        let listener = DriverListener()
        let heard = Counted()
        listener.tell(.stalled)
        listener.set { _ in heard.count.add(1, ordering: .relaxed) }
        listener.tell(.stalled)
        let before = allocatedBytes()
        for _ in 0..<10_000 { listener.tell(.xrun(delay: 0.1)) }
        let grown = allocatedBytes() - before
        #expect(grown < 100_000)
        listener.set(nil)
        listener.tell(.resumed)
        #expect(heard.count.load(ordering: .relaxed) == 10_001)
    }

    private final class Counted: Sendable {
        let count = Atomic(0)
    }
}
