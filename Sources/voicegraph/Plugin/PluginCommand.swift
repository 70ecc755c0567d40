// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import Host
import System

extension PluginTemplate.Language: ExpressibleByArgument {}

/// `voicegraph plugin`: help for those who write plugins.
struct PluginCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugin", abstract: "Write a plugin of your own.",
        discussion: """
            Examples:
              voicegraph plugin new sparkle
              voicegraph plugin check .build/release/libvg-sparkle.so
            """, subcommands: [New.self, CheckPluginCommand.self])

    /// `voicegraph plugin new NAME`: writes a package that builds as it is.
    struct New: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "new", abstract: "Write a package with a new node type, ready to build.",
            discussion: """
                Examples:
                  voicegraph plugin new sparkle
                  voicegraph plugin new crackle --language c --path ~/crackle
                """)

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
            guard let kit = kitFolder() else {
                throw fail(
                    "NodeKit is not beside this program; install voicegraph with `make install`, or libvoicegraph-dev")
            }
            let template = PluginTemplate(name: name, language: language, kit: kit)
            do {
                for file in template.files { try write(file.text, to: folder + "/" + file.path) }
            } catch {
                removeFolder(folder)
                throw error
            }
            var told = "Wrote \(folder):\n"
            for file in template.files where !file.path.hasPrefix(".") { told += "  \(file.path)\n" }
            let build = language == .swift ? ".build/release" : "."
            told += """

                Next:
                  cd \(folder)
                  \(language == .swift ? "swift build -c release" : "make")
                  voicegraph plugin check \(build)/libvg-\(name).so
                  voicegraph describe \(name) --plugin-path \(build)
                  voicegraph render example.conf -o out.wav --duration 2 --plugin-path \(build)

                """
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
    try writeWhole(Array(text.utf8), to: path)
}

/// The package NodeKit: of the prefix that this program is installed in, or of the checkout that it was built in.
private func kitFolder() -> String? {
    guard let executable = realpath("/proc/self/exe", nil) else { return nil }
    defer { free(executable) }
    var folder = String(cString: executable)
    while let slash = folder.lastIndex(of: "/"), slash != folder.startIndex {
        folder = String(folder[..<slash])
        for kit in [folder + "/share/voicegraph/NodeKit", folder + "/NodeKit"]
        where access(kit + "/Package.swift", R_OK) == 0 { return kit }
    }
    return nil
}
