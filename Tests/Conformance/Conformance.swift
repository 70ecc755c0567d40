// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import LV2

/// Runs every installed LV2 plugin, each in a process of its own, and says how it went.
@main
struct Conformance: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lv2-conformance",
        abstract: "Runs every installed LV2 plugin, each in a process of its own, and says how it went.",
        discussion: """
            A plugin gets noise, a sine and a few notes, in blocks and at the pace of a sound card, with its first preset. It ran if it came to the end and gave finite numbers. Without a display, the plugins that need one \
            get Qt's offscreen one.
            """)

    @Option(help: "Frames of a block, or \"irregular\": 1 to 1024, at random.")
    var block = "128"
    @Option(help: "Sample rate in Hz.")
    var rate = 48_000.0
    @Option(help: "Seconds of signal.")
    var seconds = 0.7
    @Flag(help: "Render: as fast as it goes, and without threads for the plugins' work.")
    var offline = false
    @Flag(help: "Save the state, restore it into a fresh copy and compare what both play.")
    var state = false
    @Flag(help: "Load every preset of every plugin.")
    var presets = false
    @Option(help: "Only plugins whose URI contains this.")
    var only: String?
    @Option(help: "Plugins at a time; by default one per core, and four where they keep pace.")
    var jobs: Int?
    @Option(help: "Seconds without progress after which a plugin counts as hung.")
    var patience = 90.0
    @Option(help: "Fail if fewer than this many ran.")
    var atLeast = 0
    @Option(help: "Write a table with one line per plugin to this file.")
    var output: String?
    @Option(help: .hidden)
    var trial: String?
    @Option(help: .hidden)
    var skip = 0
    @Option(help: .hidden)
    var copy = 0
    @Option(help: .hidden)
    var apart: Float = 0

    func validate() throws {
        guard block == "irregular" || (1...8192).contains(Int(block) ?? 0) else {
            throw ValidationError("--block is 1 to 8192, or \"irregular\".")
        }
        guard rate >= 8000, rate <= 384_000 else { throw ValidationError("--rate is 8000 to 384000.") }
        guard seconds > 0, seconds <= 3600 else { throw ValidationError("--seconds is above 0, and 3600 at most.") }
        guard (jobs ?? 1) >= 1 else { throw ValidationError("--jobs is 1 at least.") }
        guard !(state && presets) else { throw ValidationError("--state and --presets are two different runs.") }
    }

    func run() throws {
        let plan = ScanPlan(
            block: Int(block), rate: rate, seconds: seconds, offline: offline || state || presets,
            mode: state ? .state : presets ? .presets : .run, skip: skip, copy: copy, apart: apart)
        if let trial { Trial(uri: trial, plan: plan).run() }

        var uris = World.shared.installed(names: false).map(\.uri)
        if let only { uris = uris.filter { $0.contains(only) } }
        guard !uris.isEmpty else {
            print("no plugin to run", to: .error)
            throw ExitCode(1)
        }
        let census = Census(
            uris: uris, arguments: plan.arguments,
            jobs: jobs ?? max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) * (plan.offline ? 1 : 4),
            patience: patience)
        let results = census.run()
        let report = Report(results, of: uris.count, plan: plan)
        print(report.text, to: .output)
        if let output, !report.write(to: output) {
            print("cannot write \(output): \(String(cString: strerror(errno)))", to: .error)
            throw ExitCode(1)
        }
        if results.count < uris.count { throw ExitCode(130) }
        if report.ran < atLeast {
            print("fewer than \(atLeast) ran", to: .error)
            throw ExitCode(1)
        }
    }
}

enum Stream: Int32 {
    case output = 1
    case error = 2
}

/// Prints a line at once, past every buffer.
func print(_ text: String, to stream: Stream) { write(text + "\n", to: stream.rawValue) }

/// Writes all of a text; what cannot be written is nobody's business here.
func write(_ text: String, to file: Int32) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
        let written = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
        if written < 0, errno == EINTR { continue }
        guard written > 0 else { return }
        rest = rest.dropFirst(written)
    }
}
