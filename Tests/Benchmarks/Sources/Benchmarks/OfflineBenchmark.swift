// SPDX-License-Identifier: Apache-2.0
import Glibc
import Host

/// Plugins in a row that real sessions use.
private struct Chain {
    var name: String
    var channels: Int
    var plugins: [String]
}

private let chains = [
    Chain(name: "reverb: mda Ambience", channels: 2, plugins: ["http://drobilla.net/plugins/mda/Ambience"]),
    Chain(
        name: "master: mda Dynamics, Limiter", channels: 2,
        plugins: ["http://drobilla.net/plugins/mda/Dynamics", "http://drobilla.net/plugins/mda/Limiter"]),
    Chain(
        name: "organ: mda Overdrive, Leslie, Ambience", channels: 2,
        plugins: [
            "http://drobilla.net/plugins/mda/Overdrive", "http://drobilla.net/plugins/mda/Leslie",
            "http://drobilla.net/plugins/mda/Ambience",
        ]),
    Chain(
        name: "guitar: swh valve, triplePara", channels: 1,
        plugins: ["http://plugin.org.uk/swh-plugins/valve", "http://plugin.org.uk/swh-plugins/triplePara"]),
    Chain(name: "voice: swh triplePara", channels: 1, plugins: ["http://plugin.org.uk/swh-plugins/triplePara"]),
]

/// Files through plugins, beside lv2apply, which calls plugins frame by frame, and lv2file. Each of these runs one
/// plugin, so that a chain is as many of them, one after the other, with files between. What counts is processor time
/// of all processes, from the start to the end: reading, loading, running, writing.
func offlineBenchmark(_ effort: Effort) throws -> [Row] {
    let scratch = try Scratch()
    guard let sox = program("sox") else { return [.missing("chains", "sox")] }
    let seconds = effort.isQuick ? 10 : 60
    var rows: [Row] = []
    for chain in chains {
        let input = scratch.place("in-\(chain.channels).wav")
        let made = try Child([
            sox, "-R", "-n", "-r", "48000", "-c", "\(chain.channels)", "-e", "floating-point", "-b", "32", input,
            "synth", "\(seconds)", "pinknoise", "vol", "0.3",
        ])
        guard made.waitForEnd(seconds: 60) == 0 else { throw BenchmarkError("sox: \(made.lastLines)") }
        let steps = (0..<chain.plugins.count).map { scratch.place("step-\($0).wav") }
        let graph = try scratch.file("chain.conf", text(of: chain))

        /// Processor time of commands that run one after the other; nil: one of them fails.
        func cost(_ commands: [[String]]) throws -> Double? {
            var total = 0.0
            for command in commands {
                let child = try Child(command)
                guard child.waitForEnd(seconds: 300) == 0 else { return nil }
                total += child.processorTime
            }
            return total
        }
        func own(_ block: Int) -> [[String]] {
            [
                [
                    effort.command, "render", graph, "-o", steps[0], "--input", "in=\(input)", "--duration",
                    "\(seconds)", "--block", "\(block)",
                ]
            ]
        }
        func eachPlugin(_ command: (_ from: String, _ to: String, _ plugin: String) -> [String]) -> [[String]] {
            chain.plugins.indices.map { command($0 == 0 ? input : steps[$0 - 1], steps[$0], chain.plugins[$0]) }
        }
        // What is compared runs the plugins in the same blocks.
        var subjects: [(name: String, block: Int, peer: Int?, commands: [[String]])] = [
            ("voicegraph, blocks of 128", 128, nil, own(128)), ("voicegraph, blocks of 1", 1, nil, own(1)),
        ]
        if let path = program("lv2file") {
            subjects.append(
                ("lv2file, blocks of 128", 128, 0, eachPlugin { [path, "-b", "128", "-i", $0, "-o", $1, $2] }))
        }
        if let path = program("lv2apply") {
            subjects.append(("lv2apply, blocks of 1", 1, 1, eachPlugin { [path, "-i", $0, "-o", $1, $2] }))
        }
        progress(chain.name)
        var samples: [[Double]]
        do {
            samples = try interleaved(
                effort.isQuick ? 2 : 5,
                subjects.map { subject in
                    {
                        guard let time = try cost(subject.commands) else { throw BenchmarkError(subject.name) }
                        return time
                    }
                })
        } catch let error as BenchmarkError {
            rows.append(Row(chain.name, error.description, [], "does not run"))
            continue
        }
        for (index, subject) in subjects.enumerated() {
            let speeds = samples[index].map { Double(seconds) / $0 }
            var row = Row(chain.name, subject.name, speeds, "x real time")
            if let peer = subject.peer {
                row = row.compared(samples[peer], with: samples[index], "voicegraph's time")
            }
            rows.append(row)
        }
    }
    for peer in ["lv2file", "lv2apply"] where program(peer) == nil { rows.append(.missing("chains", peer)) }
    return rows
}

private func text(of chain: Chain) -> String {
    let names = ["in"] + chain.plugins.indices.map { "n\($0)" } + ["out"]
    var text = "[graph]\nname = \"chain\"\nlinks = [\"\(names.joined(separator: " -> "))\"]\n"
    for end in [("in", "input"), ("out", "output")] {
        text += "[node.\(end.0)]\ntype = \"\(end.1)\"\nchannels = \(chain.channels)\n"
    }
    for (index, plugin) in chain.plugins.enumerated() {
        text += "[node.n\(index)]\ntype = \"lv2\"\nplugin = \"\(plugin)\"\n"
    }
    return text
}
