// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Config
import Control
import Glibc
import Graph
import Host
import JSON
import System
import Terminal

/// `voicegraph top`: what each node of a running host takes, as it changes.
struct TopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top", abstract: "Show what each node takes of a block, live.",
        discussion: """
            On a terminal until q or Ctrl-C; elsewhere one table. With --json one object a second until it is ended.

            \(KeyHelp.text(TopKeys.help))

            Examples:
              voicegraph top
              voicegraph top --json
            """)

    @Option(
        help: ArgumentHelp("The host, by its JACK client's name; needed if several run.", valueName: "name"),
        completion: .shellCommand("voicegraph ctl list 2>/dev/null"))
    var client: String?

    @OptionGroup
    var remote: RemoteOptions

    @Flag(help: "Print JSON, one object a second.")
    var json = false

    func run() async throws {
        // On a terminal what ssh says later would stand in the picture.
        let machine = remote.ssh
        let isShown = !json && isatty(STDOUT_FILENO) == 1
        let connection = try connect(HostChoice(client: client, ssh: machine), isSilent: isShown)
        if json { return try await printLines(connection) }
        var capabilities = TerminalCapabilities(environment: processEnvironment())
        capabilities.ask()
        guard let device = TerminalDevice(capabilities: capabilities) else {
            do throws(Fault) { writeOut(TopTable.text(try look(connection))) } catch { throw fail("\(error)") }
            return
        }
        let (width, height) = device.size
        let view = TopView(capabilities: capabilities, width: width, height: height)
        let name = connection.name
        let watching = Task {
            var connection: ControlClient? = connection
            var last = TopState()
            while !Task.isCancelled {
                do throws(Fault) {
                    let current = if let connection { connection } else { try again(name, on: machine) }
                    connection = current
                    last = try look(current)
                } catch {
                    // It may come back; until then what it was last is shown.
                    connection = nil
                    last.lost = error.message
                }
                view.update(last)
                try? await Task.sleep(for: .seconds(TopView.interval))
            }
        }
        let ended = EndFlag()
        let showing = Task { await device.show(view) }
        let ending = Task {
            while !ended.isSet, !Task.isCancelled { try? await Task.sleep(for: .milliseconds(50)) }
            showing.cancel()
        }
        _ = await showing.value
        device.close()
        ending.cancel()
        watching.cancel()
    }

    private func printLines(_ connection: ControlClient) async throws {
        while true {
            do throws(Fault) {
                let answers = ["status", "timings", "dropouts"].map { (call: String) in (call, JSON.null) }
                var all = Dictionary(uniqueKeysWithValues: answers)
                for call in all.keys { all[call] = try connection.call(call).answer[call] }
                guard writeOut(JSON.object(all).text + "\n") else { return }
            } catch { throw fail("\(error)") }
            try? await Task.sleep(for: .seconds(1))
        }
    }
}

/// Connects to a host that was there before.
private func again(_ name: String, on machine: String?) throws(Fault) -> ControlClient {
    guard let machine else { return try ControlClient(name) }
    return try ControlClient(name, ssh: machine, asks: false, isSilent: true)
}

/// Asks a host for all that `top` shows.
private func look(_ connection: ControlClient) throws(Fault) -> TopState {
    let status = try connection.call("status").answer["status"] ?? .null
    let timings = try connection.call("timings").answer["timings"]?.fields ?? [:]
    let dropouts = try connection.call("dropouts").answer["dropouts"]?.items ?? []
    return TopState(
        Status(status), timings.map { NodeTiming(node: $0.key, $0.value) },
        dropouts: dropouts.reversed().map { ($0["text"]?.string ?? "", $0["advice"]?.string ?? "") })
}
