// SPDX-License-Identifier: Apache-2.0
import API
import Archive
import ArgumentParser
import Control
import Drivers
import Glibc
import GraphFile
import Host
import NodeKit
import Synchronization
import System
import Terminal

/// `voicegraph run`: plays a graph in real time until it is told to stop.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run a graph in real time.",
        discussion: """
            With --driver auto the running JACK server is used, else PipeWire; without both, a server of our own with \
            the dummy driver, which nobody hears, and that is said; as soon as one of the two is there, the graph plays \
            through it. --driver alsa:hw:1 plays to a sound card through a jackd of our own. --driver jack and pipewire wait \
            for their server and alsa for its card, unless --duration is given. [driver] in the graph file says the same: \
            \(DriverDescription.settings.map(\.key).joined(separator: ", ")); --set driver.block=64 changes it. Ctrl-C, \
            SIGTERM or q end the run with exit code 0. SIGHUP reads the file again; `voicegraph ctl` changes the graph \
            while it plays. Where standard output cannot be written the run goes on and ends with exit code 1; when its \
            reader goes away, the run ends.

            \(KeyHelp.text(TerminalView.keys))

            Examples:
              voicegraph run voice.conf
              voicegraph run voice.conf --driver alsa:hw:1 --set driver.block=64
              voicegraph run voice.conf --until-idle --json
            """)

    @OptionGroup
    var graph: GraphOptions

    @OptionGroup
    var plugins: TrustOptions

    @OptionGroup
    var audio: DriverOptions

    @OptionGroup
    var web: WebOptions

    @Flag(help: "Print events as JSON, one object a line.")
    var json = false

    @Option(help: ArgumentHelp("With --json: only events of this name; may be given again.", valueName: "name"))
    var only: [String] = []

    @Flag(help: "Say what happens in lines of text, as for a screen reader, and draw nothing; Enter tells how it is.")
    var plain = false

    @Flag(help: "Read the graph again whenever its file, or one it includes, changes.")
    var watch = false

    @Option(help: ArgumentHelp("End after so many seconds.", valueName: "seconds"))
    var duration: Double?

    @Flag(help: "End when every node has played what it has and the outputs are quiet (at most 10 s later).")
    var untilIdle = false

    @Option(help: ArgumentHelp("How long they must be quiet, with --until-idle.", valueName: "seconds"))
    var tail = 0.5

    @Option(help: ArgumentHelp("Frames that a terminal shows a second, at most.", valueName: "number"))
    var fps = 30.0

    @Option(
        help: ArgumentHelp(
            "How a terminal shows pictures: auto asks it for pixels, but not over ssh; cells draws with characters.",
            valueName: PictureChoice.allCases.map(\.rawValue).joined(separator: "|")))
    var pictures = PictureChoice.auto

    @Flag(help: "At the end, save every LV2 plugin into the folder that its node names with state.")
    var saveState = false

    func validate() throws {
        if let duration, !(duration > 0) { throw ValidationError("--duration must be above 0") }
        if !only.isEmpty, !json { throw ValidationError("--only goes with --json") }
        if json, plain { throw ValidationError("give --json or --plain, not both") }
        guard tail >= 0, tail <= 3600 else { throw ValidationError("--tail must be from 0 to 3600") }
        guard (1...120).contains(fps) else { throw ValidationError("--fps must be from 1 to 120") }
    }

    func run() async throws {
        let service = ServiceNotice.make()
        if pictures == .sixel {
            do throws(NodeError) { try Graphics.check(.sixel) } catch { throw fail("--pictures sixel: \(error)") }
        }
        plugins.apply()
        let ended = EndFlag()
        let host = Host(plugins: try graph.plugins.search())
        let filter = EventFilter(names: only.isEmpty ? nil : only)
        // What nobody is shown need not be made: the host rests more where no series is read.
        let isShown = json || (!plain && isatty(STDOUT_FILENO) == 1)
        let events = host.subscribe(.bounded(4096)) { filter.wants($0) && (isShown || StatusLine.shows($0)) }
        let changes = host.subscribe(.latest) {
            if case .event(let event) = $0 { event.name == HostEvent.changed.name } else { false }
        }
        let readAt = FileWatch.now
        // Before there are plugins: one of them may go to another folder.
        let file = absolute(graph.file)
        let keeper: ArchiveWriter?
        let face: WebFace
        let feed = EventFeed(host)
        do {
            // A plugin may keep it waiting already while it is loaded.
            let waiting = Task.detached { [duration] in await leave(host, when: ended, isShort: duration != nil) }
            defer { waiting.cancel() }
            report(try await host.load(graph.file, overrides: graph.overrides), json: json)
            let graph = await host.description
            // Before anything sounds: an address that is taken is told at once.
            face = try WebFace(
                host, web.description(over: graph?.web), feed, folder: graph?.baseFolder ?? "")
            keeper = graph.flatMap { keep($0, file, of: host) }
            var request = audio.request(over: graph?.driver, client: graph?.name ?? "voicegraph")
            // A run that is to last so long is not to spend that time on waiting.
            request.waits = duration == nil
            try await host.run(request)
        } catch let error as InvalidGraph {
            report(error.diagnostics, json: json)
            throw ExitCode(1)
        } catch let error as Fault {
            throw fail("\(error)")
        }
        guard let description = await host.description, let status = await firstStatus(of: host) else { return }
        if !only.isEmpty {
            let nodes = await host.wiring?.nodes ?? []
            EventNames(nodes.flatMap { $0.instance.declarations.events.map(\.name) }).warn(of: only)
        }
        let control = openControl(of: host, status.client, face.calls, feed)
        // Nobody could ask it anything.
        guard OpenFiles.free >= 8 else {
            await host.close()
            keeper?.finish()
            throw fail(
                "this graph has nearly all the files open that can be at once, \(OpenFiles.raisedLimit()): ulimit -n 4096, or "
                    + "LimitNOFILE= of a service")
        }
        face.tell(host)
        let reloader = try makeReloader(of: host, ended, (file, readAt), service)
        let output = LiveOutput(
            description, await host.face, json: json ? filter : nil, plain: plain, pictures: pictures)
        output.begin(status)
        let telling = Task { await output.tell(events) }
        let following = Task {
            for await _ in changes {
                guard let graph = await host.description else { continue }
                output.update(graph, await host.face)
            }
        }
        let showing = Task { [fps] in if await output.draw(events, framesPerSecond: fps) { ended.set() } }
        let obeying = Task { await output.obey(host) }
        let notifying = Task { await service?.follow(host, description.name) }
        await showUntilEnd(host, output, ended)
        service?.stopping()
        notifying.cancel()
        var failure: Fault?
        if saveState {
            do throws(Fault) { try await host.saveStates() } catch { failure = error }
        }
        reloader.stop()
        control?.close()
        face.close()
        let result = await host.stop()
        let kept = keeper?.finish()
        await host.close()
        await telling.value
        await following.value
        showing.cancel()
        obeying.cancel()
        await showing.value
        output.close()
        if let result { output.report(result.status, result.timings, result.dropouts, dropped: events.dropped) }
        if let failure { throw fail("\(failure)") }
        if let kept, kept.lost > 0 {
            throw fail("\(kept.lost) of what is to be kept could not be written into the archive: \(kept.reason)")
        }
    }

    /// Keeps what nodes say is to be kept, those too that are changed while it plays.
    private func keep(_ graph: GraphDescription, _ path: String, of host: Host) -> ArchiveWriter? {
        guard graph.archive else { return nil }
        return ArchiveWriter(
            keeping: host, session: .init(graph: graph.name, file: path), atOnce: graph.nodes.contains(where: \.keep))
    }

    /// Where other programs reach this run; it plays without that, too.
    private func openControl(of host: Host, _ client: String, _ calls: CallTable, _ feed: EventFeed) -> ControlServer? {
        do throws(Fault) { return try ControlServer(host, client: client, calls: calls, feed: feed) } catch {
            writeOut("voicegraph: this run cannot be controlled: \(error)\n", to: STDERR_FILENO)
            return nil
        }
    }

    private func makeReloader(
        of host: Host, _ ended: EndFlag, _ read: (path: String, time: Double), _ service: ServiceNotice?
    ) throws -> Reloader {
        // With --json the event tells it, and the terminal view has no room for more than a line.
        let quiet = json || isatty(STDOUT_FILENO) == 1
        do throws(Fault) {
            return try Reloader(host, read: read, watching: watch, ended: ended, service: service) {
                if !quiet { report($0) }
            }
        } catch { throw fail("\(error)") }
    }

    /// The status after the first block, so that "running" is true when it is said; of a server that gives none, after
    /// half a second.
    private func firstStatus(of host: Host) async -> Status? {
        for _ in 0..<500 {
            guard let status = await host.status, status.blocks == 0 else { break }
            try? await Task.sleep(for: .milliseconds(1))
        }
        return await host.status
    }

    /// -90 dBFS.
    private static let quiet: Float = 3.2e-5
    /// Seconds after which sound that does not end is waited for no longer: there may be a background.
    private static let longestTail = 10.0

    /// Shows the status ten times a second until something ends the run.
    private func showUntilEnd(_ host: Host, _ output: LiveOutput, _ ended: EndFlag) async {
        let started = monotonicSeconds()
        var second = 0.0
        var idleSince: Double?
        var quietSince: Double?
        while !ended.isSet, !isReaderGone, let status = await host.status {
            output.status(status, everySecond: status.time >= second + 1)
            await output.showTimings(of: host)
            if output.takeKeys(status) { return }
            second = max(second, status.time.rounded(.down))
            // By the clock and not by frames: a server that is gone gives none.
            let rest = (duration ?? .infinity) - (monotonicSeconds() - started)
            if rest <= 0 { return }
            if untilIdle {
                idleSince = await host.isIdle ? idleSince ?? status.time : nil
                // What was played last is still on its way through the graph.
                let peak = idleSince == nil ? 1 : await host.takeOutputPeak()
                quietSince = peak < Self.quiet ? quietSince ?? status.time : nil
                if let quietSince, status.time - quietSince > tail { return }
                if let idleSince, status.time - idleSince > max(Self.longestTail, tail) {
                    let level = fixed(20 * log10(Double(peak)), 1)
                    writeOut(
                        "voicegraph: ended, although the outputs are still at \(level) dBFS: no node has anything left to play\n",
                        to: STDERR_FILENO)
                    return
                }
            }
            try? await Task.sleep(for: .seconds(min(0.1, rest)))
        }
    }
}

