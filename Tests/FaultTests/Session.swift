// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Synchronization
import TestSupport

/// A tone to whatever there is to play to, and a microphone that is only looked at.
let toneGraph = """
    [graph]
    name = "faulted"
    links = ["tone -> gain -> meter -> out", "mic -> level"]
    [node.tone]
    type = "tone"
    frequency = 1000
    level_db = -6
    [node.gain]
    type = "gain"
    [node.meter]
    type = "meter"
    [node.out]
    type = "output"
    connect = ["system:playback_*"]
    [node.mic]
    type = "input"
    channels = 1
    connect = ["system:capture_1"]
    [node.level]
    type = "meter"

    """

/// `toneGraph` under another name, with other connections.
func toneGraph(_ name: String, to sinks: String, from source: String) -> String {
    toneGraph.replacing("\"faulted\"", with: "\"\(name)\"").replacing("system:playback_*", with: sinks)
        .replacing("system:capture_1", with: source)
}

/// What `voicegraph status --json` says.
struct RunStatus: Sendable {
    var state = ""
    var driver = ""
    var notice = ""
    var server = ""
    var ownServer = false
    var rate = 0.0
    var block = 0
    var blocks = 0
    var xruns = 0
    var load = 0.0
    var dropouts: [String: Int] = [:]
    var policy = ""
    var isRealtime = false
    var advice = ""

    init(_ text: String) throws {
        let answer = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        let status = try #require(answer?["status"] as? [String: Any], "\(text)")
        state = status["state"] as? String ?? ""
        driver = status["driver"] as? String ?? ""
        notice = status["notice"] as? String ?? ""
        server = status["server"] as? String ?? ""
        ownServer = status["own_server"] as? Bool ?? false
        rate = status["rate"] as? Double ?? 0
        block = status["block"] as? Int ?? 0
        blocks = status["blocks"] as? Int ?? 0
        xruns = status["xruns"] as? Int ?? 0
        load = status["load"] as? Double ?? 0
        dropouts = status["dropouts"] as? [String: Int] ?? [:]
        let scheduling = status["scheduling"] as? [String: Any]
        policy = scheduling?["policy"] as? String ?? ""
        isRealtime = scheduling?["realtime"] as? Bool ?? false
        advice = scheduling?["advice"] as? String ?? ""
    }
}

/// `voicegraph run` beside the test, in a runtime folder of its own, and the same command asking it from outside.
final class Session: Sendable {
    let scratch: Scratch
    let run: Program
    let environment: [String: String]
    private let client: [String]
    private let server: String
    private let counted = Mutex((seen: 0, events: [String: Int]()))

    /// Starts it; `through` is what comes before the command, such as `pw-jack`. Without a server it looks for one.
    init(
        _ graph: String = toneGraph, _ options: [String] = [], server: String? = nil, through: [String] = [],
        environment: [String: String] = [:], in scratch: Scratch? = nil
    ) throws {
        let scratch = try scratch ?? Scratch()
        chmod(scratch.path, 0o700)
        self.scratch = scratch
        self.server = server ?? "none"
        client = graph.firstMatch(of: /name = "(\w+)"/).map { ["--client", String($0.1)] } ?? []
        self.environment = ["XDG_RUNTIME_DIR": scratch.path].merging(environment) { $1 }
        let file = try scratch.write("graph.conf", graph)
        let driver = server.map { ["--driver", "jack", "--server", $0] } ?? []
        run = try Program(
            through + [Program.voicegraph, "run", file, "--json"] + driver + options,
            environment: self.environment)
    }

    /// Makes a call of the command and returns how it ended.
    func call(_ arguments: String..., seconds: Double = 60) async throws -> (code: Int32, output: String) {
        let program = try Program([Program.voicegraph] + arguments + client, environment: environment)
        let code = try await program.end(seconds: seconds)
        return (code, program.output + program.errors)
    }

    /// Makes a call that must be done.
    func done(_ arguments: String..., sourceLocation: Testing.SourceLocation = #_sourceLocation) async throws {
        let program = try Program([Program.voicegraph] + arguments + client, environment: environment)
        let code = try await program.end()
        #expect(code == 0, "\(arguments): \(program.output)\(program.errors)", sourceLocation: sourceLocation)
    }

