// SPDX-License-Identifier: Apache-2.0
import Glibc
import System
import TestSupport

@Suite("Locks", .timeLimit(.minutes(5)))
struct LockTests {
    @Test("A value behind a lock is changed by one thread at a time")
    func exclusion() {
        let value = Lock((first: 0, second: 0))
        let work: @Sendable () -> Void = {
            for _ in 0..<100_000 {
                value.withLock { value in
                    value.first += 1
                    value.second = value.first
                }
            }
        }
        together(work, work)
        let (first, second) = value.withLock { $0 }
        #expect(first == 200_000 && second == 200_000)
    }

    @Test("An error passes a lock and frees it")
    func errors() {
        let value = Lock(1)
        #expect(throws: SystemError.self) {
            try value.withLock { value throws(SystemError) in
                value = 2
                throw SystemError("failed", code: ENOENT)
            }
        }
        #expect(value.withLock { $0 } == 2)
    }

    @Test("Who waits for a value gets it after the signal, and others may take the lock meanwhile")
    func waiting() {
        let value = Lock(0)
        let got = Lock(0)
        together(
            {
                let seen = value.wait { $0 == 100 ? $0 : nil }
                got.withLock { $0 = seen ?? -1 }
            },
            {
                for _ in 0..<100 {
                    value.withLock { $0 += 1 }
                    value.signal()
                }
            })
        #expect(got.withLock { $0 } == 100)
    }

    @Test("Who waits for what does not come is back after the deadline, never before")
    func deadline() {
        let value = Lock(0)
        let end = monotonicSeconds() + 0.05
        let result: Int? = value.wait(until: end) { _ in nil }
        #expect(result == nil)
        #expect(monotonicSeconds() >= end)
    }

    @Test("A monitor that another holds can be tried and waited for")
    func trying() {
        let monitor = Monitor()
        let (held, done) = (Wakeup(), Wakeup())
        together(
            {
                monitor.acquire()
                held.signal()
                done.wait(milliseconds: -1)
                monitor.release()
            },
            {
                held.wait(milliseconds: -1)
                #expect(!monitor.tryAcquire())
                let start = monotonicSeconds()
                #expect(!monitor.acquire(within: 0.02))
                // The wait is measured with the clock that people set.
                #expect(monotonicSeconds() - start > 0.01)
                done.signal()
                #expect(monitor.acquire(within: 60))
                monitor.release()
            })
        #expect(monitor.tryAcquire())
        monitor.release()
    }

    @Test("A reentrant lock is free only when the outermost use has ended")
    func reentrance() {
        let lock = ReentrantLock()
        let value = Lock(0)
        let work: @Sendable () -> Void = {
            for _ in 0..<10_000 {
                lock.locked {
                    let before = value.withLock { $0 }
                    lock.locked {}
                    value.withLock { $0 = before + 1 }
                }
            }
        }
        together(work, work)
        #expect(value.withLock { $0 } == 20_000)
    }
}
