// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Control
import Glibc
import GraphFile
import Host
import JSON
import NodeKit
import Terminal

/// `ctl say`: speech.
struct SayCall: ControlCall {
    static let configuration = CommandConfiguration(
        commandName: "say", abstract: "Speak a text: the action speak of a node.",
        discussion: """
            Examples:
              voicegraph ctl say "Nothing of this clicks."
              voicegraph ctl say --node tts "Good morning."
            """)

    @ParentCommand var parent: ControlCommand
    @OptionGroup var target: ControlOptions
    @Option(help: "The node that speaks; needed if several can.") var node: String?
    @Argument(help: "The text.") var words: [String]

    func request() -> (String, [String: JSON]) {
        let text = ["text": JSON.string(words.joined(separator: " "))]
        return ("say", text.merging(node.map { ["node": .string($0)] } ?? [:]) { $1 })
    }
}

/// `ctl send`: a message to any message input.
struct SendCall: ControlCall {
    static let configuration = CommandConfiguration(
        commandName: "send", abstract: "Send a message to a message input of a node.",
        discussion: """
            Examples:
              voicegraph ctl send tts text "Good morning."
            """)

    @ParentCommand var parent: ControlCommand
    @OptionGroup var target: ControlOptions
    @Flag(help: "The message is a number.") var number = false
    @Argument(help: "The node's name.", completion: .liveNodes) var node: String
    @Argument(help: "The input's symbol.") var port: String
    @Argument(help: "The message.") var message: String

    func validate() throws {
        if number, Double(message) == nil { throw ValidationError("'\(message)' is no number") }
    }

    func request() -> (String, [String: JSON]) {
        let content: [String: JSON] =
            if number, let value = Double(message) { ["number": .number(value)] } else { ["text": .string(message)] }
        return ("send", content.merging(["node": .string(node), "port": .string(port)]) { $1 })
    }
}

/// `ctl nodes`: what plays.
struct NodesCall: ControlCall {
    static let configuration = CommandConfiguration(
        commandName: "nodes", abstract: "Print the graph that plays: nodes with their parameters, and links.",
        discussion: """
            Examples:
              voicegraph ctl nodes
              voicegraph ctl nodes --json
            """)

    @ParentCommand var parent: ControlCommand
    @OptionGroup var target: ControlOptions

    func request() -> (String, [String: JSON]) { ("nodes", [:]) }

    func text(_ answer: JSON) -> String {
        var text = ""
        for node in answer["nodes"]?.items ?? [] {
            var line = [node["name"]?.string ?? "", node["type"]?.string ?? ""].map(printable).joined(separator: "  ")
            for flag in ["bypass", "mute"] where node[flag]?.bool == true { line += "  \(flag)" }
            if let reason = node["degraded"]?.string { line += "  failed: \(printable(reason))" }
            text += line + "\n" + parametersText(node["parameters"]?.items ?? [], indent: "  ")
        }
        for link in answer["links"]?.items ?? [] {
            let gain = link["gain_db"]?.double ?? 0
            text += printable("\(link["from"]?.string ?? "") -> \(link["to"]?.string ?? "")")
            text += gain == 0 ? "\n" : "  \(link["gain_db"]?.text ?? "") dB\n"
        }
        return text
    }
}

/// `ctl events`: what happens, as it happens.
struct EventsCall: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events", abstract: "Print what happens as JSON, one object a line, until the run ends.",
        discussion: """
            The lines are those of `voicegraph run --json`. The states that there are \
            come first. What is lost because they are not read in time is told. --series \
            leaves out all other series, and lets those be measured that take time: `voicegraph \
            describe TYPE` says "on request" of such series; every node from which audio comes \
            has one more, `output`, how loud it is.

            Examples:
              voicegraph ctl events
              voicegraph ctl events speech.started speech.finished
              voicegraph ctl events series --series bands
            """)

    @ParentCommand var parent: ControlCommand
    @OptionGroup var target: ControlOptions
    @Argument(help: "Names of events, for example series or speech.started; without any, all.") var only: [String] = []

    @Option(help: ArgumentHelp("Of the series only this one; may be given again.", valueName: "name"))
    var series: [String] = []

    /// A name that no node has is a mistake.
    private func check(_ names: [String], _ connection: ControlClient) throws(Fault) {
        let measured = try connection.call("series").answer["series"]?.items ?? []
        let known = Set(
            measured.flatMap { series -> [String] in
                let name = series["name"]?.string ?? ""
                return [name, "\(series["node"]?.string ?? "").\(name)"]
            })
        var suggester = Suggester()
        for name in names where !known.contains(name) {
            let some = Set(measured.compactMap { $0["name"]?.string }).sorted().joined(separator: ", ")
            throw Fault(
                "no node has a series '\(name)'",
                hint: suggester.hint(name, among: known, otherwise: "there are: \(some)"))
        }
    }

    func run() throws {
        let connection = try connect(target.host(parent.target))
        do throws(Fault) {
            var wanted: [String: JSON] = only.isEmpty ? [:] : ["only": .list(only.map(JSON.string))]
            if !series.isEmpty {
                try check(series, connection)
                wanted["series"] = .list(series.map(JSON.string))
            }
            let declared = try connection.call("declared").answer["events"]?.items ?? []
            EventNames(declared.compactMap { $0["name"]?.string }).warn(of: only)
            _ = try connection.call("events", wanted)
            while let line = try connection.nextLine(patiently: true) {
                if !writeOut(String(decoding: line, as: UTF8.self) + "\n") { return }
            }
        } catch { throw fail("\(error)") }
    }
}

/// The events that a host and its nodes have.
struct EventNames {
    private let known: Set<String>

    /// `declared`: by the nodes that play.
    init(_ declared: [String]) { known = Set(HostEvent.all.map(\.name) + declared + ["series"]) }

    /// Says on standard error which names nobody declares; a node that is added later may.
    func warn(of names: [String]) {
        var suggester = Suggester()
        for name in names where !known.contains(name) {
            let there = known.sorted().joined(separator: ", ")
            let hint = suggester.hint(name, among: known, otherwise: "there are: \(there)")
            writeOut("voicegraph: no node that plays has an event '\(printable(name))' (\(hint))\n", to: STDERR_FILENO)
        }
    }
}
