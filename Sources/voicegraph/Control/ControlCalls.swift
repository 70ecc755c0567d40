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
              voicegraph ctl set --at 10 low gain_db 0
              voicegraph ctl set synth wave Saw
            """)

    @ParentCommand var parent: ControlCommand
    @OptionGroup var target: ControlOptions
    @Option(help: ArgumentHelp("When a parameter begins to move, in the graph's time.", valueName: "seconds"))
    var at: Double?
    @Argument(help: "The node's name.", completion: .liveNodes) var node: String
    @Argument(help: "The key of the parameter or setting.", completion: .liveParameters) var parameter: String
    // A list, since otherwise a negative number is taken for an option.
    @Argument(parsing: .allUnrecognized, help: "The value.") var value: [String]

    func validate() throws {
        if let unknown = value.first(where: { $0.hasPrefix("-") && !isNegative($0) }) {
            throw ValidationError("Unknown option '\(unknown)'")
        }
        if value.count > 1 { throw ValidationError("one value, not \(value.count); put one with blanks in quotes") }
        if let number = Double(value[0]), !number.isFinite { throw ValidationError("'\(value[0])' is no number") }
    }

    /// A number below zero, perhaps with a unit: no option.
    private func isNegative(_ text: String) -> Bool {
        text.dropFirst().first.map { $0.isNumber || $0 == "." } ?? false || Double(text) != nil
    }

    func request() -> (String, [String: JSON]) {
        var fields: [String: JSON] = [
            "node": .string(node), "parameter": .string(parameter), "value": JSON(SettingValue(argument: value[0])),
        ]
        if let at { fields["at"] = .number(at) }
        return ("set", fields)
    }
}

/// `ctl get`: what parameters are set to.
struct GetCall: ControlCall {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Print what a parameter of a node is set to, or all of them.",
        discussion: """
            Examples:
              voicegraph ctl get low gain_db
              voicegraph ctl get low --json
            """)

    @ParentCommand var parent: ControlCommand
    @OptionGroup var target: ControlOptions
    @Argument(help: "The node's name.", completion: .liveNodes) var node: String
    @Argument(help: "The parameter's key; without one, all.", completion: .liveParameters) var parameter: String?

    func request() -> (String, [String: JSON]) {
        ("get", ["node": .string(node)].merging(parameter.map { ["parameter": .string($0)] } ?? [:]) { $1 })
    }

    func text(_ answer: JSON) -> String {
        if let value = answer["value"] { return value.text + "\n" }
        return parametersText(answer["parameters"]?.items ?? [])
    }
}

/// Parameters, one a line.
func parametersText(_ parameters: [JSON], indent: String = "") -> String {
    let rows = parameters.map { parameter -> [String] in
        func number(_ key: String) -> String { parameter[key]?.text ?? "" }
        let unit = parameter["unit"]?.string ?? ""
        return [
            printable(parameter["key"]?.string ?? ""), number("value") + (unit.isEmpty ? "" : " " + printable(unit)),
            "(\(number("minimum")) to \(number("maximum")))",
        ]
    }
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
            do throws(HostError) { names = try ControlClient.running(ssh: machine) } catch { throw fail("\(error)") }
        }
        let isJSON = json || parent.target.json
        writeOut(names.map { (isJSON ? JSON.object(["client": .string($0)]).text : $0) + "\n" }.joined())
    }
}
