// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import Host
import System
import Terminal

/// `voicegraph render`: plays a graph as fast as it goes, into a file.
struct RenderCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "render", abstract: "Render a graph into a sound file, faster than real time.",
        discussion: """
            Without --duration the render ends when every source has played what it has and the output has gone \
            silent. The suffix of OUT chooses the format: .wav (32-bit float samples, unchanged), .flac, .ogg.
            """)

    @OptionGroup
    var graph: GraphOptions

    @OptionGroup
    var plugins: TrustOptions

    @Option(
        name: [.customShort("o"), .customLong("out")],
        help: ArgumentHelp("The sound file to write.", valueName: "out.wav"), completion: .file())
    var out: String

    @Option(help: ArgumentHelp("Write exactly so many seconds.", valueName: "seconds"))
    var duration: Double?

    @Flag(help: "End when every node has played what it has and the output is silent (the default).")
    var untilIdle = false

    @Option(help: ArgumentHelp("Frames per second.", valueName: "hz"))
    var rate = 48_000

    @Option(help: ArgumentHelp("Frames per block.", valueName: "frames"))
    var block = 1024

    @Option(
        name: .customLong("input"),
        help: ArgumentHelp("Feed an input node from a sound file; may be given several times.", valueName: "node=file"))
    var inputs: [String] = []

    @Option(
        help: ArgumentHelp("The output node to write; otherwise the first in the file.", valueName: "node"))
    var output: String?

    @Option(help: ArgumentHelp("Channels of the file; otherwise those of the output node.", valueName: "count"))
    var channels: Int?

    @Option(help: ArgumentHelp("The tempo of the transport, for plugins that follow one.", valueName: "bpm"))
    var tempo: Double?

    func validate() throws {
        if let duration, !(duration > 0 && duration < 1e7) { throw ValidationError("--duration must be above 0") }
        if duration != nil, untilIdle { throw ValidationError("give --duration or --until-idle, not both") }
        guard (1...65_536).contains(block) else { throw ValidationError("--block must be from 1 to 65536") }
        guard (1000...768_000).contains(rate) else { throw ValidationError("--rate must be from 1000 to 768000") }
        if let tempo, !(tempo >= 1 && tempo <= 1000) { throw ValidationError("--tempo must be from 1 to 1000") }
        if let channels, !(1...64).contains(channels) { throw ValidationError("--channels must be from 1 to 64") }
        _ = try inputFiles()
        guard [".wav", ".flac", ".ogg"].contains(where: { out.lowercased().hasSuffix($0) }) else {
            throw ValidationError("\(out) must end in .wav, .flac or .ogg")
        }
    }

    func run() throws {
        let render = Render(
            path: out, rate: Double(rate), block: block,
            end: duration.map { .frames(Int((Double(rate) * $0).rounded())) } ?? .idle, inputs: try inputFiles(),
            output: output, channels: channels, tempo: tempo ?? 0)
        plugins.apply()
        let ended = EndFlag()
        let prepared = try loadGraph(graph) { graph throws(HostError) in try render.change(&graph)
        }
        let failures = prepared.bus.subscribe(.bounded(64)) {
            if case .event(let event) = $0 {
                event.name == HostEvent.health.name && event.text("state") == "failed"
            } else {
                false
            }
        }
        let guards = prepared.bus.subscribe(.lossless) {
            if case .event(let event) = $0 { event.isOfGuard } else { false }
        }
        var silenced = SilencedNodes()
        var bar = ProgressBar(rate: Double(rate))
        var reached = 0
        func tellSilences() {
            while case .event(let event) = guards.poll() { silenced.add(event) }
            writeOut(silenced.text(until: Double(reached) / Double(rate)), to: STDERR_FILENO)
        }
        do throws(HostError) {
            let frames = try render.run(prepared) { progress in
                bar.show(progress)
                reached = progress.frames
                return !ended.isSet
            }
            bar.clear()
            tellSilences()
            while case .event(let event) = failures.poll() {
                // What was left out before has been told with its place in the file.
                guard let node = event.node, prepared.degraded[node] == nil else { continue }
                writeOut("voicegraph: node '\(node)' failed: \(event.text("reason") ?? "")\n", to: STDERR_FILENO)
            }
            let summary = "\(out): \(frames) frames, \(bar.summary(frames))" + silenced.summary
            if ended.isSet { throw HostError("interrupted; \(summary)") }
            writeOut(summary + "\n", to: STDERR_FILENO)
        } catch {
            bar.clear()
            if silenced.isEmpty { tellSilences() }
            throw fail("\(error)")
        }
    }

    private func inputFiles() throws -> [String: String] {
        var files: [String: String] = [:]
        for input in inputs {
            let parts = input.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else { throw ValidationError("--input \(input): write NODE=FILE") }
            guard files.updateValue(String(parts[1]), forKey: String(parts[0])) == nil else {
                throw ValidationError("--input \(input): node '\(parts[0])' is fed already")
            }
        }
        return files
    }
}

/// Shows how far a render is, on a terminal only.
struct ProgressBar {
    private let rate: Double
    private let started = monotonicSeconds()
    private let visible = isatty(STDERR_FILENO) == 1
    private var shownAt = 0.0

    init(rate: Double) { self.rate = rate }

    mutating func show(_ progress: Render.Progress) {
        let now = monotonicSeconds()
        guard visible, now - shownAt > 0.1 else { return }
        shownAt = now
        var text = "\r\u{1b}[K"
        if let total = progress.total {
            let share = Double(progress.frames) / Double(max(1, total))
            let filled = Int(share * 30)
            text += "[" + String(repeating: "#", count: filled) + String(repeating: "-", count: 30 - filled) + "] "
            text += "\(Int(share * 100)) %  "
        }
        writeOut(text + summary(progress.frames), to: STDERR_FILENO)
    }

    func clear() { if visible, shownAt > 0 { writeOut("\r\u{1b}[K", to: STDERR_FILENO) } }

    /// Seconds of audio, and how many times faster than real time they came.
    func summary(_ frames: Int) -> String {
        let seconds = Double(frames) / rate
        let speed = seconds / max(1e-6, monotonicSeconds() - started)
        return
            "\(Double(Int(seconds * 100)) / 100) s at \(speed < 10 ? Double(Int(speed * 10)) / 10 : speed.rounded(.down))x real time"
    }
}