    /// Asks for the status.
    func status() async throws -> RunStatus {
        let program = try Program([Program.voicegraph, "status", "--json"] + client, environment: environment)
        guard try await program.end() == 0 else {
            let folder = scratch.path + "/voicegraph"
            let there = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            throw NeverHappened(
                description: """
                    \(program.errors)\(run.errors)the run \(run.isRunning ? "goes on" : "has ended"), has printed \
                    \(run.lines.suffix(3)), and in \(folder) there is \(there)
                    """)
        }
        return try RunStatus(program.output)
    }

    /// Asks for the status until it is as wanted; returns it.
    @discardableResult
    func until(
        _ what: String, seconds: Double = 60, _ condition: @Sendable (RunStatus) -> Bool
    ) async throws -> RunStatus {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while true {
            let status = try await status()
            if condition(status) { return status }
            guard ContinuousClock.now < deadline else {
                throw NeverHappened(
                    description: "within \(seconds) s: \(what); \(status)\n\(run.lines.suffix(12))\n\(run.errors)")
            }
        }
    }

    /// Waits until it plays.
    @discardableResult
    func plays() async throws -> RunStatus {
        try await run.wait("it runs, or ends") {
            !$0.isRunning || $0.lines.contains { $0.hasPrefix("{\"event\":\"running\"") }
        }
        return try await until("cycles come") { $0.state == "running" && $0.blocks > 10 }
    }

    /// How many events of this name have been printed.
    func count(_ event: String) -> Int {
        let lines = run.lines
        return counted.withLock { counted in
            for line in lines[counted.seen...] {
                if let name = line.prefixMatch(of: /{"event":"([^"]*)"/) {
                    counted.events[String(name.1), default: 0] += 1
                }
            }
            counted.seen = lines.count
            return counted.events[event] ?? 0
        }
    }

    /// What recorders tell to have lost, unless a busy machine was late, which is told besides.
    var losses: [String] {
        let wasLate = count("xrun") + count("dropout") > 0
        return run.lines.filter {
            $0.hasPrefix("{\"event\":\"record.dropped\"") && !(wasLate && $0.contains("\"cause\":\"dropout\""))
        }
    }

    /// Ends it; it must have survived until now.
    func end(sourceLocation: Testing.SourceLocation = #_sourceLocation) async throws {
        run.signal(SIGTERM)
        let code = try await run.end()
        #expect(code == 0, "\(run.errors)", sourceLocation: sourceLocation)
    }

    /// What it occupies now.
    var resources: Resources { Resources(of: run.processID, server: server) }

    /// Where each thread of the run waits, for the message of a failure.
    var threads: String {
        let folder = "/proc/\(run.processID)/task"
        func read(_ path: String) -> String {
            ((try? String(contentsOfFile: path, encoding: .utf8)) ?? "?").trimmingCharacters(
                in: .whitespacesAndNewlines)
        }
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return tasks.map { "\(read("\(folder)/\($0)/comm")): \(read("\(folder)/\($0)/wchan"))" }.sorted()
            .joined(separator: ", ")
    }
}

/// What a process occupies.
struct Resources: Sendable, CustomStringConvertible {
    var kilobytes = 0
    var descriptors = 0
    /// Without those of the pools in which tasks and control calls run: they have more or fewer of them by their own rules.
    var threads = 0
    /// Names below /dev/shm of the server and its clients.
    var shared = 0

    init(of process: pid_t, server: String) {
        let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
        for line in status.split(separator: "\n") {
            let words = line.split(whereSeparator: { " \t".contains($0) })
            if words.first == "RssAnon:" { kilobytes = Int(words[1]) ?? 0 }
        }
        let tasks = "/proc/\(process)/task"
        threads = ((try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []).count { thread in
            let name = (try? String(contentsOfFile: "\(tasks)/\(thread)/comm", encoding: .utf8)) ?? "-qos"
            return !name.contains("-qos") && !name.hasPrefix("vg-control")
        }
        descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count) ?? 0
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/dev/shm")) ?? []
        shared = names.count { $0.contains("_\(server)_") }
    }

    var description: String { "\(kilobytes) kB, \(descriptors) descriptors, \(threads) threads, \(shared) shared" }
}

/// Shows what was measured beside what is promised, and expects no more than `slack` times that, and more where others
/// want the processors: they make everything late, and what is broken is late by far more.
func within(
    _ promise: Double, _ measured: Duration, _ what: String, slack: Double = 10,
    sourceLocation: Testing.SourceLocation = #_sourceLocation
) {
    let seconds = measured / .seconds(1)
    print("figure: \(what): \(String(format: "%.3f", seconds)) s, promised \(promise) s")
    #expect(seconds < slack * promise * crowd(), "\(what)", sourceLocation: sourceLocation)
}
