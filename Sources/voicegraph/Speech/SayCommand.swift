// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Control
import Drivers
import Glibc
import GraphFile
import Host
import JSON
import NodeKit
import System
import Terminal

/// `voicegraph say`: a text aloud, by the host that runs, or alone.
struct SayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "say", abstract: "Speak a text aloud.",
        discussion: """
            In a host that runs its tts node speaks, and the command ends at once. If none runs, the text goes to the \
            speakers, as a graph with a tts node and an output would, and the command ends when it was heard; \
            --alone does that in any case.

            Examples:
              voicegraph say "Good morning."
              date | voicegraph say -
            """)

    @OptionGroup var text: TextOptions
    @OptionGroup var engine: EngineOptions
    @OptionGroup var voice: VoiceOptions

    @Option(
        help: ArgumentHelp("The host, by its JACK client's name; needed if several run.", valueName: "name"),
        completion: .shellCommand("voicegraph ctl list 2>/dev/null"))
    var client: String?

    @Option(help: "The node that speaks; needed if several can.")
    var node: String?

    @Flag(help: "Speak without the host that runs.")
    var alone = false

    @Flag(help: "Lower what other programs play through PipeWire meanwhile; without the host that runs.")
    var duckOthers = false

    @OptionGroup var audio: DriverOptions

    @OptionGroup var plugins: PluginOptions

    /// What only the command alone can do is not to be passed over by a host.
    private var isAlone: Bool {
        alone || audio.driver != nil || audio.server != nil || engine.engine != nil || engine.command != nil
            || duckOthers
    }

    func validate() throws {
        if isAlone, client != nil || node != nil {
            throw ValidationError("--client and --node are of a host that runs; the other options are without one")
        }
    }

    func run() async throws {
        let spoken = try text.read()
        if !isAlone, client != nil || !ControlFolder.standard().running().isEmpty {
            return try sayInHost(spoken)
        }
        try await sayAlone(spoken)
    }

    private func sayInHost(_ spoken: String) throws {
        var speaker = node
        if speaker == nil {
            let actions = try ask(HostChoice(client: client), "actions")["actions"]?.items ?? []
            let speakers = actions.filter { $0["name"]?.string == VG_ACTION_SPEAK }.compactMap { $0["node"]?.string }
            guard let first = speakers.first else {
                throw fail("no node of the host that runs speaks (add a node of type \"tts\", or give --alone)")
            }
            guard speakers.count == 1 else {
                throw fail("several nodes speak (name one with --node: \(speakers.joined(separator: ", ")))")
            }
            speaker = first
        }
        let arguments = voice.settings.merging(["text": .string(spoken)]) { $1 }
        try ask(
            HostChoice(client: client), "do",
            [
                "node": .string(speaker ?? ""), "action": .string(VG_ACTION_SPEAK),
                "arguments": .object(arguments.mapValues { JSON($0) }),
            ])
    }

    private func sayAlone(_ spoken: String) async throws {
        let ended = EndFlag()
        let host = Host(plugins: try plugins.search())
        let events = host.subscribe(.lossless) {
            guard case .event(let event) = $0 else { return false }
            return event.name == HostEvent.log.name || event.type?.end != nil || event.type?.kind == .failure
        }
        var settings = engine.settings.merging(voice.settings) { $1 }
        settings["text"] = .string(spoken)
        if duckOthers { settings["duck_others"] = .bool(true) }
        let graph = SpeechGraph.aloud(settings)
        do {
            try await host.load(graph)
            try await host.run(audio.request(client: graph.name))
        } catch let error as InvalidGraph {
            throw failure(of: error.diagnostics)
        } catch let error as Fault {
            throw fail("\(error)")
        }
        var failure: String?
        var isOver = false
        while !isOver, !ended.isSet {
            while case .event(let event)? = events.poll() {
                guard event.name != HostEvent.log.name else {
                    guard event.text("level") == "warning", let line = event.text("text") else { continue }
                    writeOut("voicegraph: \(line)\n", to: STDERR_FILENO)
                    continue
                }
                isOver = true
                guard event.type?.kind == .failure else { continue }
                failure = event.text("reason") ?? "the text cannot be spoken"
            }
            if !isOver { try? await Task.sleep(for: .milliseconds(20)) }
        }
        await host.close()
        if let failure { throw fail("the text was not spoken to its end: \(failure)") }
        if !isOver { throw fail("interrupted before the end of the text") }
    }
}
