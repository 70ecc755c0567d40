// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Control
import Glibc
import Host
import JSON
import System
import Terminal

/// `ctl save`: the graph as a file, or what plugins hold.
struct SaveCall: ControlCall {
    static let configuration = CommandConfiguration(
        commandName: "save", abstract: "Write the graph that plays into a file; without a file, save plugins' states.",
        discussion: """
            The file loads to the graph as it plays: nodes, links, and what parameters are set to. What the graph's own \
            file says in the same words stays as it is there, comments too. A file that is there is only written over \
            with --force, unless it is the graph's own; - is standard output.

            Without FILE every plugin is saved into the folder that its node names with state.

            Examples:
              voicegraph ctl save evening.conf
              voicegraph ctl save -
            """)

    @ParentCommand var parent: ControlCommand
    @OptionGroup var target: ControlOptions
    @Flag(help: "Write over a file that is there.") var force = false
    @Argument(help: "The file to write.", completion: .file(extensions: ["conf", "toml"])) var file: String?

    func validate() throws {
        if file == "" { throw ValidationError("the file needs a name") }
        if force, file == nil { throw ValidationError("--force is about a file; name one") }
    }

    func request() -> (String, [String: JSON]) {
        guard let file else { return ("save", [:]) }
        // Relative paths in it start where it lies.
        return ("file", file == "-" ? [:] : ["folder": .string(folderOf(absolute(file)))])
    }

    func run() throws {
        let (call, fields) = request()
        let answer = try ask(host, call, fields, json: json)
        guard let file else { return json ? () : saved(answer["saved"]?.items.compactMap(\.string) ?? []) }
        let text = answer["text"]?.string ?? ""
        if file == "-" { return json ? () : { _ = writeOut(text) }() }
        if !force, access(file, F_OK) == 0, !(host.ssh == nil && isSame(file, answer["path"]?.string)) {
            throw fail("\(Fault("there is a file \(file) already", hint: "--force writes over it"))")
        }
        try writeWhole(Array(text.utf8), to: file)
        if !json { writeOut("saved as \(printable(file))\n") }
    }

    private func saved(_ names: [String]) {
        writeOut(
            names.isEmpty
                ? "no node has something to keep and says where\n"
                : "saved \(printable(names.joined(separator: ", ")))\n")
    }

    private func isSame(_ file: String, _ other: String?) -> Bool {
        guard let other else { return false }
        var (one, two) = (stat(), stat())
        return stat(file, &one) == 0 && stat(other, &two) == 0 && one.st_dev == two.st_dev && one.st_ino == two.st_ino
    }
}

private func folderOf(_ path: String) -> String {
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
    return folder.isEmpty ? "/" : folder
}

/// A change that was taken back, or done again.
protocol HistoryCall: ChangeCall {
    /// What was done to the step, for people.
    static var verb: String { get }
}

extension HistoryCall {
    func text(_ answer: JSON) -> String {
        "\(Self.verb): \(printable(answer["step"]?.string ?? ""))\n" + changed(answer)
    }
}

/// `ctl undo`: takes back the last change.
struct UndoCall: HistoryCall {
    static let verb = "taken back"
    static let configuration = CommandConfiguration(
        commandName: "undo", abstract: "Take back the last change of the graph or of a parameter.",
        discussion: """
            Nodes, links, bypass, mute, reloads and what was turned can be taken back, the last hundred of them. A \
            parameter that is turned again within a second counts once.

            Examples:
              voicegraph ctl undo
            """)

    @ParentCommand var parent: ControlCommand
    @OptionGroup var target: ControlOptions

    func request() -> (String, [String: JSON]) { ("undo", [:]) }
}

/// `ctl redo`: does again what was taken back.
struct RedoCall: HistoryCall {
    static let verb = "done again"
    static let configuration = CommandConfiguration(
        commandName: "redo", abstract: "Do again what undo took back last.",
        discussion: """
            Until something else is changed.

            Examples:
              voicegraph ctl redo
            """)

    @ParentCommand var parent: ControlCommand
    @OptionGroup var target: ControlOptions

    func request() -> (String, [String: JSON]) { ("redo", [:]) }
}
