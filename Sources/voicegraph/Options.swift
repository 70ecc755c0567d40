// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Host

/// Where plugins are looked for.
struct PluginOptions: ParsableArguments {
    @Option(
        name: .customLong("plugin-path"),
        help: ArgumentHelp("A folder with plugins; may be given several times.", valueName: "folder"),
        completion: .directory)
    var folders: [String] = []

    /// A folder that cannot be read is told, not passed over.
    func search() throws -> PluginSearch {
        for folder in PluginSearch.missing(folders) {
            throw fail("--plugin-path: cannot read the folder \(folder)")
        }
        return .standard(extra: folders)
    }
}

/// A graph file, and what is changed in it.
struct GraphOptions: ParsableArguments {
    @Argument(help: "The graph file.", completion: .file(extensions: ["conf", "toml"]))
    var file: String

    @Option(
        name: .customLong("set"), help: ArgumentHelp("Change a setting: node.NAME.key=value.", valueName: "override"))
    var overrides: [String] = []

    @OptionGroup
    var plugins: PluginOptions
}
