// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Control
import Graph
import Host
import JSON

/// Which host is meant, and how its answer is printed.
struct ControlOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The host, by its JACK client's name; needed if several run.", valueName: "name"),
        completion: .shellCommand("voicegraph ctl list 2>/dev/null"))
    var client: String?

    @Flag(help: "Print the answer as JSON, as it came.")
    var json = false
}

/// `voicegraph ctl`: changes a graph that plays.
struct ControlCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ctl", abstract: "Change a graph while it plays.",
        discussion: """
            Every call is done without a click, or not at all: exit code 1 and a reason. Changes end with the run; a \
            reload makes the graph what the file says.

            Examples:
              voicegraph ctl set low gain_db -12
              voicegraph ctl --client voice mute mic
            """,
        subcommands: [
            SetCall.self, GetCall.self, JudgeCall.self, NodesCall.self, AddCall.self, RemoveCall.self, LinkCall.self,
            UnlinkCall.self,
            BypassCall.self, MuteCall.self, ReloadCall.self, DoCall.self, ActionsCall.self, SayCall.self,
            SendCall.self, SaveCall.self, StatusCall.self, EventsCall.self, ListCall.self,
        ])

    @OptionGroup
    var target: ControlOptions
}

/// A call of `voicegraph ctl`.
protocol ControlCall: ParsableCommand {
    var parent: ControlCommand { get }
    var target: ControlOptions { get }
    /// Name and fields, as on the socket.
    func request() throws -> (String, [String: JSON])
    /// What a person reads of the answer; empty: nothing.
    func text(_ answer: JSON) -> String
}

extension ControlCall {
    /// Options may stand before the call or after it.
    var client: String? { target.client ?? parent.target.client }
    var json: Bool { target.json || parent.target.json }

    func text(_ answer: JSON) -> String { "" }

    func run() throws {
        let (call, fields) = try request()
        let answer = try ask(client, call, fields, json: json)
        if !json { writeOut(text(answer)) }
    }
}

/// Connects, or ends the command with the reason.
func connect(_ client: String?) throws -> ControlClient {
    do throws(HostError) { return try ControlClient(client) } catch { throw fail("\(error)") }
}

/// Makes one call. A refusal ends the command: what is wrong on standard error, or with `json` the answer on standard
/// output.
@discardableResult
func ask(_ client: String?, _ call: String, _ fields: [String: JSON] = [:], json: Bool = false) throws -> JSON {
    let connection = try connect(client)
    let (line, answer): (String, JSON)
    do throws(HostError) { (line, answer) = try connection.call(call, fields) } catch { throw fail("\(error)") }
    if json { writeOut(line + "\n") }
    if answer["ok"]?.bool == true { return answer }
    guard !json else { throw ExitCode(1) }
    let diagnostics = answer["error"]?["diagnostics"]?.items.map(Diagnostic.init) ?? []
    if diagnostics.contains(where: { $0.location.line > 0 }) {
        report(diagnostics)
        throw ExitCode(1)
    }
    let message = answer["error"]?["message"]?.string ?? "the host refuses"
    throw fail("\(HostError(message, hint: answer["error"]?["hint"]?.string ?? ""))")
}

extension Diagnostic {
    /// Reads one as `check --json` prints it.
    init(_ json: JSON) {
        let place = SourceLocation(
            file: json["file"]?.string ?? "", line: json["line"]?.integer ?? 0, column: json["column"]?.integer ?? 0)
        self.init(
            json["severity"]?.string == "warning" ? .warning : .error, json["message"]?.string ?? "", at: place,
            hint: json["hint"]?.string ?? "")
    }
}
