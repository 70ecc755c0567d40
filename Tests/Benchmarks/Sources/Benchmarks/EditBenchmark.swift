// SPDX-License-Identifier: Apache-2.0
import CRealtime
import Drivers
import Glibc
import Host

/// A graph that changes while it plays on a JACK server: how long after the call the change begins to be heard, and how
/// long until it is wholly there; and what a reload of a thousand nodes takes, of which one is another.
func editBenchmark(_ effort: Effort) throws -> [Row] {
    let scratch = try Scratch()
    let rows = try withServer(effort) { server, probe in
        try finish { try await editRows(effort, scratch, server, probe) }
    }
    return rows ?? [.missing("edits", "jackd")]
}

private func editRows(
    _ effort: Effort, _ scratch: Scratch, _ server: Server, _ probe: Probe
) async throws -> [Row] {
    let host = Host()
    let small = try scratch.file("edit.conf", chainText(name: "vg-edit", count: 1, "type = \"gain\""))
    try await start(host, small, server)
    probe.play(0.25)
    guard probe.connect("\(probe.name):out", "vg-edit:in_1", seconds: 5),
        probe.connect("vg-edit:out_1", "\(probe.name):in", seconds: 5), probe.change(seconds: 5) != nil
    else { throw BenchmarkError("nothing is heard of the graph") }
    var (began, ended, answered): ([Double], [Double], [Double]) = ([], [], [])
    for turn in 0..<(effort.isQuick ? 10 : 50) {
        progress("edit \(turn)")
        probe.listen()
        let called = vg_nanoseconds()
        if turn % 2 == 0 {
            _ = try await host.link("in -> out")
        } else {
            _ = try await host.unlink("in -> out")
        }
        answered.append(Double(vg_nanoseconds() - called) / 1e6)
        guard let change = probe.change(seconds: 5) else { throw BenchmarkError("an edit is not heard") }
        began.append(Double(change.began - called) / 1e6)
        ended.append(Double(change.ended - called) / 1e6)
    }
    await host.stop()
    await host.close()
    return [
        Row("one link", "from the call until it begins to be heard", began, "ms"),
        Row("one link", "until its fade of 10 ms has ended", ended, "ms"),
        Row("one link", "until the call is answered", answered, "ms"),
    ] + (try await reloadRows(effort, scratch, server))
}

private func reloadRows(_ effort: Effort, _ scratch: Scratch, _ server: Server) async throws -> [Row] {
    let count = 1000
    func text(_ other: Int?, gain: Int = 0) -> String {
        let names = ["in"] + (0..<count).map { "n\($0)" } + ["out"]
        let links = zip(names, names.dropFirst()).map { "  \"\($0) -> \($1)\",\n" }.joined()
        var text = "[graph]\nname = \"vg-edit\"\nlinks = [\n\(links)]\n\n"
        text += "[node.in]\ntype = \"input\"\nchannels = 1\n\n[node.out]\ntype = \"output\"\nchannels = 1\n"
        for index in 0..<count {
            let gain = index == 0 ? gain : 0
            text +=
                "\n[node.n\(index)]\ntype = \"\(index == other ? "delay\"\nms = 1" : "gain\"\ngain_db = -\(gain)")\n"
        }
        return text
    }
    let path = try scratch.file("large.conf", text(nil))
    let host = Host()
    try await start(host, path, server)
    var (same, turned, changed): ([Double], [Double], [Double]) = ([], [], [])
    for turn in 0..<(effort.isQuick ? 4 : 20) {
        progress("reload \(turn)")
        func reload(_ text: String) async throws -> Double {
            _ = try scratch.file("large.conf", text)
            let called = vg_nanoseconds()
            _ = try await host.reload()
            return Double(vg_nanoseconds() - called) / 1e6
        }
        let other = turn % 2 == 0 ? 500 : nil
        changed.append(try await reload(text(other)))
        turned.append(try await reload(text(other, gain: 1)))
        same.append(try await reload(text(other, gain: 1)))
    }
    await host.stop()
    await host.close()
    return [
        Row("reload, 1000 nodes", "nothing is different", same, "ms"),
        Row("reload, 1000 nodes", "one parameter", turned, "ms"),
        Row("reload, 1000 nodes", "one node made anew, with its fades", changed, "ms"),
    ]
}

private func start(_ host: Host, _ path: String, _ server: Server) async throws {
    let diagnostics = try await host.load(path)
    guard diagnostics.isEmpty else { throw BenchmarkError(diagnostics.first?.message ?? path) }
    try await host.run(DriverRequest(kind: .jack, client: "vg-edit", server: server.name))
}
