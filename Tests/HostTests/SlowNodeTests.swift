// SPDX-License-Identifier: Apache-2.0
import Drivers
import GraphFile
import NodeKit
import Realtime
import System
import TestSupport

@testable import Host

/// What a node that takes its time does to all the others: nothing. On a timer, so that rounds come as they do live.
@Suite(.serialized, .timeLimit(.minutes(2))) struct SlowNodeTests {
    private func host(_ poll: Double) async throws -> (Host, Subscription, Scratch) {
        let scratch = try Scratch()
        let host = Host(registry: testRegistry)
        let frames = host.subscribe(.lossless) {
            if case .frame(let frame) = $0 { frame.node == "meter" } else { false }
        }
        try await host.load(
            scratch.write(
                "graph.conf",
                """
                [graph]
                name = "slow-node"
                links = ["tone -> slow", "tone -> meter"]
                [node.tone]
                type = "tone"
                [node.slow]
                type = "slow"
                poll = \(poll)
                [node.meter]
                type = "meter"
                [node.agent]
                type = "agent"
                """))
        try await host.run(DriverRequest(kind: .dummy, client: "slow-node"))
        return (host, frames, scratch)
    }

    /// The longest gap between two frames of the meter, and the longest wait for a status, in seconds, while `body` runs.
    private func measure(
        _ host: Host, _ frames: Subscription, _ body: @escaping @Sendable () async throws -> Void
    ) async throws -> (gap: Double, status: Double) {
        try await eventually("levels come") { frames.poll() != nil }
        _ = frames.drain()
        let reader = Task {
            var (last, longest) = (monotonicSeconds(), 0.0)
            while await frames.next() != nil, !Task.isCancelled {
                longest = max(longest, monotonicSeconds() - last)
                last = monotonicSeconds()
            }
            return longest
        }
        let asker = Task {
            var longest = 0.0
            while !Task.isCancelled {
                let start = monotonicSeconds()
                _ = await host.status
                longest = max(longest, monotonicSeconds() - start)
                try? await Task.sleep(for: .milliseconds(5))
            }
            return longest
        }
        try await body()
        asker.cancel()
        frames.cancel()
        return (await reader.value, await asker.value)
    }

    @Test("While an action of one node takes 5 s, levels, messages and status of all others come as ever") func action()
        async throws
    {
        let turn = try await JackTurn.wait()
        let (host, frames, _) = try await host(0)
        let measured = try await measure(host, frames) {
            let seconds = 5 * crowd()
            async let slow: [String: SettingValue] = host.perform(
                "sleep", on: "slow", ["seconds": .number(seconds)], patience: 4 * seconds)
            try await eventually("it sleeps") { try await host.isBusy("slow") }
            for number in 0..<20 {
                try await host.send(.text("\(number)"), to: "agent", port: "text")
                try await Task.sleep(for: .milliseconds(50))
            }
            let words = try await host.perform("remember", on: "agent")
            #expect(words["words"] == .string((0..<20).map(String.init).joined(separator: " ")))
            #expect(try await host.isBusy("slow"), "all that was done while it slept")
            // Its own calls wait, and one that would wait too long is given up without being begun.
            let late = await #expect(throws: Fault.self) {
                try await host.perform("sleep", on: "slow", ["seconds": .number(0)], patience: 0.2)
            }
            #expect(late?.message == "node 'slow': it does not answer 'sleep' in time")
            #expect(late?.hint == "it is busy with the action 'sleep'; it was not begun, and is given up")
            _ = try await slow
        }
        print(
            "longest gap between levels \(Int(measured.gap * 1000)) ms, longest wait for status \(Int(measured.status * 1000)) ms (aims: 50)"
        )
        // Ten times the aim: the machine may do other things as well.
        #expect(max(measured.gap, measured.status) < 0.5 * crowd())
        await host.close()
        turn.end()
    }

    @Test(
        "A node that does not come back while it is added costs its edit alone",
        arguments: ["create", "prepare", "activate"])
    func hangingEdit(call: String) async throws {
        let turn = try await JackTurn.wait()
        let (host, _, _) = try await host(0)
        let nodes = await host.description?.nodes.map(\.name)
        await host.allow(NodesInMaking.Patience(alone: 0.2, awaited: 0.2))
        let error = await #expect(throws: Fault.self) {
            try await host.add(
                NodeDescription(name: "stuck", type: "hanging", entries: ["call": Entry(.string(call))]))
        }
        #expect(error?.message == "node 'stuck' was not ready within 1 s, and nothing was changed")
        #expect(await host.description?.nodes.map(\.name) == nodes)
        await host.allow(NodesInMaking.Patience(alone: 600, awaited: 600))
        // Others go on, also one of the same name.
        try await host.add(NodeDescription(name: "more", type: "gain"))
        try await host.add(NodeDescription(name: "stuck", type: "gain"))
        try await host.link("tone -> stuck")
        #expect(await host.description?.nodes.map(\.name) == (nodes ?? []) + ["more", "stuck"])
        // What comes back late is let go.
        Hanging.isOpen.withLock { $0 = true }
        Hanging.isOpen.signal()
        try await host.remove("stuck")
        await host.close()
        Hanging.isOpen.withLock { $0 = false }
        turn.end()
    }

    @Test("A node that takes its time is waited for as long as no other edit waits") func awaitedEdit() async throws {
        let turn = try await JackTurn.wait()
        let (host, _, _) = try await host(0)
        await host.allow(NodesInMaking.Patience(alone: 600, awaited: 0.2))
        let stuck = Task {
            try await host.add(
                NodeDescription(name: "stuck", type: "hanging", entries: ["call": Entry(.string("create"))]))
        }
        try await eventually("it is made") { Hanging.count.withLock { $0 > 0 } }
        try await host.add(NodeDescription(name: "more", type: "gain"))
        await #expect(throws: Fault.self) { _ = try await stuck.value }
        Hanging.isOpen.withLock { $0 = true }
        Hanging.isOpen.signal()
        await host.close()
        Hanging.isOpen.withLock { $0 = false }
        turn.end()
    }

    @Test("A node whose polls hang keeps nobody from being polled, and the graph from ending") func polls() async throws
    {
        let turn = try await JackTurn.wait()
        let (host, frames, _) = try await host(1.5)
        let measured = try await measure(host, frames) { try await Task.sleep(for: .seconds(3)) }
        print(
            "longest gap between levels \(Int(measured.gap * 1000)) ms, longest wait for status \(Int(measured.status * 1000)) ms (aims: 50)"
        )
        #expect(max(measured.gap, measured.status) < 0.5 * crowd())
        await host.close()
        turn.end()
    }

    @Test("An edit goes on while another node's action takes its time, and the node that goes ends when it is done")
    func edits() async throws {
        let turn = try await JackTurn.wait()
        let (host, _, _) = try await host(0)
        let isOver = Lock(false)
        let seconds = 1.5 * crowd()
        let slow = Task {
            let answer = try await host.perform(
                "sleep", on: "slow", ["seconds": .number(seconds)], patience: 10 * seconds)
            isOver.withLock { $0 = true }
            return answer
        }
        try await eventually("it sleeps") { try await host.isBusy("slow") }
        try await host.mute("tone")
        try await host.remove("slow")
        #expect(isOver.withLock { !$0 })
        _ = try await slow.value
        await host.close()
        turn.end()
    }
}

