// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Realtime
import Synchronization
import TestSupport
import Testing

@testable import LV2

/// The threads that a plugin's library starts are found and waited for.
@Suite(.serialized, .timeLimit(.minutes(2))) struct PluginThreadsTests {
    /// A thread that works until it is told to rest, and rests until it is told to end.
    private final class Guest: Sendable {
        let number = Atomic<pid_t>(0)
        let mayRest = Atomic(false)
        let mayEnd = Atomic(false)

        func run() {
            number.store(vg_thread_id(), ordering: .releasing)
            while !mayRest.load(ordering: .acquiring) {}
            while !mayEnd.load(ordering: .acquiring) { usleep(2000) }
        }

        func start() {
            let thread = Thread { self.run() }
            thread.start()
        }
    }

    @Test("Every thread is seen, however many others end meanwhile")
    func listing() {
        /// So many threads that end soon.
        @Sendable func crowd(_ count: Int) {
            guard count > 0 else { return }
            together {
                var work = 0
                for step in 0..<4000 { work &+= step }
            } _: {
                crowd(count - 1)
            }
        }
        let isOver = Atomic(false)
        var missed = 0
        together {
            together {
                while !isOver.load(ordering: .relaxed) { crowd(8) }
            } _: {
                while !isOver.load(ordering: .relaxed) { crowd(8) }
            }
        } _: {
            for _ in 0..<stressed(1000) {
                let guest = Guest()
                together {
                    guest.run()
                } _: {
                    while guest.number.load(ordering: .acquiring) == 0 { sched_yield() }
                    if !PluginThreads.all().contains(guest.number.load(ordering: .relaxed)) { missed += 1 }
                    guest.mayRest.store(true, ordering: .releasing)
                    guest.mayEnd.store(true, ordering: .releasing)
                }
            }
            isOver.store(true, ordering: .relaxed)
        }
        #expect(missed == 0)
    }

    @Test("A thread that begins while others of its library are waited for is waited for as well")
    func twins() {
        let (first, second) = (Guest(), Guest())
        PluginThreads.watch("twins") { first.start() }
        together {
            PluginThreads.settle("twins", patience: 20)
        } _: {
            // Most likely it has looked at the first by then.
            usleep(50_000)
            PluginThreads.watch("twins") { second.start() }
            first.mayRest.store(true, ordering: .releasing)
        }
        together {
            usleep(100_000)
            second.mayRest.store(true, ordering: .releasing)
        } _: {
            PluginThreads.settle("twins", patience: 20)
            let hasRested = second.mayRest.load(ordering: .acquiring)
            #expect(hasRested)
        }
        for guest in [first, second] { guest.mayEnd.store(true, ordering: .releasing) }
    }
}
