// SPDX-License-Identifier: Apache-2.0
import CRealtime
import Drivers
import Glibc
import Host
import Isolation

/// What a process of its own costs a node: a block of 128 frames through tremolos in a row, in the host, in a process
/// each, and all in one; and how long a node is away after its process was killed.
func isolationBenchmark(_ effort: Effort) throws -> [Row] {
    let folder = effort.command.lastIndex(of: "/").map { String(effort.command[..<$0]) } ?? "."
    var policy = IsolationPolicy(command: [effort.command, "isolated-child"])
    policy.calm = 0  // so that every restart is the first
    Isolation.shared.use(policy)
    let scratch = try Scratch()
    func player(_ count: Int, _ isolate: String) throws -> Player {
        let text = chainText(name: "vg-isolated", count: count, "type = \"tremolo\"\n" + isolate)
        return try Player(
            try scratch.file("\(count)-\(isolate.filter(\.isLetter)).conf", text), plugins: .standard(extra: [folder]))
    }
    let counts = [1, 4]
    var players: [Player] = []
    for count in counts {
        players += try ["", "isolate = true", "isolate = \"group\""].map { try player(count, $0) }
    }
    let blocks = effort.isQuick ? 300 : 2000
    let samples = try interleaved(effort.repetitions, players.map { player in { player.play(blocks) / 1000 } })
    var rows: [Row] = []
    for (place, count) in counts.enumerated() {
        let (own, alone, group) = (samples[place * 3], samples[place * 3 + 1], samples[place * 3 + 2])
        let item = count == 1 ? "1 node" : "\(count) nodes in a row"
        rows.append(Row(item, "in the host", own, "us/block"))
        let trip = zip(alone, own).map { ($0 - $1) / Double(count) }
        rows.append(Row(item, "isolate = true, each beyond that", trip, "us/block"))
        rows.append(
            Row(
                item, "isolate = \"group\", each beyond that", zip(group, own).map { ($0 - $1) / Double(count) },
                "us/block"))
        if count == 1 {
            rows[rows.count - 2] = rows[rows.count - 2].aiming("<= 30", Spread(trip).median <= 30)
        }
    }
    let away = try (0..<effort.runs).map { _ in try players[1].restart() / 1e6 }
    rows.append(
        Row("killed, until heard again", "isolate = true", away, "ms").aiming("< 300", Spread(away).median < 300))
    return rows
}

/// A graph that is played block by block.
private final class Player {
    private let registry: NodeRegistry
    private let graph: RunningGraph
    private let driver = OfflineDriver(rate: 48000, maxBlock: 128)
    private let events: Subscription

    init(_ file: String, plugins: PluginSearch) throws {
        registry = NodeRegistry(search: plugins)
        let (prepared, diagnostics) = try PreparedGraph.load(path: file, registry: registry)
        guard let prepared else { throw BenchmarkError("\(file): \(diagnostics)") }
        events = prepared.bus.subscribe(.bounded(64)) {
            if case .event(let event) = $0 { event.name == "plugin.started" } else { false }
        }
        graph = try RunningGraph.start(prepared, on: driver)
    }

    deinit { graph.stop() }

    /// Nanoseconds for a block, on average: of the clock, since other processes work too.
    func play(_ blocks: Int) -> Double {
        nanoseconds { for _ in 0..<blocks { driver.process(frames: 128) } } / Double(blocks)
    }

    /// Nanoseconds from the end of the process until the node runs again.
    func restart() throws -> Double {
        guard let process = registry.isolator.children.first?.process else { throw BenchmarkError("no process") }
        usleep(300_000)  // until a spare process waits, as it does when a node has run for a while
        let start = vg_nanoseconds()
        kill(process, SIGKILL)
        while vg_nanoseconds() - start < 10_000_000_000 {
            driver.process(frames: 128)
            if events.poll() != nil { return Double(vg_nanoseconds() - start) }
            usleep(500)
        }
        throw BenchmarkError("the node did not come back")
    }
}