/// A server that comes back with another format while a node is busy.
@Suite(.serialized, .timeLimit(.minutes(2))) struct BusyFormatTests {
    @Test("A server that is back at another rate finds all but the busy node playing, and that one when it is done")
    func otherRate() async throws {
        let server = try await Jackd.start(rate: 48_000, block: 128)
        let scratch = try Scratch()
        let host = Host(registry: testRegistry)
        let frames = host.subscribe(.latest) { if case .frame = $0 { true } else { false } }
        try await host.load(
            scratch.write(
                "graph.conf",
                """
                [graph]
                name = "busy-format"
                links = ["tone -> slow -> behind", "tone -> beside"]
                [node.tone]
                type = "tone"
                [node.slow]
                type = "slow"
                [node.behind]
                type = "meter"
                [node.beside]
                type = "meter"
                """))
        try await host.run(DriverRequest(kind: .jack, client: "busy-format", server: server.name))
        let heard = Heard()
        try await eventually("both meters show the tone") {
            heard.take(frames)
            return heard.isLoud("behind") && heard.isLoud("beside")
        }
        let before = try #require(await host.status).time
        let slow = Task { try await host.perform("sleep", on: "slow", ["seconds": .number(6)], patience: 20) }
        try await eventually("it sleeps") { try await host.isBusy("slow") }
        server.crash()
        try await eventually("the loss is noticed") { await host.status?.state == "lost" }
        let lost = try #require(await host.status).time
        #expect(lost >= before)
        try server.restart(rate: 44_100, block: 256)
        try await eventually("it plays at the new rate, without the busy node") {
            guard let status = await host.status else { return false }
            return status.state == "running" && status.rate == 44_100
                && status.degraded["slow"] != nil
        }
        #expect(try await host.isBusy("slow"))
        // What was shown before the loss does not count.
        _ = frames.drain()
        heard.forget()
        try await eventually("what is beside the busy node is heard, and what comes to it is passed by it") {
            heard.take(frames)
            return heard.isLoud("beside") && heard.isLoud("behind")
        }
        #expect(try await host.isBusy("slow"))
        let back = try #require(await host.status)
        #expect(back.time >= lost && back.time < lost + 20, "\(lost) s, then \(back.time) s")
        #expect(back.degraded.keys.sorted() == ["slow"])
        _ = try await slow.value
        try await eventually("the node plays again when it is done") { await host.status?.degraded.isEmpty == true }
        #expect(try await host.isPrepared("slow"))
        await host.close()
        server.stop()
    }
}

/// The newest peak that each meter showed.
private final class Heard: Sendable {
    private let peaks = Lock<[String: Float]>([:])

    func take(_ frames: Subscription) {
        while case .frame(let frame)? = frames.poll() { peaks.withLock { $0[frame.node] = frame.peak[0] } }
    }

    func forget() { peaks.withLock { $0 = [:] } }
    func isLoud(_ node: String) -> Bool { peaks.withLock { $0[node] ?? 0 } > 0.05 }
}

extension Host {
    func isBusy(_ node: String) throws -> Bool { try graph().instance(node).isBusy }
    fileprivate func isPrepared(_ node: String) throws -> Bool { try graph().instance(node).isPrepared }
}

extension Host {
    /// How long the nodes of an edit may take to be made.
    fileprivate func allow(_ time: NodesInMaking.Patience) { patience = time }
}
