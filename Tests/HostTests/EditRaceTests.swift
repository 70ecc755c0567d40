// SPDX-License-Identifier: Apache-2.0
import Glibc
import NodeKit
import Synchronization
import TestSupport
import Testing

@testable import Host

private final class Flag: Sendable {
    let isSet = Atomic(false)
}

/// For the thread sanitizer: edits on one thread, audio on another.
@Suite("Editing beside the audio thread", .timeLimit(.minutes(10)))
struct EditRaceTests {
    @Test("Random edits, parameters and guards meet the audio thread only where they may")
    func edits() throws {
        let run = try OfflineRun(RandomEdits.start, block: 64)
        let (driver, graph) = (run.driver, run.graph)
        let ended = Flag()
        var failure: (any Error)?
        together {
            while !ended.isSet.load(ordering: .acquiring) {
                driver.process(frames: 64)
                sched_yield()
            }
        } _: {
            var edits = RandomEdits(seed: 9)
            do {
                for _ in 0..<60 {
                    let edit = edits.next(graph.description)
                    try graph.begin(resetting: true) { _ = $0.make(edit) }
                    repeat {
                        graph.pump()
                        usleep(200)
                    } while graph.isChanging || graph.engine.liveSchedules > 1
                }
            } catch { failure = error }
            ended.isSet.store(true, ordering: .releasing)
        }
        if let failure { throw failure }
        #expect(graph.engine.counters.oversizedBlocks == 0)
    }
}
