// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Config
import Control
import Host
import JSON
import NodeKit
import Terminal

/// `ctl do`: an action of a node.
struct DoCall: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "do", abstract: "Do an action of a node and print what it returns.",
        discussion: """
            `voicegraph ctl actions` lists what can be done, with the arguments.

            Examples:
              voicegraph ctl do take finish
              voicegraph ctl do amp preset preset="Warm Tube"
              voicegraph ctl do music seek position=15
            """)

    @ParentCommand var parent: ControlCommand
    @OptionGroup var target: ControlOptions
    @Option(help: ArgumentHelp("How long to wait for the end.", valueName: "seconds")) var patience: Double = 10
    @Argument(help: "The node's name.", completion: .liveNodes) var node: String
    @Argument(help: "The action's name.", completion: .liveActions) var action: String
    @Argument(help: ArgumentHelp("What it takes, by name.", valueName: "key=value")) var arguments: [String] = []

    func validate() throws {
        guard patience > 0, patience <= 3600 else {
            throw ValidationError("--patience must be above 0 and at most 3600")
        }
        for argument in arguments where argument.firstIndex(of: "=").map({ $0 == argument.startIndex }) ?? true {
            throw ValidationError("'\(argument)' is not written as key=value")
        }
    }

    func run() throws {
        let connection = try connect(target.host(parent.target))
        let json = target.json || parent.target.json
        // What each argument is decides how it is read: a text that looks like a number stays a text.
        let known = arguments.isEmpty && json ? nil : try ask(connection, "actions", ["node": .string(node)])
        let called = known?["actions"]?.items.first { $0["name"]?.string == action }
        let declared = called?["arguments"]?.items ?? []
        var given: [String: JSON] = [:]
        for argument in arguments {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let kind = declared.first { $0["key"]?.string == parts[0] }?["kind"]?.string
            guard given[parts[0]] == nil else { throw ValidationError("'\(parts[0])' is given twice") }
            given[parts[0]] = value(parts[1], kind: kind)
        }
        let answer = try ask(
            connection, "do",
            [
                "node": .string(node), "action": .string(action), "arguments": .object(given),
                "patience": .number(patience),
            ], json: json)
        if !json { writeOut(resultText(answer["results"]?.fields ?? [:], called?["results"]?.items ?? [])) }
    }

    private func value(_ text: String, kind: String?) -> JSON {
        switch kind {
        case "text", "file", "text or list of texts": .string(text)
        default: JSON(SettingValue(argument: text))
        }
    }
}

/// Results, one a line, each with its name and the unit that is declared for it, numbers to a thousandth.
private func resultText(_ results: [String: JSON], _ declared: [JSON]) -> String {
    func text(_ value: JSON) -> String {
        guard case .number(let number) = value else { return printable(value.string ?? value.text) }
        return EventJSON.number((number * 1000).rounded() / 1000)
    }
    return results.sorted { $0.key < $1.key }.map { name, value in
        let unit = declared.first { $0["name"]?.string == name }?["unit"]?.string ?? ""
        return "\(printable(name))  \(text(value))\(unit.isEmpty ? "" : " " + printable(unit))\n"
    }.joined()
}

/// `ctl actions`: what can be done.
struct ActionsCall: ControlCall {
    static let configuration = CommandConfiguration(
        commandName: "actions", abstract: "Print what can be done to a node, or to every node, with `ctl do`.",
        discussion: """
            Examples:
              voicegraph ctl actions
              voicegraph ctl actions tts
            """)

    @ParentCommand var parent: ControlCommand
    @OptionGroup var target: ControlOptions
    @Argument(help: "The node's name; without one, all.", completion: .liveNodes) var node: String?

    func request() -> (String, [String: JSON]) { ("actions", node.map { ["node": .string($0)] } ?? [:]) }

    func text(_ answer: JSON) -> String {
        let actions = answer["actions"]?.items ?? []
        guard !actions.isEmpty else { return node == nil ? "no node has actions\n" : "it has no actions\n" }
        return actions.map { action in
            func word(_ key: String) -> String { printable(action[key]?.string ?? "") }
            let lines = (action["arguments"]?.items ?? []).map { argument -> String in
                func word(_ key: String) -> String { printable(argument[key]?.string ?? "") }
                let need = argument["required"]?.bool == true ? "" : ", optional"
                return "    \(word("key"))=\(word("kind"))\(need): \(word("doc"))\n"
            }
            return "\(word("node")) \(word("name")): \(word("doc"))\n" + lines.joined()
        }.joined()
    }
}
