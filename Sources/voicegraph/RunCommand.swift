// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Dispatch
import Glibc
import Host
import Synchronization
import Terminal

/// `voicegraph run`: plays a graph in real time until it is told to stop.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run a graph in real time.",
        discussion: """
            With --driver auto the running JACK server is used; without one, a server of our own with the dummy \
            driver, so that other JACK programs can still connect. Ctrl-C, SIGTERM or q end the run with exit code 0.
            """)

    @Argument(help: "The graph file.", completion: .file(extensions: ["conf", "toml"]))
    var file: String

    @Option(help: "What calls the audio: auto, jack or dummy.")
    var driver = DriverRequest.Kind.auto

    @Option(
        name: .customLong("set"), help: ArgumentHelp("Change a setting: node.NAME.key=value.", valueName: "override"))
    var overrides: [String] = []

    @Option(help: "The JACK server's name.")
    var server: String?

    @Option(
        help: ArgumentHelp("A folder with plugins; may be given several times.", valueName: "folder"),
        completion: .directory)
    var pluginPath: [String] = []

    @Flag(help: "Print events as JSON, one object a line.")
    var json = false

    @Option(help: ArgumentHelp("End after so many seconds.", valueName: "seconds"))
    var duration: Double?

    @Flag(help: "End when every node has played what it has.")
    var untilIdle = false

    func validate() throws {
        if let duration, !(duration > 0) { throw ValidationError("--duration must be above 0") }
    }

    func run() async throws {
        let prepared = try loadGraph(file, overrides, pluginPath, json: json)
        let ended = EndFlag()
        let running: RunningGraph
        do {
            let opened = try DriverChooser.open(
                DriverRequest(kind: driver, client: prepared.description.name, server: server))
            running = try RunningGraph.start(prepared, on: opened)
        } catch let error as DriverError {
            throw fail("\(error)")
        } catch let error as HostError {
            throw fail("\(error)")
        }
        let events = running.bus.subscribe(.bounded(4096))
        let capabilities = TerminalCapabilities(environment: environment())
        let device = json ? nil : TerminalDevice(capabilities: capabilities)
        let output =
            device.map {
                LiveOutput.view(
                    $0,
                    TerminalView(
                        graph: running.description, capabilities: capabilities, width: $0.size.width,
                        height: $0.size.height))
            } ?? (json ? .json : .lines)
        output.begin(running)
        let reader = Task {
            var line = StatusLine()
            for await published in events { output.show(published, &line) }
        }
        var showing: Task<Void, Never>?
        if case .view(let device, let view) = output {
            showing = Task { if await device.show(view) { ended.set() } }
        }
        await pumpUntilEnd(running, output, ended)
        running.stop()
        showing?.cancel()
        await showing?.value
        device?.close()
        running.bus.finish()
        await reader.value
        output.report(running)
    }

    /// Does the graph's ordinary work 120 times a second, and tells its status, until something ends the run.
    private func pumpUntilEnd(_ running: RunningGraph, _ output: LiveOutput, _ ended: EndFlag) async {
        var round = 0
        var idleSince: Double?
        while !ended.isSet {
            running.pump()
            if round % 12 == 0 { output.status(running.status, everySecond: round % 120 == 0) }
            round += 1
            let now = running.status.time
            if let duration, now >= duration { return }
            if untilIdle {
                idleSince = running.isIdle ? idleSince ?? now : nil
                if let idleSince, now - idleSince > 0.3 { return }
            }
            try? await Task.sleep(for: .milliseconds(8))
        }
    }
}

extension DriverRequest.Kind: ExpressibleByArgument {}

/// Set when a signal or a key ends the run.
final class EndFlag: @unchecked Sendable {
    // Sendable: the sources are kept, and touched only at the start.
    private let flag = Atomic(false)
    private var sources: [any DispatchSourceSignal] = []

    init() {
        for number in [SIGINT, SIGTERM] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { [weak self] in self?.set() }
            source.resume()
            sources.append(source)
        }
    }

    var isSet: Bool { flag.load(ordering: .acquiring) }
    func set() { flag.store(true, ordering: .releasing) }
}
