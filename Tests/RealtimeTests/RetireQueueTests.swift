// SPDX-License-Identifier: Apache-2.0
import Realtime
import TestSupport

@Suite("Retire queue") struct RetireQueueTests {
    @Test("With the queue full one is kept, and goes out when there is room again, in order")
    func full() throws {
        let queue = RetireQueue(capacity: 2)
        var retirer = queue.retirer
        let pointers = try (1...4).map { try #require(UnsafeMutableRawPointer(bitPattern: 16 * $0)) }
        for pointer in pointers[..<3] {
            let flushed = retirer.flush()
            #expect(flushed)
            retirer.retire(pointer)
        }
        #expect(retirer.kept == pointers[2])
        let full = retirer.flush()
        #expect(!full)
        var freed: [UnsafeMutableRawPointer] = []
        #expect(queue.drain { freed.append($0) } == 2)
        let again = retirer.flush()
        #expect(again)
        retirer.retire(pointers[3])
        #expect(retirer.kept == nil)
        #expect(queue.drain { freed.append($0) } == 2)
        #expect(freed == pointers)
        #expect(queue.drain { _ in } == 0)
    }

    @Test("Retiring while one is kept stops the program rather than lose it")
    func twice() async {
        await #expect(processExitsWith: .failure) {
            let queue = RetireQueue(capacity: 1)
            var retirer = queue.retirer
            let pointer = UnsafeMutableRawPointer.allocate(byteCount: 8, alignment: 8)
            for _ in 0..<3 { retirer.retire(pointer) }
        }
    }
}
