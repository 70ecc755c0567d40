// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Config
import Glibc
import Host
import System

/// What is drawn: a sound file, or a graph, which is rendered first.
struct SoundOptions: ParsableArguments {
    @Argument(
        help: "A sound file of any format that libsndfile reads, or a graph (.conf or .toml), which is rendered first.",
        completion: .file())
    var file: String

    @Option(help: ArgumentHelp("Of a graph, take exactly so many seconds.", valueName: "seconds"))
    var duration: Double?

    @Option(
        name: .customLong("input"),
        help: ArgumentHelp("Feed an input node of a graph from a sound file.", valueName: "node=file"))
    var inputs: [String] = []

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp("Change a setting of a graph: node.NAME.key=value.", valueName: "override"))
    var overrides: [String] = []

    @OptionGroup
    var trust: TrustOptions

    @OptionGroup
    var plugins: PluginOptions

    var isGraph: Bool { [".conf", ".toml"].contains(where: file.lowercased().hasSuffix) }
    /// The last part of the path.
    var name: String { file.split(separator: "/").last.map(String.init) ?? file }

    func validate() throws {
        if let duration, !(duration > 0 && duration < 1e7) { throw ValidationError("--duration must be above 0") }
        _ = try inputFiles(inputs)
        if !isGraph, duration != nil || !inputs.isEmpty || !overrides.isEmpty {
            throw ValidationError(
                "--duration, --input and --set are for a graph; \(file) must end in .conf or .toml for that")
        }
    }

    /// Gives the path of the sound, which is there until `use` returns. Ends the command where there is none.
    func withSound(_ ended: EndFlag, _ use: (String) throws -> Void) throws {
        guard access(file, R_OK) == 0 else { throw fail("\(file): \(String(cString: strerror(errno)))") }
        guard isGraph else { return try use(file) }
        let parent = processEnvironment()["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? P_tmpdir
        var name = Array("\(parent)/voicegraph-XXXXXX".utf8CString)
        guard mkdtemp(&name) != nil else { throw fail("\(parent): \(String(cString: strerror(errno)))") }
        let folder = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let sound = folder + "/sound.wav"
        defer {
            unlink(sound)
            rmdir(folder)
        }
        let isWhole = try render(to: sound, ended)
        try use(sound)
        if !isWhole { throw fail("audio was lost, as said above") }
    }

    /// Whether no audio was lost on the way.
    private func render(to path: String, _ ended: EndFlag) throws -> Bool {
        useIsolation()
        trust.apply()
        let rate = Measurement.rate
        let end = duration.map { Render.End.frames(Int((rate * $0).rounded())) } ?? .idle
        let render = Render(path: path, rate: rate, end: end, inputs: try inputFiles(inputs))
        let graph = GraphSource(file: file, overrides: overrides, plugins: plugins)
        let prepared = try loadGraph(graph) { graph throws(Fault) in try render.change(&graph) }
        let losses = RenderLosses(prepared)
        let bar = ProgressBar(rate: rate)
        let isCut: Bool
        do throws(Fault) {
            let outcome = try render.run(prepared) { progress in
                bar.show(progress)
                return !ended.isSet
            }
            bar.clear()
            losses.read(until: outcome.frames) { writeOut($0, to: STDERR_FILENO) }
            writeOut(losses.silences(until: Double(outcome.frames) / rate), to: STDERR_FILENO)
            isCut = outcome.cutAt != nil
            if isCut { writeOut(cutText(outcome), to: STDERR_FILENO) }
        } catch {
            bar.clear()
            throw fail("\(error)")
        }
        if ended.isSet { throw fail("interrupted") }
        return !isCut && losses.isEmpty
    }
}
