// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Config
import Glibc
import Host
import NodeKit
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

    func validate() throws {
        if let duration, !(duration > 0 && duration < 1e7) { throw ValidationError("--duration must be above 0") }
        _ = try inputFiles(inputs)
    }

    /// Refuses what is for a graph only, where none of these files is one.
    func check(_ files: [String]) throws {
        if !files.contains(where: isGraphFile), duration != nil || !inputs.isEmpty || !overrides.isEmpty {
            throw ValidationError(
                "--duration, --input and --set are for a graph; \(file) must end in .conf or .toml for that")
        }
    }

    /// The file of the command line.
    func sound() throws -> DrawnSound { try sounds([file])[0] }

    /// The same of several files. From here on graphs can be rendered.
    func sounds(_ files: [String]) throws -> [DrawnSound] {
        if files.contains(where: isGraphFile) {
            useIsolation()
            trust.apply()
        }
        let inputs = try inputFiles(inputs)
        let registry = NodeRegistry(search: try plugins.search())
        return files.map { file in
            DrawnSound(file: file, duration: duration, inputs: inputs, overrides: overrides, registry: registry)
        }
    }
}

/// Whether a file is a graph, not a sound.
func isGraphFile(_ path: String) -> Bool { [".conf", ".toml"].contains(where: path.lowercased().hasSuffix) }

/// A sound that is drawn: a file, or what a graph plays.
struct DrawnSound: Sendable {
    let file: String
    let duration: Double?
    let inputs: [String: String]
    let overrides: [String]
    let registry: NodeRegistry

    /// The last part of the path.
    var name: String { file.split(separator: "/").last.map(String.init) ?? file }

    /// Gives the path of the sound, which is there until `use` returns. Throws where there is none, or not all of it.
    func withSound(_ ended: EndFlag, _ report: FileReport, _ use: (String) throws(Fault) -> Void) throws(Fault) {
        guard access(file, R_OK) == 0 else { throw Fault("\(file): \(String(cString: strerror(errno)))") }
        guard isGraphFile(file) else { return try use(file) }
        let parent = processEnvironment()["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? P_tmpdir
        var name = Array("\(parent)/voicegraph-XXXXXX".utf8CString)
        guard mkdtemp(&name) != nil else { throw Fault("\(parent): \(String(cString: strerror(errno)))") }
        let folder = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let sound = folder + "/sound.wav"
        defer {
            unlink(sound)
            rmdir(folder)
        }
        let isWhole = try render(to: sound, ended, report)
        try use(sound)
        if !isWhole { throw Fault("audio was lost, as said above") }
    }

    /// Whether no audio was lost on the way.
    private func render(to path: String, _ ended: EndFlag, _ report: FileReport) throws(Fault) -> Bool {
        let rate = Measurement.rate
        let end = duration.map { Render.End.frames(Int((rate * $0).rounded())) } ?? .idle
        let render = Render(path: path, rate: rate, end: end, inputs: inputs)
        let (prepared, diagnostics) = try PreparedGraph.load(path: file, overrides: overrides, registry: registry) {
            graph throws(Fault) in try render.change(&graph)
        }
        if !diagnostics.isEmpty { report.tell(diagnosticFormat(for: STDERR_FILENO).text(diagnostics)) }
        guard let prepared else { throw Fault("\(file) cannot be played, as said above") }
        let losses = RenderLosses(prepared)
        let outcome = try render.run(prepared) { progress in
            report.show(progress.frames, of: progress.total)
            return !ended.isSet
        }
        losses.read(until: outcome.frames) { report.tell($0) }
        report.tell(losses.silences(until: Double(outcome.frames) / rate))
        let isCut = outcome.cutAt != nil
        if isCut { report.tell(cutText(outcome)) }
        if ended.isSet { throw Fault("interrupted") }
        return !isCut && losses.isEmpty
    }
}
