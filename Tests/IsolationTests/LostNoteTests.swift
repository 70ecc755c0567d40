// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Isolation

/// No note hangs because an isolated node failed while it sounded.
@Suite("Notes of a node that fails", .serialized, .timeLimit(.minutes(2))) struct LostNoteTests {
    private func start() throws -> IsolatedRun {
        let run = try IsolatedRun(
            """
            [graph]
            links = ["in -> odd -> out", "keys -> odd -> notes"]
            [node.in]
            type = "input"
            [node.keys]
            type = "midi-input"
            [node.odd]
            type = "unruly"
            isolate = true
            gain = 3
            [node.out]
            type = "output"
            channels = 1
            [node.notes]
            type = "midi-output"

            """)
        run.play(blocks: 10)
        #expect(run.lastBlock.allSatisfy { $0 == 0.75 })
        return run
    }

    /// Ends the child, and plays until it is back.
    private func fail(_ run: IsolatedRun, _ trouble: String, meanwhile: () -> Void) throws {
        let started = run.all("plugin.started").count
        run.notes = []
        try run.tell("odd", trouble)
        try run.play("it fails") { run.lastBlock.contains { $0 != 0.75 } }
        meanwhile()
        try run.play("it is back") {
            run.all("plugin.started").count > started && run.lastBlock.allSatisfy { $0 == 0.75 }
        }
        run.play(blocks: 5)
    }

    @Test("What it began ends with it, once", arguments: ["segv", "loop", "nan"])
    func ends(_ trouble: String) throws {
        let run = try start()
        let chord: [[UInt8]] = [[0x90, 60, 100], [0x93, 64, 90], [0x90, 61, 1], [0x80, 61, 0], [0xB3, 64, 127]]
        run.play(chord)
        #expect(run.notes == chord)
        try fail(run, trouble) {
            #expect(run.notes == [[0x80, 60, 64], [0x83, 64, 64], [0xB3, 64, 0]])
            run.notes = []
        }
        // Who plays holds the keys on, so the new one is told of no end.
        #expect(run.notes == [])
    }

    @Test("What ended while it was away ends in it when it is back, and what goes on is left alone")
    func lost() throws {
        let run = try start()
        // It may be back at once; then there was nothing to miss, and all begins anew.
        for _ in 0..<50 {
            run.play([[0x90, 60, 100], [0x90, 62, 100], [0xB0, 64, 127], [0xB1, 66, 127]])
            var isMissed = false
            try fail(run, "segv") {
                run.notes = []
                run.play([[0x80, 60, 0], [0xB0, 64, 0], [0x90, 70, 9]])
                isMissed = run.notes.isEmpty
            }
            guard isMissed else { continue }
            #expect(run.notes == [[0x80, 60, 64], [0xB0, 64, 0]])
            run.notes = []
            run.play([[0x80, 62, 1], [0xB1, 66, 0]])
            #expect(run.notes == [[0x80, 62, 1], [0xB1, 66, 0]])
            return
        }
        Issue.record("it was never away for a block")
    }
}
