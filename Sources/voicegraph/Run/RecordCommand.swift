// SPDX-License-Identifier: Apache-2.0
import Archive
import ArgumentParser
import Drivers
import Glibc
import GraphFile
import Host
import NodeKit
import System
import Terminal

/// `voicegraph record`: records the microphone without a graph file.
struct RecordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record", abstract: "Record the microphone to a file.",
        discussion: """
            The suffix chooses the format: \(SoundSuffix.listed). While it is recorded the file is called \
            NAME.part.wav and plays at any time; it has its name when it is complete. No file is written over. Space \
            pauses and goes on, q, Ctrl-C, SIGTERM, the end of the terminal and the limit complete the file and end \
            with exit code 0. When the audio stops and comes back, the recording goes on. What is lost or fails ends it \
            with exit code 1. `voicegraph takes` lists what was recorded.

            \(RecordingMode.help)

            \(KeyHelp.text(RecordKeys.help))

            Examples:
              voicegraph record interview.flac --limit 10m --mode spoken
              voicegraph record "%Y-%m-%d_%H-%M.wav" --split 1h --bits 24
            """)

    @Argument(
        help: ArgumentHelp("The file; %Y, %m, %d, %H, %M, %S and what else `date` knows are filled in."),
        completion: SoundSuffix.completion)
    var file = "%Y-%m-%d_%H-%M-%S.wav"

    @Option(
        help: ArgumentHelp("End after so much: seconds, or 90s, 10m, 1h30m. Pauses do not count.", valueName: "time"))
    var limit: TimeSpan?

    @Option(help: ArgumentHelp("Begin another file after so much.", valueName: "time"))
    var split: TimeSpan?

    @Option(help: "How many channels to record.")
    var channels = 1

    @Option(help: ArgumentHelp("Hz of the file; otherwise those of the audio.", valueName: "Hz"))
    var rate: Int?

    @Option(
        help: ArgumentHelp(
            "Samples: 16, 24 or 32 bits, or float (.wav; float is usual), 16 or 24 (.flac; 24 is usual).",
            valueName: "bits"))
    var bits: SampleBits?

    @Option(
        help: ArgumentHelp(
            "What is done before: nothing, or a chain for voices.",
            valueName: RecordingMode.allCases.map(\.rawValue).joined(separator: "|")))
    var mode = RecordingMode.default

    @Option(
        help: ArgumentHelp("Which ports to record, as JACK names them; may hold *.", valueName: "ports"))
    var from = "system:capture_*"

    @OptionGroup
    var audio: DriverOptions

    @Flag(help: "Print events as JSON, one object a line.")
    var json = false

    @OptionGroup
    var plugins: PluginOptions

    func validate() throws {
        guard (1...64).contains(channels) else { throw ValidationError("--channels must be from 1 to 64") }
        if let fault = mode.fault(in: file, hasRate: rate != nil) { throw ValidationError(fault) }
    }

    func run() async throws {
        let ended = EndFlag(hangup: true)
        let host = Host(plugins: try plugins.search())
        let events = host.subscribe(.bounded(4096))
        let keeper: ArchiveWriter
        do {
            try await host.load(graph)
            keeper = ArchiveWriter(keeping: host, session: .init(graph: "record", file: nil), atOnce: false)
            try await host.run(audio.request(client: "voicegraph-record"))
        } catch let error as InvalidGraph {
            throw failure(of: error.diagnostics)
        } catch let error as Fault {
            throw fail("\(error)")
        }
        if let status = await host.status, status.driver == "dummy", audio.driver?.kind != .dummy {
            _ = try? await host.perform("discard", on: RecordSession.recorder)
            await host.close()
            keeper.finish()
            throw fail("there is nothing to record: \(status.notice)")
        }
        let session = RecordSession(host: host, await host.face, events: events, json: json)
        await session.show(until: ended)
        await host.close()
        let kept = keeper.finish()
        try session.end()
        // The file is there all the same.
        if kept.lost > 0 { writeOut("voicegraph: `takes` will not list it: \(kept.reason)\n", to: STDERR_FILENO) }
    }

    /// mic, what the mode says, meter, take: one after the other.
    private var graph: GraphDescription {
        var take: [String: SettingValue] = ["path": .string(file)]
        take["limit"] = (limit?.seconds).map { .number($0) }
        take["split"] = (split?.seconds).map { .number($0) }
        take["rate"] = rate.map { .number(Double($0)) }
        take.merge(bits?.settings ?? [:]) { $1 }
        func node(_ name: String, _ type: String, _ settings: [String: SettingValue]) -> NodeDescription {
            let all = settings.merging(["channels": .integer(Int64(channels))]) { given, _ in given }
            var made = NodeDescription(
                name: name, type: type, entries: all.mapValues { Entry($0) }, keys: all.keys.sorted(), required: true)
            made.keep = type == StandardType.record
            return made
        }
        let nodes =
            [node("mic", StandardType.input, ["connect": .list([.string(from)])])]
            + mode.steps.map { node($0.name, $0.type, $0.settings) }
            + [
                node(RecordSession.meter, StandardType.meter, [:]),
                node(RecordSession.recorder, StandardType.record, take),
            ]
        return GraphDescription(
            name: "voicegraph-record", nodes: nodes,
            links: zip(nodes, nodes.dropFirst()).map {
                LinkDescription(from: Endpoint($0.name), to: Endpoint($1.name))
            }, baseFolder: currentFolder())
    }
}

/// What a person writes for a length of time: 90, 90s, 10m, 1h30m, 30d.
struct TimeSpan: ExpressibleByArgument {
    let seconds: Double

    init?(argument: String) {
        if let number = Double(argument), number > 0, number.isFinite {
            seconds = number
            return
        }
        var total = 0.0
        var digits = ""
        for letter in argument {
            guard let unit = ["d": 86_400.0, "h": 3600.0, "m": 60.0, "s": 1.0][letter] else {
                digits.append(letter)
                continue
            }
            guard let number = Double(digits), number >= 0, number.isFinite else { return nil }
            total += number * unit
            digits = ""
        }
        guard digits.isEmpty, total > 0 else { return nil }
        seconds = total
    }
}
