// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import Host
import JSON
import NodeKit
import Terminal

/// `voicegraph voices`: who can speak.
struct VoicesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "voices", abstract: "List the voices that are installed, with engine and language.",
        discussion: """
            A voice is used with `voice = "NAME"` and `engine = "ENGINE"` in a tts node, or --voice and --engine of \
            `voicegraph speak`. What an engine lacks is said on standard error.

            Examples:
              voicegraph voices --language en
              voicegraph voices --engine espeak-ng --json
            """)

    @Option(help: "Of this engine only: espeak-ng, hibari, flite or piper.")
    var engine: String?

    @Option(help: "That speak this language only, as in en, en-GB or english.")
    var language: String?

    @Flag(help: "One JSON object a line.")
    var json = false

    @OptionGroup
    var plugins: PluginOptions

    func validate() throws {
        if let engine, !["espeak-ng", "hibari", "flite", "piper"].contains(engine) {
            throw ValidationError("--engine must be espeak-ng, hibari, flite or piper")
        }
    }

    func run() throws {
        let registry = NodeRegistry(search: try plugins.search())
        let description = SpeechGraph.description([:], channels: 1)
        let prepared: PreparedGraph?
        do throws(Fault) { prepared = try PreparedGraph.make(description, registry: registry).0 } catch {
            throw fail("\(error)")
        }
        guard let node = prepared?.graph.nodes.first(where: { $0.instance.name == SpeechGraph.voice })?.instance,
            node.typeName == StandardType.speech
        else { throw fail("there is no node type tts; `voicegraph nodes` says why") }
        var arguments: [String: SettingValue] = [:]
        arguments["engine"] = engine.map { .string($0) }
        arguments["language"] = language.map { .string($0) }
        let results: [String: SettingValue]
        do throws(NodeError) {
            node.isDriven = true
            try node.prepare(Preparation(rate: 48_000, maxBlock: 1024, offline: true))
            results = try node.performAndWait("voices", arguments, patience: 60)
        } catch {
            throw fail(error.message)
        }
        let voices = list(results["voices"]).compactMap { value -> [String]? in
            guard case .table(let table) = value else { return nil }
            return ["name", "language", "engine"].map { if case .string(let text)? = table[$0] { text } else { "" } }
        }
        for case .string(let problem) in list(results["problems"]) {
            writeOut("voicegraph: \(problem)\n", to: STDERR_FILENO)
        }
        writeOut(json ? lines(voices) : table(voices))
        if voices.isEmpty { throw fail("no voice is like that; `voicegraph voices` lists all") }
    }

    private func list(_ value: SettingValue?) -> [SettingValue] {
        if case .list(let items)? = value { items } else { [] }
    }

    private func lines(_ voices: [[String]]) -> String {
        voices.map {
            JSON.object(["name": .string($0[0]), "language": .string($0[1]), "engine": .string($0[2])]).text + "\n"
        }.joined()
    }

    private func table(_ voices: [[String]]) -> String {
        let widths = (0..<2).map { column in voices.map { $0[column].count }.max() ?? 0 }
        return voices.map { voice in
            let cells = zip(voice, widths).map { printable($0) + String(repeating: " ", count: $1 - $0.count) }
            return (cells + [voice[2]]).joined(separator: "  ") + "\n"
        }.joined()
    }
}
