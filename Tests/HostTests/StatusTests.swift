// SPDX-License-Identifier: Apache-2.0
import Drivers
import JSON
import NodeKit
import Testing

@testable import Host

/// What other programs see of a status, and read again.
@Suite struct StatusTests {
    @Test("Every fact of a status is written and read") func roundTrip() throws {
        var status = Status()
        (status.driver, status.notice, status.server, status.client) = ("jack", "hear \"this\"", "default", "voice")
        (status.ownServer, status.pid, status.rate, status.block, status.threads) = (true, 42, 44_100, 128, 3)
        (status.load, status.xruns, status.blocks, status.time) = (0.125, 7, 1 << 40, 12.5)
        (status.degraded, status.state) = (["a": "it broke"], "stalled")
        status.scheduling.policy = .fifo
        (status.scheduling.priority, status.scheduling.isPermitted) = (70, true)
        (status.scheduling.lockedMemory, status.scheduling.sharedMemory) = (1 << 20, 1 << 10)
        status.scheduling.lockableMemory = nil
        (status.dropouts, status.unrecorded) = ([.node: 2, .graph: 1], 3)
        (status.counters, status.lostNotes, status.lostMIDI) = (["tape": ["gaps": 4]], 5, 6)
        (status.unconnected, status.lastChange) = (["out": "nothing"], ChangeTimes(firstBlock: 0.25, done: 0.5))
        // Nothing is left as it is in an empty one, so that whatever is forgotten shows.
        let (before, empty) = (Mirror(reflecting: status).children, Mirror(reflecting: Status()).children)
        for (one, none) in zip(before, empty) { #expect("\(one.value)" != "\(none.value)", "\(one.label ?? "")") }
        let json = try JSON(Array(EventJSON.encode(status).utf8))
        #expect(Status(json) == status)
        #expect(Status.all.count == before.count - 1, "the time is written by itself")
        #expect(json["scheduling"]?["realtime"]?.bool == true && json["pid"]?.integer == 42)
    }

    @Test("What is missing or something else stays empty") func empty() throws {
        #expect(Status(try JSON(Array("{}".utf8))) == Status())
        let odd = "{\"rate\":\"fast\",\"threads\":-1,\"blocks\":-5,\"dropouts\":{\"x\":1,\"node\":2},\"degraded\":[1]}"
        let status = Status(try JSON(Array(odd.utf8)))
        #expect(status.rate == 0 && status.blocks == 0 && status.dropouts == [.node: 2] && status.degraded.isEmpty)
        #expect(Status(try JSON(Array("{\"load\":1,\"rate\":48000}".utf8))).rate == 48_000)
    }
}
