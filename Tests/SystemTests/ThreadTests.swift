// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Realtime
import System
import TestSupport

@Suite("Threads", .timeLimit(.minutes(5)))
struct ThreadTests {
    @Test("A thread that nobody waits for leaves no stack behind") func letGo() throws {
        func size() throws -> Int {
            let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
            let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmSize:") })
            return try #require(
                line.split(whereSeparator: { " \t".contains($0) }).dropFirst().first.flatMap { Int($0) })
        }
        let before = try size()
        let ended = Lock(0)
        for count in 1...400 {
            _ = try SystemThread(name: "vgt-alone") { ended.withLock { $0 += 1 } }
            // One after another, so that their stacks may be the same.
            while ended.withLock({ $0 }) < count { usleep(100) }
        }
        // They would be 3.1 GiB; other tests run beside.
        let more = try size() - before
        #expect(more < 2 << 20, "\(more) KiB")
    }

    @Test("A thread has its name, of which the system keeps 15 bytes")
    func name() throws {
        let name = try SystemThread.run(name: "vgt-a-name-that-is-long") {
            let file = open("/proc/thread-self/comm", O_RDONLY)
            defer { close(file) }
            return String(unsafeUninitializedCapacity: 32) { max(0, read(file, $0.baseAddress, 32)) }
        }
        #expect(name == "vgt-a-name-that\n")
    }

    @Test("What a thread did is there after join, which may be called again")
    func join() throws {
        let sum = Lock(0)
        let thread = try SystemThread(name: "vgt-sum") { for i in 1...1000 { sum.withLock { $0 += i } } }
        thread.join()
        thread.join()
        #expect(sum.withLock { $0 } == 500_500)
    }

    @Test("A thread without the program's signals still sees its own faults", arguments: [false, true])
    func mask(blocked: Bool) throws {
        let set = Lock(sigset_t())
        var before = sigset_t()
        pthread_sigmask(SIG_SETMASK, nil, &before)
        try SystemThread(name: "vgt-mask", blocksSignals: blocked) {
            set.withLock { _ = pthread_sigmask(SIG_SETMASK, nil, &$0) }
        }.join()
        var mask = set.withLock { $0 }
        for signal in [SIGINT, SIGTERM, SIGCHLD, SIGWINCH] {
            #expect(sigismember(&mask, signal) == (blocked ? 1 : sigismember(&before, signal)))
        }
        for signal in faultSignals { #expect(sigismember(&mask, signal) == sigismember(&before, signal)) }
        var after = sigset_t()
        pthread_sigmask(SIG_SETMASK, nil, &after)
        for signal in Int32(1)..<32 { #expect(sigismember(&after, signal) == sigismember(&before, signal)) }
    }

    @Test("Signals that come while a thread is awake wake it once")
    func wakeup() {
        let wakeup = Wakeup()
        #expect(!wakeup.wait(milliseconds: 0))
        wakeup.signal()
        wakeup.signal()
        #expect(wakeup.wait(milliseconds: -1))
        #expect(!wakeup.wait(milliseconds: 0))
    }

    @Test("A signal has the name that people know it by")
    func signals() {
        #expect(signalName(SIGSEGV) == "SIGSEGV")
        #expect(signalName(60) == "signal 60")
    }

    @Test("How long a thread ran and waited is known")
    func threadTimes() throws {
        #expect(ThreadWatch(thread: 0).times == nil)
        let works = try SystemThread.run(name: "busy") {
            let watch = ThreadWatch(thread: vg_thread_id())
            guard let before = watch.times else { return false }
            var now = before
            // Counted when the kernel looks, at a tick or a pause.
            let deadline = monotonicSeconds() + 10
            while now.ran < before.ran + 0.02, monotonicSeconds() < deadline { now = watch.times ?? now }
            return now.ran >= before.ran + 0.02 && now.waited >= before.waited
        }
        #expect(works)
    }

    @Test("Whether a thread of another process runs or sleeps is known, and when it has ended")
    func states() async throws {
        let launcher = ChildLauncher(["/bin/sh", "-c", "read -r line; while :; do :; done"])
        var waiting = launcher
        waiting.hasInput = true
        let child = try waiting.start()
        let watch = ThreadWatch(thread: child.process, of: child.process)
        try await eventually("it sleeps") { !watch.isReady && watch.times != nil }
        close(child.input)
        try await eventually("it runs") { watch.isReady }
        kill(child.process, SIGKILL)
        _ = child.wait()
        #expect(!watch.isReady && watch.times == nil)
    }
}
