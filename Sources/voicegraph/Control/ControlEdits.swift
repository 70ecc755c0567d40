// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Control
import Glibc
import GraphFile
import Host
import JSON
import NodeKit
import Terminal

/// A call that changes the graph, and says what it did.
protocol ChangeCall: ControlCall {}

extension ChangeCall {
    func text(_ answer: JSON) -> String { changed(answer) }

    /// What an answer says of the change.
    func changed(_ answer: JSON) -> String {
        var text = printable(answer["changed"]?["text"]?.string ?? "changed") + "\n"
        for warning in answer["warnings"]?.items.map(Diagnostic.init) ?? [] {
            text += "warning: \(printable(warning.fault.description))\n"
        }
        return text
    }
}

/// `ctl add`: a new node, by itself or in a link.
struct AddCall: ChangeCall {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add a node, into a link or to be linked then.",
        discussion: """
            Settings are written as for --set, values as in a file.

            Examples:
              voicegraph ctl add echo delay ms=300
              voicegraph ctl add fuzz lv2 plugin=eg-amp params.gain=-6
              voicegraph ctl add low gain gain_db=-6 --into "mic -> out"
            """)

    @ParentCommand var parent: ControlCommand
    @OptionGroup var target: ControlOptions
    @Argument(help: "The new node's name.") var name: String
    @Argument(help: "Its type; `voicegraph nodes` lists them.", completion: .nodeTypes) var type: String
    @Argument(help: ArgumentHelp("Settings and parameters.", valueName: "key=value")) var settings: [String] = []
    @Option(help: ArgumentHelp("A link that then goes through it.", valueName: "a -> b")) var into: String?

    func validate() throws {
        if let wrong = settings.first(where: { !$0.contains("=") || $0.hasPrefix("=") }) {
            throw ValidationError("'\(wrong)' is no setting; write key=value")
        }
    }

    func request() throws -> (String, [String: JSON]) {
        var node = JSON.object(["name": .string(name), "type": .string(type)])
        for setting in settings {
            let parts = setting.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = JSON(SettingValue(argument: String(parts[1])))
            node.place(value, at: parts[0].split(separator: ".").map(String.init)[...])
        }
        return ("add", ["node": node].merging(into.map { ["into": .string($0)] } ?? [:]) { $1 })
    }
}

extension JSON {
    /// Sets what a path of keys leads to.
    fileprivate mutating func place(_ value: JSON, at path: ArraySlice<String>) {
        guard let key = path.first else { return self = value }
        var fields = fields
        fields[key, default: .object([:])].place(value, at: path.dropFirst())
        self = .object(fields)
    }
}

/// `ctl remove`: a node and its links.
struct RemoveCall: ChangeCall {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a node and its links.",
        discussion: """
            Examples:
              voicegraph ctl remove echo
            """)

    @ParentCommand var parent: ControlCommand
    @OptionGroup var target: ControlOptions
    @Argument(help: "The node's name.", completion: .liveNodes) var node: String

    func request() -> (String, [String: JSON]) { ("remove", ["node": .string(node)]) }
}

/// `ctl link`: new links, or the gain of those that there are.
struct LinkCall: ChangeCall {
    static let configuration = CommandConfiguration(
        commandName: "link",
        abstract: "Add links, written as in a file: \"a -> b.in_2 -> c\", or give links another gain.",
        discussion: """
            Examples:
              voicegraph ctl link "tts -> echo -> speakers"
              voicegraph ctl link "mic -> out.in_2" --gain-db -6
            """)

    @ParentCommand var parent: ControlCommand
    @OptionGroup var target: ControlOptions
    @Option(parsing: .unconditional, help: ArgumentHelp("Gain of the links in dB.", valueName: "dB"))
    var gainDb: Double?
    @Argument(help: "The links.") var link: String

    func request() -> (String, [String: JSON]) {
        ("link", ["link": .string(link)].merging(gainDb.map { ["gain_db": .number($0)] } ?? [:]) { $1 })
    }
}

/// `ctl unlink`: links that end.
struct UnlinkCall: ChangeCall {
    static let configuration = CommandConfiguration(
        commandName: "unlink", abstract: "Remove links, written as in a file.",
        discussion: """
            Examples:
              voicegraph ctl unlink "tts -> echo"
            """)

    @ParentCommand var parent: ControlCommand
    @OptionGroup var target: ControlOptions
    @Argument(help: "The links.") var link: String

    func request() -> (String, [String: JSON]) { ("unlink", ["link": .string(link)]) }
}

/// On or off.
enum Switch: String, ExpressibleByArgument, CaseIterable { case on, off }

/// `ctl bypass`: lets through what goes into a node.
struct BypassCall: ChangeCall {
    static let configuration = CommandConfiguration(
        commandName: "bypass", abstract: "Let through what goes into a node in place of what comes out.",
        discussion: """
            Examples:
              voicegraph ctl bypass low
              voicegraph ctl bypass low off
            """)

    @ParentCommand var parent: ControlCommand
    @OptionGroup var target: ControlOptions
    @Argument(help: "The node's name.", completion: .liveNodes) var node: String
    @Argument(help: "on, or off: the node again.") var state = Switch.on

    func request() -> (String, [String: JSON]) { ("bypass", ["node": .string(node), "on": .bool(state == .on)]) }
}

/// `ctl mute`: silences a node.
struct MuteCall: ChangeCall {
    static let configuration = CommandConfiguration(
        commandName: "mute", abstract: "Silence a node; it runs on.",
        discussion: """
            Examples:
              voicegraph ctl mute mic
              voicegraph ctl mute mic off
            """)

    @ParentCommand var parent: ControlCommand
    @OptionGroup var target: ControlOptions
    @Argument(help: "The node's name.", completion: .liveNodes) var node: String
    @Argument(help: "on, or off: it is heard again.") var state = Switch.on

    func request() -> (String, [String: JSON]) { ("mute", ["node": .string(node), "on": .bool(state == .on)]) }
}

/// `ctl reload`: what the file says now.
struct ReloadCall: ChangeCall {
    static let configuration = CommandConfiguration(
        commandName: "reload", abstract: "Read the graph's file again, or another in its place.",
        discussion: """
            Nodes that are the same go on as they are. With a faulty file nothing changes.

            Examples:
              voicegraph ctl reload
              voicegraph ctl reload other.conf
            """)

    @ParentCommand var parent: ControlCommand
    @OptionGroup var target: ControlOptions
    @Argument(help: "Another file.", completion: .file(extensions: ["conf", "toml"])) var file: String?

    func request() -> (String, [String: JSON]) {
        // The host may run in another folder; on another machine it is a file of that one.
        ("reload", file.map { ["path": .string(host.ssh == nil ? absolute($0) : $0)] } ?? [:])
    }
}