/// Ends the program when it is told to end before there is a driver: opening one takes as long as its server hangs. A graph
/// that has begun ends as it should, unless that takes too long. That a server does not answer is told, and one that `isShort`
/// does not wait for it.
private func leave(_ host: Host, when ended: EndFlag, isShort: Bool) async {
    var (patience, isTold) = (10.0, false)
    while !ended.isSet || host.hasBegun && patience > 0 {
        guard (try? await Task.sleep(for: .milliseconds(50))) != nil else { return }
        if ended.isSet { patience -= 0.05 }
        guard let (server, seconds) = DriverChooser.unanswered else { continue }
        func tell(_ what: String) {
            let name = printable(server)
            writeOut("voicegraph: the server '\(name)' does not answer\(what)\n", to: STDERR_FILENO)
        }
        if seconds > 2, !isTold {
            isTold = true
            tell(" yet and is waited for; `voicegraph doctor` tells what is wrong with it")
        }
        if seconds > 30, isShort {
            tell(" within 30 s")
            _exit(1)
        }
    }
    guard !Task.isCancelled else { return }
    writeOut("voicegraph: ended before it played\n", to: STDERR_FILENO)
    _exit(1)
}

/// What calls the audio.
struct DriverOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "What calls the audio: auto, jack, pipewire, alsa, alsa:DEVICE or dummy.", valueName: "driver"))
    var driver: DriverChoice?

    @Option(help: "The name of the JACK server, or of PipeWire's socket.")
    var server: String?

    /// What the file wants, and what the command line says on top. Another driver has another server and device.
    func request(over file: DriverDescription? = nil, client: String) -> DriverRequest {
        var wanted = file ?? DriverDescription()
        if let driver {
            if let kind = wanted.kind, kind != driver.kind {
                (wanted.server, wanted.device, wanted.capture, wanted.playback) = (nil, nil, nil, nil)
            }
            wanted.kind = driver.kind
            if let device = driver.device {
                (wanted.device, wanted.capture, wanted.playback) = (device, nil, nil)
            }
        }
        wanted.server = server ?? wanted.server
        var request = DriverRequest(wanted, client: client)
        request.releasesCode = true
        return request
    }
}

