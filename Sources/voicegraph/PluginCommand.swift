// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import Host

extension PluginTemplate.Language: ExpressibleByArgument {}

/// `voicegraph plugin`: help for those who write plugins.
struct PluginCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugin", abstract: "Write a plugin of your own.", subcommands: [New.self])

    /// `voicegraph plugin new NAME`: writes a package that builds as it is.
    struct New: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "new", abstract: "Write a package with a new node type, ready to build.")

        @Argument(help: "The node type: lower-case letters, digits and '-'.")
        var name: String

        @Option(help: "What to write it in: swift or c.")
        var language = PluginTemplate.Language.swift

        @Option(help: ArgumentHelp("The new folder (default: NAME).", valueName: "dir"), completion: .directory)
        var path: String?

        func validate() throws {
            guard isTypeName(name) else {
                throw ValidationError(
                    "\"\(name)\" cannot be a node type; use lower-case letters, digits and '-', a letter first")
            }
            if NodeRegistry(search: PluginSearch(folders: [])).fullCatalog().types[name] != nil {
                throw ValidationError("the node type \(name) is built in; choose another name")
            }
        }

        func run() throws {
            let folder = path ?? name
            if access(folder, F_OK) == 0 {
                throw fail("\(folder) is there already; choose another folder with --path")
            }
            let root = sourceFolder()
            let template = PluginTemplate(
                name: name, language: language, source: root ?? "../voicegraph",
                include: root.map { $0 + "/Sources/CNode/include" } ?? installedHeaders())
            for file in template.files { try write(file.text, to: folder + "/" + file.path) }
            var told = "Wrote \(folder):\n"
            for file in template.files where !file.path.hasPrefix(".") { told += "  \(file.path)\n" }
            let build = language == .swift ? ".build/release" : "."
            told += """

                Next:
                  cd \(folder)
                  \(language == .swift ? "swift build -c release" : "make")
                  voicegraph describe \(name) --plugin-path \(build)
                  voicegraph render example.conf -o out.wav --duration 2 --plugin-path \(build)

                """
            if root == nil, language == .swift {
                told += "\nSay in Package.swift where voicegraph's sources are; they are not beside this program.\n"
            }
            writeOut(told)
        }
    }
}

private func write(_ text: String, to path: String) throws {
    var folder = ""
    for part in path.split(separator: "/", omittingEmptySubsequences: false).dropLast() {
        folder += part + "/"
        if mkdir(folder, 0o755) != 0, errno != EEXIST {
            throw fail("cannot make \(folder): \(String(cString: strerror(errno)))")
        }
    }
    guard let file = fopen(path, "wx") else {
        throw fail("cannot write \(path): \(String(cString: strerror(errno)))")
    }
    let complete = fputs(text, file) >= 0
    guard fclose(file) == 0, complete else {
        throw fail("cannot write \(path): \(String(cString: strerror(errno)))")
    }
}

/// The package that this program was built in, if it is still there.
private func sourceFolder() -> String? {
    var folder = ownExecutable()
    while let slash = folder.lastIndex(of: "/"), slash != folder.startIndex {
        folder = String(folder[..<slash])
        if access(folder + "/Sources/CNode/include/voicegraph/node.h", R_OK) == 0 { return folder }
    }
    return nil
}

private func installedHeaders() -> String {
    ownExecutable().split(separator: "/").dropLast(2).map { "/" + $0 }.joined() + "/include"
}
