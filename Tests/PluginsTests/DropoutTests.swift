// SPDX-License-Identifier: Apache-2.0
import Drivers
import Glibc
import NodeKit
import Synchronization
import TestSupport

@testable import Host

/// Dropouts that are made on purpose, on a real server and a real thread: each is put down to its cause.
@Suite("Causes of dropouts", .serialized, .timeLimit(.minutes(5)))
struct DropoutTests {
    private static let graph = """
        [graph]
        name = "late"
        links = ["mic -> gain -> slow -> second -> meter -> out"]
        [node.mic]
        type = "input"
        channels = 1
        [node.gain]
        type = "gain"
        [node.slow]
        type = "slow"
        [node.second]
        type = "slow"
        [node.meter]
        type = "meter"
        [node.out]
        type = "output"
        channels = 1

        """

    private func folder() throws -> Scratch {
        let scratch = try Scratch()
        try buildFixture("slow", in: scratch)
        try scratch.write("graph.conf", Self.graph)
        return scratch
    }

    private func host(_ scratch: Scratch, on server: Jackd) async throws -> Host {
        let host = Host(plugins: PluginSearch(folders: [.init(scratch.path)]))
        try await host.load(scratch.file("graph.conf"))
        try await host.run(DriverRequest(kind: .jack, client: "late", server: server.name))
        try await eventually("cycles come") { await host.status.map { $0.blocks > 100 } ?? false }
        return host
    }

    /// Waits for such a dropout; what came instead is told.
    private func dropout(
        _ host: Host, _ what: String, _ isWanted: @escaping @Sendable (Dropout) -> Bool
    ) async throws -> Dropout {
        do {
            try await eventually(what) { await host.dropouts.contains(where: isWanted) }
        } catch {
            Issue.record("\(await host.dropouts)")
            throw error
        }
        return try #require(await host.dropouts.first(where: isWanted))
    }

    @Test("A node that is slow is named, with how long it took", arguments: [true, false])
    func slowNode(synchronous: Bool) async throws {
        let scratch = try folder()
        let server = try await Jackd.start(synchronous: synchronous)
        let host = try await host(scratch, on: server)
        let events = host.subscribe(.lossless) { if case .event = $0 { true } else { false } }
        try await host.set("second", "blocks", to: 40)
        let dropout = try await dropout(host, "it is named") {
            $0.cause == .node && $0.nodes == ["second"] && $0.took > 39 * $0.period
        }
        #expect(dropout.usual < dropout.took && dropout.busy >= dropout.took)
        #expect(dropout.position > 0)
        #expect(dropout.text.hasPrefix("node 'second' took "))
        #expect(await host.dropouts.allSatisfy { $0.nodes != ["slow"] || $0.took < 39 * $0.period })
        try await eventually("it is told") {
            while let published = events.poll() {
                if case .event(let event) = published, event.name == "dropout", event.node == "second" {
                    return event.fields["cause"] == SettingValue.string("node")
                }
            }
            return false
        }
        let result = try #require(await host.stop())
        #expect((result.status.dropouts[.node] ?? 0) > 0)
        #expect(result.timings.first { $0.node == "second" }.map { $0.maximum > 39 * 256.0 / 48000 } == true)
        #expect(result.timings.first { $0.node == "slow" }.map { $0.p99 <= $0.maximum && $0.minimum > 0 } == true)
        server.stop()
    }

    @Test("A dropout has the time of the graph, also after the server came back at another rate")
    func anotherRate() async throws {
        let scratch = try folder()
        let server = try await Jackd.start()
        let host = try await host(scratch, on: server)
        server.crash()
        try server.restart(rate: 192_000, block: 1024)
        try await eventually("the new rate") {
            await host.status.map { $0.rate == 192_000 && $0.state == "running" } ?? false
        }
        let events = host.subscribe(.lossless) { if case .event = $0 { true } else { false } }
        let before = try #require(await host.status?.time)
        try await host.set("second", "blocks", to: 40)
        try await eventually("it is told") {
            while let published = events.poll() {
                guard case .event(let event) = published, event.name == "dropout", event.node == "second" else {
                    continue
                }
                let now = await host.status?.time ?? 0
                #expect(event.time >= before && event.time <= now, "\(event.time) is not in \(before)...\(now)")
                return true
            }
            return false
        }
        await host.stop()
        server.stop()
    }

    @Test("A program before us that stalls is blamed, and no node of ours", arguments: [true, false])
    func stalledUpstream(synchronous: Bool) async throws {
        let scratch = try folder()
        let server = try await Jackd.start(synchronous: synchronous)
        let host = try await host(scratch, on: server)
        let peer = try JackPeer("upstream", server: server, plays: [[1]])
        #expect(peer.connect("upstream:out_1", "late:mic_1"))
        let cycles = peer.cycles
        try await eventually("the server has ordered its graph") { peer.cycles > cycles + 20 }
        peer.stall(milliseconds: 400)
        let dropout = try await dropout(host, "the upstream is blamed") { $0.cause == .upstream && $0.took > 0.3 }
        #expect(dropout.text.contains("not triggered by the server/upstream"))
        #expect(dropout.nodes.isEmpty && dropout.busy < dropout.took)
        #expect(await host.dropouts.allSatisfy { $0.cause != .node || $0.took < 0.3 })
        peer.close()
        await host.stop()
        server.stop()
    }

