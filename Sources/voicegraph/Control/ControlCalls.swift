// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Config
import Control
import Glibc
import Host
import JSON
import NodeKit
import Terminal

/// `ctl set`: turns a parameter, or changes a live setting.
struct SetCall: ControlCall {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Turn a parameter of a node, or change a setting that is live.",
        discussion: """
            NAME is a key, or the label of a plugin's port; VALUE a number, with its unit or without, on or off, or \
            the label of one of the values that have names.

            Examples:
              voicegraph ctl set low gain_db "-12 dB"
              voicegraph ctl set --at 10 low.gain_db 0
              voicegraph ctl set synth wave Saw
            """)

    @ParentCommand var parent: ControlCommand
    @OptionGroup var target: ControlOptions
    @Option(help: ArgumentHelp("When a parameter begins to move, in the graph's time.", valueName: "seconds"))
    var at: Double?
    @Argument(help: ArgumentHelp("The node's name, or NODE.PARAMETER.", valueName: "node"), completion: .liveNodes)
    var place: String
    // A list that takes all, since otherwise a negative number is taken for an option.
    @Argument(
        parsing: .allUnrecognized,
        help: ArgumentHelp(
            "The key of the parameter or setting, unless it stands behind the node, and the value.",
            valueName: "parameter> <value"),
        completion: .liveParameters)
    var rest: [String]

    private var node: String { rest.count > 1 ? place : NodeAndName(place)?.node ?? place }
    private var parameter: String { rest.count > 1 ? rest[0] : NodeAndName(place)?.name ?? "" }

    func validate() throws {
        if let unknown = rest.first(where: { $0.hasPrefix("-") && !isNegative($0) }) {
            throw ValidationError("Unknown option '\(unknown)'")
        }
        if rest.count > 2 { throw ValidationError("one value, not \(rest.count - 1); put one with blanks in quotes") }
        if parameter.isEmpty { throw ValidationError("set takes a node, a parameter and a value") }
        if let number = Double(rest.last!), !number.isFinite { throw ValidationError("'\(rest.last!)' is no number") }
    }

    /// A number below zero, perhaps with a unit: no option.
    private func isNegative(_ text: String) -> Bool {
        text.dropFirst().first.map { $0.isNumber || $0 == "." } ?? false || Double(text) != nil
    }

    func request() -> (String, [String: JSON]) {
        var fields: [String: JSON] = [
            "node": .string(node), "parameter": .string(parameter),
            "value": JSON(SettingValue(argument: rest.last!)),
        ]
        if let at { fields["at"] = .number(at) }
        return ("set", fields)
    }
}

/// `ctl get`: what parameters are set to.
struct GetCall: ControlCall {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Print what a parameter or setting of a node is set to, or all of them.",
        discussion: """
            Examples:
              voicegraph ctl get low gain_db
              voicegraph ctl get low
              voicegraph ctl get low --json
            """)

    @ParentCommand var parent: ControlCommand
    @OptionGroup var target: ControlOptions
    @Argument(help: "The node's name, or NODE.PARAMETER.", completion: .liveNodes) var node: String
    @Argument(help: "The key of one parameter or setting; without one, all.", completion: .liveParameters)
    var parameter: String?

    mutating func validate() throws {
        if parameter == nil, let both = NodeAndName(node) { (node, parameter) = (both.node, both.name) }
    }

    func request() -> (String, [String: JSON]) {
        ("get", ["node": .string(node)].merging(parameter.map { ["parameter": .string($0)] } ?? [:]) { $1 })
    }

    func text(_ answer: JSON) -> String {
        if let value = answer["value"] { return plain(value) + "\n" }
        let settings = (answer["settings"]?.items ?? []).map { setting in
            measured(setting) + [setting["live"]?.bool == true ? "(setting)" : "(setting, fixed while it plays)"]
        }
        return lines((answer["parameters"]?.items ?? []).map(parameterRow) + settings)
    }
}

/// A node and its parameter or setting, written as one word.
private struct NodeAndName {
    let node, name: String

    /// nil: there is no dot between two names. What follows the first one is the name: `low.params.gain_db`.
    init?(_ word: String) {
        let parts = word.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) else { return nil }
        (node, name) = (String(parts[0]), String(parts[1]))
    }
}

