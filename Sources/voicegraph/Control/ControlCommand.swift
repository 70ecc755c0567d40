// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Control
import GraphFile
import Host
import JSON
import System

/// Which machine is meant.
struct RemoteOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The machine where the host runs, as ssh knows it; without it this one.", valueName: "machine"))
    var ssh: String?

    func validate() throws {
        if let ssh, ssh.isEmpty || ssh.hasPrefix("-") || ssh.contains(where: \.isWhitespace) {
            throw ValidationError("--ssh takes what ssh takes: MACHINE, USER@MACHINE or ssh://USER@MACHINE:PORT")
        }
    }
}

/// A host, by its JACK client's name, or the only one; on this machine, or on one that ssh reaches.
struct HostChoice {
    var client: String?
    var ssh: String?
}

/// Which host is meant, and how its answer is printed.
struct ControlOptions: ParsableArguments {
    @Option(
        name: .customLong("client"),
        help: ArgumentHelp("The host, by its JACK client's name; needed if several run.", valueName: "name"),
        completion: .shellCommand("voicegraph ctl list 2>/dev/null"))
    var clientName: String?

    @OptionGroup var remote: RemoteOptions

    @Flag(help: "Print the answer as JSON, as it came.")
    var json = false

    /// The host; what is not said here may be said before the call.
    func host(_ parent: ControlOptions? = nil) -> HostChoice {
        HostChoice(client: clientName ?? parent?.clientName, ssh: remote.ssh ?? parent?.remote.ssh)
    }
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
            BypassCall.self, MuteCall.self, UndoCall.self, RedoCall.self, ReloadCall.self, DoCall.self,
            ActionsCall.self, SayCall.self,
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
    var host: HostChoice { target.host(parent.target) }
    var json: Bool { target.json || parent.target.json }

    func text(_ answer: JSON) -> String { "" }

    func run() throws {
        let (call, fields) = try request()
        let answer = try ask(host, call, fields, json: json)
        if !json { writeOut(text(answer)) }
    }
}

/// Connects, or ends the command with the reason. `isSilent`: ssh prints nothing.
func connect(_ host: HostChoice, isSilent: Bool = false, forwards: Bool = false) throws -> ControlClient {
    do throws(Fault) {
        guard let ssh = host.ssh else { return try ControlClient(host.client) }
        return try ControlClient(host.client, ssh: ssh, isSilent: isSilent, forwards: forwards)
    } catch { throw fail("\(error)") }
}

/// Makes one call. A refusal ends the command: what is wrong on standard error, or with `json` the answer on standard
/// output.
@discardableResult
func ask(_ host: HostChoice, _ call: String, _ fields: [String: JSON] = [:], json: Bool = false) throws -> JSON {
    try ask(connect(host), call, fields, json: json)
}

/// The same through a connection that there is.
@discardableResult
func ask(
    _ connection: ControlClient, _ call: String, _ fields: [String: JSON] = [:], json: Bool = false
) throws -> JSON {
    let (line, answer): (String, JSON)
    do throws(Fault) { (line, answer) = try connection.call(call, fields) } catch { throw fail("\(error)") }
    if json { writeOut(line + "\n") }
    if answer["ok"]?.bool == true { return answer }
    guard !json else { throw ExitCode(1) }
    let diagnostics = answer["error"]?["diagnostics"]?.items.map(Diagnostic.init) ?? []
    if diagnostics.contains(where: { $0.location.line > 0 }) {
        report(diagnostics)
        throw ExitCode(1)
    }
    let message = answer["error"]?["message"]?.string ?? "the host refuses"
    throw fail("\(Fault(message, hint: answer["error"]?["hint"]?.string ?? ""))")
}
