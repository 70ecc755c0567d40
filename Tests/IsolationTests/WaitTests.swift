// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import NodeKit
import Realtime
import System
import Testing

@testable import Isolation

/// Who waits for whom, and what is lost when nobody can wait.
@Suite(.serialized, .timeLimit(.minutes(10))) struct WaitTests {
    @Test("Whether a node is idle is told by its process")
    func idle() throws {
        let node = try LoneNode()
        #expect(node.instance.askIdle())
        // From the message on, although the process has not taken it yet.
        node.tell("busy")
        #expect(!node.instance.askIdle())
        usleep(50_000)
        #expect(!node.instance.askIdle())
        node.tell("rest")
        try waitUntil("it is idle") { node.instance.askIdle() }
    }

    @Test("A child's audio thread is a realtime thread before its first block, and offline it is none")
    func scheduling() throws {
        /// How its audio threads run.
        func policies(_ node: LoneNode) throws -> [Int32] {
            let tasks = "/proc/\(try #require(node.process))/task"
            return try FileManager.default.contentsOfDirectory(atPath: tasks).filter { task in
                (try? String(contentsOfFile: "\(tasks)/\(task)/comm", encoding: .utf8)) == "vg-isolated\n"
            }.map { sched_getscheduler(try #require(pid_t($0))) & ~0x4000_0000 }
        }
        var parameter = sched_param(sched_priority: 1)
        let isAllowed = sched_setscheduler(0, SCHED_FIFO, &parameter) == 0
        parameter.sched_priority = 0
        sched_setscheduler(0, SCHED_OTHER, &parameter)
        #expect(try policies(try LoneNode()) == [isAllowed ? SCHED_FIFO : SCHED_OTHER])
        #expect(try policies(try LoneNode(offline: true)) == [SCHED_OTHER])
    }

    @Test("Offline a message and an action are done when the call returns")
    func offline() throws {
        let node = try LoneNode(offline: true)
        for number in 1...50 {
            node.tell("remember \(number)")
            node.tell("who")
            #expect(node.events("who").last?.fields["remembered"] == .integer(Int64(number)))
            node.tell("busy")
            #expect(!node.instance.askIdle())
            let preset = node.begin("preset", ["preset": .string("3")])
            node.instance.drain()
            node.tell("rest")
            #expect(node.instance.askIdle() && preset.withLock { $0 != nil })
        }
    }

    @Test("While a process hangs, nothing that the host asks waits for it, and other nodes are as quick as ever")
    func hanging() throws {
        let policy = testPolicy { $0.patience = 3 }
        let (hung, other) = (try LoneNode(policy), try LoneNode(policy))
        let loop = hung.begin("property", ["key": .string("word"), "value": .string("loop")])
        let later = hung.begin("property", ["key": .string("word")])
        for _ in 0..<100 {
            hung.instance.poll()
            #expect(!hung.instance.askIdle())
            #expect(hung.instance.latency == 0)
            hung.tell("remember 5")
            _ = try other.perform("host")
            try other.set("mood", "bright")
        }
        // All that was while it hung.
        #expect(loop.withLock { $0 == nil } && hung.events("plugin.failed").isEmpty)
        try waitUntil("it is ended") { loop.withLock { $0 != nil } && later.withLock { $0 != nil } }
        let error = #expect(throws: NodeError.self) { try loop.withLock { $0 }?.get() }
        #expect(error?.message == "libvg-unruly.so hung in the action 'property': no answer within 3 s")
        try waitUntil("it is back") { !hung.events("plugin.started").isEmpty }
        #expect(other.events("plugin.failed").isEmpty)
    }

    @Test("A setting that hangs keeps only its own node waiting")
    func hangingSetting() throws {
        let policy = testPolicy { $0.patience = 3 }
        let (hung, other) = (try LoneNode(policy), try LoneNode(policy))
        let result = Lock<NodeError??>(nil)
        hung.instance.set("mood", to: .string("loop")) { error in result.withLock { $0 = .some(error) } }
        for _ in 0..<50 {
            hung.instance.pollIfFree()
            #expect(!hung.instance.isIdle)
            #expect(hung.instance.post(.text("remember 5"), port: 0))
            try other.set("mood", "bright")
        }
        #expect(result.withLock { $0 == nil })
        try waitUntil("it is ended") { result.withLock { $0 != nil } }
        let message = (result.withLock { $0 } ?? nil)?.message
        #expect(message == "libvg-unruly.so hung in the setting 'mood': no answer within 3 s")
        // What came meanwhile is heard by the next process; the setting that ended the last one is not tried again.
        try waitUntil("it is back") { try node(hung, remembers: 5) }
        #expect(try hung.who()["history"] == .string(""))
    }

    private func node(_ node: LoneNode, remembers number: Int64) throws -> Bool {
        guard !node.events("plugin.started").isEmpty else { return false }
        return try node.who()["remembered"] == .integer(number)
    }

    @Test("Nodes of a group share a process, and each has its own calls")
    func group() throws {
        let first = try LoneNode(isGroup: true)
        let second = try LoneNode(groupOf: first)
        let later = first.begin("later")
        _ = try second.perform("preset", ["preset": .string("3")])
        #expect(try first.who()["process"] == second.who()["process"])
        #expect(try second.who()["history"] == .string("preset 3") && first.who()["history"] == .string(""))
        first.tell("release")
        try waitUntil("it ends") { later.withLock { $0 != nil } }
        try first.crash()
        #expect(try second.who()["history"] == .string("preset 3"))
    }

    @Test("Messages for a process that is away are kept in their order, and those that are too many counted")
    func lostMessages() throws {
        let node = try LoneNode(
            testPolicy {
                $0.firstPause = 2
                $0.longestPause = 2
            })
        // The first restart comes at once; before the second there is a pause.
        try node.crash()
        kill(try #require(node.process), SIGKILL)
        try waitUntil("it is gone") { node.process == nil && node.events("plugin.failed").count == 2 }
        for number in 1...300 { node.tell("remember \(number)") }
        try waitUntil("it is back") { node.events("plugin.started").count == 2 }
        let kept = IsolatedInstance.mostMessages
        #expect(try node.who()["remembered"] == .integer(Int64(kept)))
        #expect(node.told.withLock { $0.counters["lost messages"] } == UInt64(300 - kept))
        #expect(node.told.withLock { $0.lines.count { $0.hasPrefix("messages are lost") } } == 1)
    }

    @Test("A frame of which a part was sent is sent whole, and no other comes into its middle")
    func parts() throws {
        var ends: [Int32] = [-1, -1]
        #expect(vg_channel_open(&ends))
        let (writer, reader) = (Channel(ends[0]), Channel(ends[1]))
        var long = FrameWriter(.log, node: 1)
        long.put(String(repeating: "x", count: 3_000_000))
        #expect(writer.send(long, milliseconds: 0))
        // Nobody reads: nothing else can be sent.
        #expect(!writer.send(FrameWriter(.poll, node: 2), milliseconds: 1))
        let isDone = Lock(false)
        let flusher = try SystemThread(name: "flusher") {
            while !isDone.withLock({ $0 }) {
                writer.flush()
                usleep(100)
            }
        }
        var first = reader.receive()
        #expect(first?.node == 1 && first?.text().count == 3_000_000)
        isDone.withLock { $0 = true }
        flusher.join()
        #expect(writer.send(FrameWriter(.poll, node: 3), milliseconds: 0))
        #expect(reader.receive()?.node == 3)
    }

    @Test("What a process cannot tell because nobody reads is counted, and told when somebody does")
    func lostEvents() throws {
        var ends: [Int32] = [-1, -1]
        #expect(vg_channel_open(&ends))
        let (channel, reader) = (Channel(ends[0]), Channel(ends[1]))
        let line = ChildLine(5, channel)
        var long = FrameWriter(.publish, node: 5)
        long.put([UInt8](repeating: 0, count: 100_000))
        var (sent, lost) = (0, 0)
        while lost < 3 {
            if line.tell(long, orCount: "lost events", milliseconds: 0) { sent += 1 } else { lost += 1 }
        }
        line.services { HostFacts() }.count?("dropped", 4)
        for number in 0..<sent {
            #expect(reader.receive()?.kind == .publish, "\(number)")
            channel.flush()
        }
        line.tellLosses()
        var told: [String: UInt64] = [:]
        for _ in 0..<2 {
            var frame = try #require(reader.receive())
            #expect(frame.kind == .count && frame.node == 5)
            told[frame.text()] = frame.number(UInt64.self)
        }
        #expect(told == ["lost events": 3, "dropped": 4])
        line.tellLosses()
        #expect(!reader.wait(milliseconds: 0))
    }
}
