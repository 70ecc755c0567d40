// SPDX-License-Identifier: Apache-2.0
import Host
import NodeKit
import System

/// An output module of Speech Dispatcher: what screen readers and other programs have spoken by it goes through a graph. The
/// server writes commands line by line and reads answers and events (its manual, "Communication Protocol for Output Modules").
public actor DispatcherModule {
    private let host: Host
    private let node: String
    private let write, log: @Sendable (String) -> Void
    private var style = DispatcherStyle()
    /// What is to come, line by line.
    private var awaited = Awaited.command
    private var lines: [String] = []
    private var current: Message?

    private enum Awaited: Equatable {
        case command
        /// A message of this kind, until a line with a point.
        case message(String)
        /// Settings, and the answers to them.
        case settings(String)
    }

    /// What is spoken.
    private struct Message {
        /// nil: not known yet.
        var item: Int?
        var hasBegun = false
        var marks: [DispatcherText.Mark]
    }

    /// Speaks by the node of a host that plays; `write` gives whole lines to the server, `log` to its log.
    public init(
        _ host: Host, node: String, write: @escaping @Sendable (String) -> Void,
        log: @escaping @Sendable (String) -> Void
    ) {
        self.host = host
        self.node = node
        self.write = write
        self.log = log
    }

    /// What the server is told that has asked for the end, once all has ended: it kills whoever is not gone soon after.
    public static let farewell = "210 OK QUIT"

    /// Follows the server until it ends; `input`: its lines, without their ends. Returns whether it waits for `farewell`.
    public func run(_ input: AsyncStream<String>) async -> Bool {
        enum Incoming: Sendable { case line(String), event(Event), end }
        let (incoming, arrivals) = AsyncStream.makeStream(of: Incoming.self)
        let node = node
        let events = host.subscribe(.lossless) {
            guard case .event(let event) = $0 else { return false }
            return event.node == node
        }
        let listener = Task {
            for await published in events { if case .event(let event) = published { arrivals.yield(.event(event)) } }
        }
        let reader = Task {
            for await line in input { arrivals.yield(.line(line)) }
            arrivals.yield(.end)
        }
        // One after the other, so that no event comes between a command and its answer.
        var isAsked = false
        loop: for await arrival in incoming {
            switch arrival {
            case .line(let line):
                isAsked = await !take(line)
                if isAsked { break loop }
            case .event(let event): take(event)
            case .end: break loop
            }
        }
        events.cancel()
        listener.cancel()
        reader.cancel()
        return isAsked
    }

    // MARK: commands

    /// Takes a line; false: the server wants no more.
    private func take(_ line: String) async -> Bool {
        guard awaited != .command else { return await command(line) }
        guard line == "." else {
            lines.append(line.hasPrefix(".") ? String(line.dropFirst()) : line)
            return true
        }
        let (given, kind) = (lines, awaited)
        lines = []
        awaited = .command
        switch kind {
        case .message(let kind): await speak(given, kind)
        case .settings(let answer):
            let isSet = given.allSatisfy { line in
                let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                // Only what concerns voices is ours: where sound goes, the graph says.
                return parts.count == 2 && (answer.hasPrefix("203 OK SETTINGS") ? style.set(parts[0], parts[1]) : true)
            }
            write(isSet ? answer : "303 ERROR INVALID PARAMETER OR VALUE")
        case .command: break
        }
        return true
    }

    private func command(_ line: String) async -> Bool {
        switch line {
        case "INIT": write("299-voicegraph \(hostVersion)\n299 OK LOADED SUCCESSFULLY")
        case "AUDIO": begin(.settings("203 OK AUDIO INITIALIZED"), "207 OK RECEIVING AUDIO SETTINGS")
        case "LOGLEVEL": begin(.settings("203 OK LOGLEVEL SET"), "207 OK RECEIVING LOGLEVEL SETTINGS")
        case "SET": begin(.settings("203 OK SETTINGS RECEIVED"), "203 OK RECEIVING SETTINGS")
        case "SPEAK", "CHAR", "KEY", "SOUND_ICON": begin(.message(line), "202 OK RECEIVING MESSAGE")
        case "STOP": await end("703 STOP")
        case "PAUSE": await end("704 PAUSE")
        case "QUIT":
            await end("703 STOP")
            return false
        case _ where line.hasPrefix("LIST VOICES"):
            await listVoices(line.split(separator: " ").dropFirst(2).map(String.init))
        case _ where line.hasPrefix("DEBUG"): write("200 OK DEBUGGING")
        default: write("300 ERR UNKNOWN COMMAND")
        }
        return true
    }

    private func begin(_ what: Awaited, _ answer: String) {
        awaited = what
        write(answer)
    }

    private func listVoices(_ wanted: [String]) async {
        var arguments: [String: SettingValue] = [:]
        if let language = wanted.first { arguments["language"] = .string(language) }
        guard case .list(let voices)? = try? await host.perform("voices", on: node, arguments)["voices"],
            !voices.isEmpty
        else { return write("304 CANT LIST VOICES") }
        let rows = voices.compactMap { voice -> String? in
            guard case .table(let fields) = voice, case .string(let name)? = fields["name"],
                case .string(let language)? = fields["language"]
            else { return nil }
            return "200-\(name)\t\(language.isEmpty ? "none" : language)\tnone"
        }
        write((rows + ["200 OK VOICE LIST SENT"]).joined(separator: "\n"))
    }

    // MARK: speaking

    private func speak(_ lines: [String], _ kind: String) async {
        if lines.isEmpty || lines.allSatisfy(\.isEmpty) { return write("301 ERROR CANT SPEAK") }
        if kind != "SPEAK", lines.count > 1 { return write("305 DATA MORE THAN ONE LINE") }
        let text: DispatcherText
        switch kind {
        case "SPEAK": text = DispatcherText(markup: lines.joined(separator: "\n"), style)
        case "CHAR":
            text = DispatcherText(
                plain: lines[0].unicodeScalars.count == 1
                    ? style.name(of: lines[0].unicodeScalars.first!) : style.name(ofKey: lines[0]))
        case "KEY": text = DispatcherText(plain: style.name(ofKey: lines[0]))
        default: text = DispatcherText(plain: lines[0].split { "-_".contains($0) }.joined(separator: " "))
        }
        await end("703 STOP")
        write("200 OK SPEAKING")
        current = Message(marks: text.marks)
        if text.isBlank {
            begun()
            return ended("702 END")
        }
        for arguments in style.arguments {
            let all = arguments.merging(["text": .string(text.text)]) { $1 }
            do {
                if case .integer(let item)? = try await host.perform(VG_ACTION_SPEAK, on: node, all)["item"] {
                    current?.item = Int(item)
                    return
                }
            } catch { log("\(error)") }
        }
        begun()
        ended("703 STOP")
    }

    /// Ends what is spoken, if anything is.
    private func end(_ how: String) async {
        guard current != nil else { return }
        _ = try? await host.perform(VG_ACTION_STOP, on: node)
        begun()
        ended(how)
    }

    private func begun() {
        if current?.hasBegun == false { write("701 BEGIN") }
        current?.hasBegun = true
    }

    private func ended(_ how: String) {
        if how == "702 END" { tellMarks(until: .max) }
        current = nil
        write(how)
    }

    private func tellMarks(until place: Int) {
        while let mark = current?.marks.first, mark.place <= place {
            current?.marks.removeFirst()
            write("700-\(mark.name)\n700 INDEX MARK")
        }
    }

    private func take(_ event: Event) {
        guard let item = current?.item, Settings(event.fields).integer("item") == item else { return }
        if event.type?.end == .heard {
            begun()
            return ended("702 END")
        }
        switch event.type?.kind {
        case .failure:
            begun()
            ended("703 STOP")
        case .word, .sentence:
            begun()
            if let place = Settings(event.fields).integer("offset") { tellMarks(until: place) }
        default: break
        }
    }
}