/// What stands behind --driver.
struct DriverChoice: ExpressibleByArgument {
    let kind: DriverRequest.Kind
    var device: String?

    init?(argument: String) {
        let parts = argument.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let kind = DriverRequest.Kind(rawValue: String(parts[0])) else { return nil }
        self.kind = kind
        guard parts.count > 1 else { return }
        guard kind == .alsa, !parts[1].isEmpty else { return nil }
        device = String(parts[1])
    }

    static let allValueStrings = DriverRequest.Kind.allCases.map(\.rawValue)
}

/// Whether a signal asked for the end: what handles signals may touch nothing else.
private let endWasAsked = Atomic(false)

/// Set when a signal or a key ends the run.
final class EndFlag: Sendable {
    private let flag = Atomic(false)

    /// By Ctrl-C and SIGTERM, and where `hangup` is said by the end of the terminal too, unless whoever began the program
    /// keeps that from it, as nohup does. From here on no signal is lost.
    init(hangup: Bool = false) {
        endWasAsked.store(false, ordering: .releasing)
        for number in [SIGINT, SIGTERM] + (hangup ? [SIGHUP] : []) {
            var action = sigaction()
            sigaction(number, nil, &action)
            let before = unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            if number == SIGHUP, before == unsafeBitCast(SIG_IGN, to: Int.self) { continue }
            action = sigaction()
            action.__sigaction_handler.sa_handler = { _ in endWasAsked.store(true, ordering: .releasing) }
            action.sa_flags = SA_RESTART
            sigaction(number, &action, nil)
        }
    }

    var isSet: Bool { flag.load(ordering: .acquiring) || endWasAsked.load(ordering: .acquiring) }
    func set() { flag.store(true, ordering: .releasing) }
}
