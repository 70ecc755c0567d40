// SPDX-License-Identifier: Apache-2.0
import Archive
import ArgumentParser
import Glibc
import GraphFile
import Host
import NodeKit

/// `voicegraph takes play TAKE`: a graph of a `file` node and an output, until it was heard.
struct PlayTakeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "play", abstract: "Play a take.",
        discussion: """
            Ctrl-C ends it. What cannot be read to its end ends with exit code 1.

            Examples:
              voicegraph takes play
              voicegraph takes play 3 --driver alsa
            """)

    @Argument(help: "Its number, or last.")
    var take = "last"

    @OptionGroup
    var audio: DriverOptions

    @OptionGroup
    var plugins: PluginOptions

    func run() async throws {
        let archive = try ArchiveAccess.opened()
        let chosen = try TakesCommand.takes([take], in: archive)[0]
        guard access(try TakesCommand.location(of: chosen), R_OK) == 0 else {
            throw fail("\(chosen.file) cannot be read: \(String(cString: strerror(errno)))")
        }
        let ended = EndFlag()
        let host = Host(plugins: try plugins.search())
        let events = host.subscribe(.bounded(4096)) { if case .event = $0 { true } else { false } }
        do {
            try await host.load(Self.graph(chosen))
            try await host.run(audio.request(client: "voicegraph-take"))
        } catch let error as InvalidGraph {
            let first = error.diagnostics.first { $0.severity == .error }
            throw fail("\(chosen.file): \(first?.message ?? "it cannot be played")")
        } catch let error as Fault {
            throw fail("\(error)")
        }
        if let notice = await host.status?.notice, !notice.isEmpty { writeOut(notice + "\n", to: STDERR_FILENO) }
        var problem: String?
        while !ended.isSet, problem == nil, !(await host.isIdle) {
            while case .event(let event)? = events.poll() {
                if event.type?.kind == .failure { problem = event.text("reason") ?? "it cannot be read" }
            }
            try? await Task.sleep(for: .milliseconds(50))
        }
        while case .event(let event)? = events.poll() {
            if event.type?.kind == .failure { problem = event.text("reason") ?? "it cannot be read" }
        }
        // What was played last is on its way to the speakers.
        if !ended.isSet { try? await Task.sleep(for: .milliseconds(300)) }
        await host.close()
        if let problem { throw fail("\(chosen.file): \(problem)") }
    }

    /// The file, to two speakers.
    static func graph(_ take: ArchivedTake) -> GraphDescription {
        func node(_ name: String, _ type: String, _ settings: [String: SettingValue]) -> NodeDescription {
            NodeDescription(
                name: name, type: type, entries: settings.mapValues { Entry($0) }, keys: settings.keys.sorted(),
                required: true)
        }
        return GraphDescription(
            name: "voicegraph-take",
            nodes: [
                node("take", StandardType.file, ["path": .string(take.file), "channels": .integer(2)]),
                node("out", StandardType.output, ["connect": .list([.string("system:playback_*")])]),
            ], links: [LinkDescription(from: Endpoint("take"), to: Endpoint("out"))])
    }
}
