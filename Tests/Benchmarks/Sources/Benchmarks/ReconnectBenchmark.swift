// SPDX-License-Identifier: Apache-2.0
import CRealtime
import Glibc
import Host

/// A JACK server is killed and another one takes its place: how long until the graph plays there again, beside a client
/// that does nothing but begin then. Peers end, or stay without sound, and come back with neither.
func reconnectBenchmark(_ effort: Effort) throws -> [Row] {
    let scratch = try Scratch()
    let graph = try scratch.file("small.conf", chainText(name: "vg-back", count: 1, "type = \"gain\""))
    guard program("jackd") != nil else { return [.missing("killed server", "jackd")] }
    var (noticed, back, bare): ([Double], [Double], [Double]) = ([], [], [])
    for turn in 0..<(effort.isQuick ? 3 : 15) {
        progress("server \(turn)")
        guard let first = try Server(effort) else { return [] }
        // Until it answers.
        try Probe(first).close()
        let running = try Child(
            [effort.command, "run", graph, "--driver", "jack", "--server", effort.server, "--json"])
        defer { running.stop() }
        guard running.wait(for: "\"event\":\"running\"", seconds: 10) != nil else {
            throw BenchmarkError("no cycle: \(running.lastLines)")
        }
        let killed = vg_nanoseconds()
        first.kill()
        guard let lost = running.wait(for: "\"event\":\"server.lost\"", seconds: 20) else {
            throw BenchmarkError("the server's end is not noticed: \(running.lastLines)")
        }
        noticed.append((Double(running.started) + lost - Double(killed)) / 1e6)
        guard let second = try Server(effort) else { return [] }
        let probe = try Probe(second)
        while probe.cycles == 0 { usleep(200) }
        let answers = vg_nanoseconds()
        guard let returned = running.wait(for: "\"event\":\"server.back\"", seconds: 20) else {
            throw BenchmarkError("the graph does not come back: \(running.lastLines)")
        }
        bare.append(Double(answers - second.started) / 1e6)
        back.append((Double(running.started) + returned - Double(second.started)) / 1e6)
        probe.close()
        second.stop()
    }
    func rows(_ what: String, _ samples: [Double]) -> Row {
        Row("killed server", "\(what) (max \(short(samples.max() ?? .nan)))", samples, "ms")
    }
    return [
        rows("until its end is noticed", noticed),
        rows("from the next one's start until the graph plays", back),
        rows("from its start until a bare client plays", bare),
    ]
}
