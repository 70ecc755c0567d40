// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import Host
import NodeKit
import SpeechDispatcher
import System

/// `voicegraph speech-dispatcher`: an output module of Speech Dispatcher.
struct SpeechDispatcherCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "speech-dispatcher", abstract: "Speak for screen readers, as a module of Speech Dispatcher.",
        discussion: """
            Speech Dispatcher starts it and speaks with it by standard input and output, so that Orca, spd-say and \
            whatever asks it are heard through a graph. Its configuration, speechd.conf, needs these lines; below \
            another prefix than /usr, sd_voicegraph with its folder:

              AddModule "voicegraph" "sd_voicegraph" "voicegraph.conf"
              DefaultModule voicegraph

            voicegraph.conf, among the configurations of its modules, may be a graph: the first node that speaks is \
            used, and effects may follow. Where it is not there, a voice goes to the speakers.

            Examples:
              printf 'INIT\\nQUIT\\n' | voicegraph speech-dispatcher --driver dummy
            """)

    @Argument(help: "A graph file; one that is not there counts for none.", completion: .file())
    var file: String?

    @OptionGroup var audio: DriverOptions

    @OptionGroup var plugins: PluginOptions

    func run() async throws {
        let host = Host(plugins: try plugins.search())
        let lines = standardInputLines()
        let speaker: String
        do {
            if let file, access(file, F_OK) == 0 {
                try await host.load(file)
            } else {
                try await host.load(SpeechGraph.aloud(["queue": .bool(false)]))
            }
            let isOwn = file.map { access($0, F_OK) == 0 } ?? false
            let description = await host.description
            try await host.run(
                isOwn && audio.driver == nil && audio.server == nil
                    ? nil : audio.request(client: description?.name ?? SpeechGraph.voice))
            guard let first = await host.face.first(.speaks) else {
                throw Fault("no node of \(file ?? "the graph") speaks", hint: "add a node of type \"tts\"")
            }
            speaker = first
        } catch {
            await host.close()
            let reason = "\(error)".split(separator: "\n").joined(separator: " ")
            for await _ in lines { break }
            writeOut("399-\(reason)\n399 ERR CANT INIT MODULE\n")
            throw fail(reason)
        }
        let module = DispatcherModule(
            host, node: speaker, write: { writeOut($0 + "\n") },
            log: { writeOut("voicegraph: \($0)\n", to: STDERR_FILENO) })
        let isAsked = await module.run(lines)
        // What a graph keeps is whole then.
        await host.close()
        if isAsked { writeOut(DispatcherModule.farewell + "\n") }
    }

    /// What comes, line by line, without their ends.
    private func standardInputLines() -> AsyncStream<String> {
        let (lines, arrivals) = AsyncStream.makeStream(of: String.self)
        let thread = try? SystemThread(name: "input") {
            var rest: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = read(STDIN_FILENO, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                if count <= 0 { break }
                rest += buffer[..<count]
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    arrivals.yield(String(decoding: rest[..<end], as: UTF8.self))
                    rest.removeFirst(end + 1)
                }
            }
            arrivals.finish()
        }
        thread?.detach()
        if thread == nil { arrivals.finish() }
        return lines
    }
}