    @Test("A server that stands still is blamed, where there is nobody else")
    func stoppedServer() async throws {
        let scratch = try folder()
        let server = try await Jackd.start()
        let host = try await host(scratch, on: server)
        server.hang()
        try await eventually("the hang is noticed") { await host.status?.state == "stalled" }
        server.unhang()
        let dropout = try await dropout(host, "the server is blamed") { $0.cause == .server && $0.took > 0.3 }
        #expect(dropout.text.hasPrefix("not triggered by the server in time: it was "))
        // There is no program before this one, nor any other.
        #expect(await host.dropouts.allSatisfy { ![.upstream, .elsewhere].contains($0.cause) })
        #expect(await host.dropouts.allSatisfy { $0.cause != .node || $0.took < 0.3 })
        await host.stop()
        server.stop()
    }

    /// A graph on a timer, unless told otherwise, pumped by the caller.
    private func timed(_ scratch: Scratch, on driver: (any Driver)? = nil) throws -> RunningGraph {
        let registry = NodeRegistry(search: PluginSearch(folders: [.init(scratch.path)]))
        let prepared = try PreparedGraph.load(path: scratch.file("graph.conf"), registry: registry).0
        return try RunningGraph.start(
            try #require(prepared), on: driver ?? TimerDriver(name: "late", rate: 48000, block: 256))
    }

    @Test("Without a server, too, the slow node is named")
    func slowNodeOnTimer() async throws {
        let graph = try timed(try folder())
        func pumped(_ what: String, _ condition: @escaping @Sendable () -> Bool) async throws {
            try await eventually(what) {
                graph.pump()
                return condition()
            }
        }
        try await pumped("cycles come") { graph.status.blocks > 50 }
        try graph.set("slow", "blocks", to: 30)
        try await pumped("it is named") {
            graph.losses.dropouts.recent.contains { $0.nodes == ["slow"] && $0.took > 29 * $0.period && $0.xruns > 0 }
        }
        #expect(graph.status.scheduling.policy != .unknown)
        graph.stop()
    }

    @Test("The time of a slow node is known offline as well, where no cycle is late")
    func offline() throws {
        let scratch = try folder()
        let registry = NodeRegistry(search: PluginSearch(folders: [.init(scratch.path)]))
        let prepared = try PreparedGraph.load(path: scratch.file("graph.conf"), registry: registry).0
        let driver = OfflineDriver(rate: 48000, maxBlock: 256)
        let graph = try RunningGraph.start(try #require(prepared), on: driver)
        try graph.set("slow", "blocks", to: 30)
        for _ in 0..<20 {
            driver.process(frames: 256)
            graph.pump()
        }
        #expect(graph.timings.max { $0.maximum < $1.maximum }?.node == "slow")
        #expect(graph.losses.dropouts.recent.isEmpty && graph.status.dropouts.isEmpty)
        graph.stop()
    }

    @Test(
        "When others have the processor, nobody else is blamed", .enabled(if: mayPreempt), arguments: [true, false])
    func preempted(onServer: Bool) async throws {
        let scratch = try folder()
        let server = onServer ? try await Jackd.start() : nil
        let driver = try server.map {
            try DriverChooser.open(DriverRequest(kind: .jack, client: "late", server: $0.name))
        }
        let graph = try timed(scratch, on: driver)
        try await eventually("cycles come") {
            graph.pump()
            return graph.status.blocks > 50
        }
        let audio = graph.driver.audioThread
        try await eventually("the scheduler is blamed") {
            let over = Atomic(false)
            together({
                // Where it does not run, the wait ends without what is waited for.
                do { try hog(beside: audio, seconds: 0.08) } catch { Issue.record(error) }
                over.store(true, ordering: .releasing)
            }) {
                while !over.load(ordering: .acquiring) {
                    graph.pump()
                    usleep(5_000)
                }
            }
            graph.pump()
            return graph.losses.dropouts.recent.contains { $0.cause == .scheduling && $0.took > 0.04 }
        }
        #expect(graph.losses.dropouts.recent.allSatisfy { $0.cause != .node || $0.took < 0.04 })
        graph.stop()
        server?.stop()
    }
}

/// Whether a thread of this process may have more priority than an audio thread, and another processor is left.
private let mayPreempt: Bool = {
    var parameter = sched_param(sched_priority: 80)
    var old = sched_param()
    let policy = sched_getscheduler(0)
    sched_getparam(0, &old)
    guard sched_setscheduler(0, SCHED_FIFO, &parameter) == 0 else { return false }
    sched_setscheduler(0, policy, &old)
    return sysconf(Int32(_SC_NPROCESSORS_ONLN)) > 1
}()

/// Keeps a processor, the only one that `thread` may use meanwhile, busy with more priority than that has.
private func hog(beside thread: Int32, seconds: Double) throws {
    try run("taskset", ["-p", "-c", "0", "\(thread)"])
    let busy = "end=$(( $(date +%s%N) + \(Int(seconds * 1e9)) )); while [ $(date +%s%N) -lt $end ]; do :; done"
    try run("chrt", ["-f", "80", "taskset", "-c", "0", "sh", "-c", busy])
}