/// Parameters, one a line.
func parametersText(_ parameters: [JSON], indent: String = "") -> String {
    lines(parameters.map(parameterRow), indent: indent)
}

private func parameterRow(_ parameter: JSON) -> [String] {
    measured(parameter) + ["(\(parameter["minimum"]?.text ?? "") to \(parameter["maximum"]?.text ?? ""))"]
}

/// Key, and value with its unit.
private func measured(_ item: JSON) -> [String] {
    let unit = item["unit"]?.string ?? ""
    let value = item["value"].map(plain) ?? ""
    return [printable(item["key"]?.string ?? ""), value + (unit.isEmpty || value.isEmpty ? "" : " " + printable(unit))]
}

/// A text without quotes; anything else as JSON.
private func plain(_ value: JSON) -> String { printable(value.string ?? value.text) }

/// Three columns, each as wide as its widest cell; the last one is not padded.
private func lines(_ rows: [[String]], indent: String = "") -> String {
    let widths = (0..<2).map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
        let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) } + [row[2]]
        return indent + cells.joined(separator: "  ") + "\n"
    }.joined()
}

/// `ctl status`: what the host measures of itself.
struct StatusCall: ControlCall {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show driver, load and xruns; the same as `voicegraph status`.",
        discussion: """
            Examples:
              voicegraph ctl status
              voicegraph ctl status --json
            """)

    @ParentCommand var parent: ControlCommand
    @OptionGroup var target: ControlOptions

    func request() -> (String, [String: JSON]) { ("status", [:]) }
    func text(_ answer: JSON) -> String { statusText(answer) }
}

/// The status as a table of two columns.
func statusText(_ answer: JSON) -> String {
    let status = Status(answer["status"] ?? .null)
    return StatusTable.text(status, clients: answer["control"]?["clients"]?.integer ?? 0)
}

/// `ctl judge`: what comes from the inputs.
struct JudgeCall: ControlCall {
    static let configuration = CommandConfiguration(
        commandName: "judge", abstract: "Listen to the inputs, and say what comes from them.",
        discussion: """
            Says for each input whether there is a source, whether it is connected, silent, too quiet, clipping, or \
            plausible. Speak meanwhile.

            Examples:
              voicegraph ctl judge
              voicegraph ctl judge mic --seconds 5
            """)

    @ParentCommand var parent: ControlCommand
    @OptionGroup var target: ControlOptions
    @Argument(help: "The input's name; without one, all.", completion: .liveNodes) var node: String?
    @Option(help: ArgumentHelp("How long to listen.", valueName: "seconds")) var seconds = 2.0

    func validate() throws {
        if !(seconds >= 0.1 && seconds <= 60) { throw ValidationError("--seconds is not between 0.1 and 60") }
    }

    func request() -> (String, [String: JSON]) {
        ("judge", ["seconds": .number(seconds)].merging(node.map { ["node": .string($0)] } ?? [:]) { $1 })
    }

    func text(_ answer: JSON) -> String {
        let inputs = answer["inputs"]?.items ?? []
        if inputs.isEmpty { return "The graph has no input.\n" }
        return inputs.map { "\(printable($0["node"]?.string ?? "")): \(printable($0["text"]?.string ?? ""))\n" }
            .joined()
    }
}

/// `ctl list`: the hosts that run.
struct ListCall: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the hosts that run, by name.",
        discussion: """
            Examples:
              voicegraph ctl list
              voicegraph ctl list --json
            """)

    @ParentCommand var parent: ControlCommand
    @OptionGroup var remote: RemoteOptions
    @Flag(help: "One JSON object a line.") var json = false

    func run() throws {
        var names = ControlFolder.standard().running()
        if let machine = remote.ssh ?? parent.target.remote.ssh {
            do throws(Fault) { names = try ControlClient.running(ssh: machine) } catch { throw fail("\(error)") }
        }
        let isJSON = json || parent.target.json
        writeOut(names.map { (isJSON ? JSON.object(["client": .string($0)]).text : $0) + "\n" }.joined())
    }
}
