// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc

/// A benchmark cannot do its work.
struct BenchmarkError: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}

/// How much is asked of one run.
struct Effort {
    var isQuick: Bool
    /// The command to measure.
    var command: String
    /// The name of the JACK servers that are started.
    var server: String

    /// Of what takes milliseconds.
    var repetitions: Int { isQuick ? 7 : 41 }
    /// Of what takes seconds.
    var runs: Int { isQuick ? 3 : 7 }
}

enum Benchmark: String, CaseIterable, ExpressibleByArgument {
    case schedule, program, parallel, instructions, ring, meter, dsp, isolation, chain, edit, reconnect, start, say,
        speech, hearing, conversation, record, archive, memory, offline, check

    var summary: String {
        switch self {
        case .schedule: "cost of a step, beyond what the node does"
        case .program: "closures, sources and taps of a Swift program, and its starts"
        case .parallel: "branches and a chain on two threads, beside one"
        case .instructions: "of the host around LV2 plugins, beside jalv and C"
        case .ring: "our ring beside a C11 ring and libjack's"
        case .meter: "peak and RMS beside a plain loop"
        case .dsp: "filters, dynamics and delays beside LV2 plugins of their kind"
        case .isolation: "a node in a process of its own beside one in the host"
        case .chain: "eg-amp in a row: one graph, one ecasound, one jalv each"
        case .edit: "a graph that changes while it plays: latency of edits, reload of 1000 nodes"
        case .reconnect: "from a JACK server's return until the graph plays again"
        case .start: "from the start of the process to the first audio cycle"
        case .speech: "speaking and listening, engine by engine: time, memory, word error rate"
        case .hearing: "noise, whose voice it is, wake words: what each node costs, and how often it errs"
        case .conversation: "from what is said to the reply; echo cancellers, engine by engine"
        case .record: "64 channels to a file, beside jack-record"
        case .archive: "100 000 items, kept and searched"
        case .say: "from a message to the first sound at the output"
        case .memory: "of a small graph that runs"
        case .offline: "files through plugins, beside lv2apply and lv2file"
        case .check: "of a file with 10 000 nodes"
        }
    }

    func run(_ effort: Effort) throws -> [Row] {
        switch self {
        case .schedule: try scheduleBenchmark(effort)
        case .program: try programBenchmark(effort)
        case .parallel: try parallelBenchmark(effort)
        case .instructions: try instructionBenchmark(effort)
        case .ring: try ringBenchmark(effort)
        case .meter: try meterBenchmark(effort)
        case .dsp: try dspBenchmark(effort)
        case .isolation: try isolationBenchmark(effort)
        case .chain: try chainBenchmark(effort)
        case .edit: try editBenchmark(effort)
        case .reconnect: try reconnectBenchmark(effort)
        case .start: try startBenchmark(effort)
        case .say: try sayBenchmark(effort)
        case .speech: try speechBenchmark(effort)
        case .hearing: try hearingBenchmark(effort)
        case .conversation: try conversationBenchmark(effort) + echoBenchmark(effort)
        case .record: try recordBenchmark(effort)
        case .archive: try archiveBenchmark(effort)
        case .memory: try memoryBenchmark(effort)
        case .offline: try offlineBenchmark(effort) + filesBenchmark(effort)
        case .check: try checkBenchmark(effort)
        }
    }
}

@main
struct Benchmarks: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "Benchmarks",
        abstract: "Measures voicegraph beside its peers: same work, same run, in turn.",
        discussion: "A ratio above 1 is in voicegraph's favour. Benchmarks:\n"
            + Benchmark.allCases.map { "  \($0.rawValue): \($0.summary)" }.joined(separator: "\n"))

    @Option(help: "Run this one only; may be given several times.")
    var only: [Benchmark] = []

    @Flag(help: "Fewer repetitions and smaller graphs.")
    var quick = false

    @Flag(help: "Print one JSON object a line.")
    var json = false

    @Option(help: ArgumentHelp("Tell what is different from an earlier run, whose --json is here.", valueName: "file"))
    var compare: String?

    @Option(help: ArgumentHelp("The command to measure.", valueName: "file"))
    var voicegraph = String(#filePath.split(separator: "/Tests/Benchmarks/")[0]) + "/.build/release/voicegraph"

    @Option(help: "The name of the JACK servers that are started.")
    var server = "vg-bench"

    // What `instructions` starts under callgrind: this program again, with nothing else in it.
    @Option(help: .hidden)
    var amps: Int?

    @Option(help: .hidden)
    var blocks = 1000

    @Option(help: .hidden)
    var frames = 128

    @Flag(help: .hidden)
    var unguarded = false

    @Option(help: .hidden)
    var floor: String?

    @Option(help: .hidden)
    var live: UInt32 = 0

    func run() throws {
        if let amps {
            if let floor { return try playFloor(floor, amps, blocks: blocks, server: server, seconds: live) }
            if live > 0 { return try playAmps(amps, server: server, seconds: live) }
            return try playAmps(amps, blocks: blocks, frames: frames, guarded: !unguarded)
        }
        let effort = Effort(isQuick: quick, command: voicegraph, server: server)
        let comparison = try compare.map(Comparison.init)
        var measured: [(Benchmark, Row)] = []
        var failed = false
        for benchmark in Benchmark.allCases where only.isEmpty || only.contains(benchmark) {
            do {
                if !json { print("\(benchmark.rawValue): \(benchmark.summary)") }
                let rows = try benchmark.run(effort)
                progress("")
                measured += rows.map { (benchmark, $0) }
                if json {
                    rows.forEach { print(Report.json(benchmark.rawValue, $0)) }
                } else {
                    print(Report.table(rows))
                }
                fflush(nil)
            } catch {
                failed = true
                complain("\(benchmark.rawValue): \(error)\n")
            }
        }
        if let comparison { complain(comparison.table(measured)) }
        if failed { throw ExitCode(1) }
    }
}

private func complain(_ text: String) {
    fflush(nil)
    _ = text.withCString { write(STDERR_FILENO, $0, strlen($0)) }
}
