// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import GraphFile
import Host
import Isolation
import LV2
import System

/// Where plugins are looked for.
struct PluginOptions: ParsableArguments {
    @Option(
        name: .customLong("plugin-path"),
        help: ArgumentHelp("A folder with plugins; may be given several times.", valueName: "folder"),
        completion: .directory)
    var folders: [String] = []

    /// A folder that cannot be read is told, not passed over. What is found is tried before it is opened, or read; what came
    /// of that is kept, unless nothing is to be written.
    func search(keeps: Bool = true) throws -> PluginSearch {
        usePluginTrial()
        useDataTrial(cache: keeps ? cachePath("lv2-scan") : nil)
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
        name: .customLong("set"),
        help: ArgumentHelp(
            "Change a setting: \(enumerated(FileTables().overrides, "or")).", valueName: "override"))
    var overrides: [String] = []

    @OptionGroup
    var plugins: PluginOptions

    /// Nodes may live in processes of their own from here on.
    func validate() throws { useIsolation() }
}

/// What `--json`, which is short for `--format json`, and `--format` say together; they must not disagree.
func chosenFormat<Format: RawRepresentable<String> & Equatable>(
    _ format: Format?, json: Bool, _ jsonFormat: Format, otherwise: Format
) throws -> Format {
    guard json else { return format ?? otherwise }
    if let format, format != jsonFormat {
        throw ValidationError("give --json or --format \(format.rawValue), not both")
    }
    return jsonFormat
}

/// Whether LV2 plugins are tried before they may run.
struct TrustOptions: ParsableArguments {
    @Flag(help: "Run LV2 plugins without having tried them in a process of their own.")
    var trust = false

    /// Lets this program try plugins, unless they are trusted.
    func apply() {
        if !trust { useScan() }
    }
}

/// From now on this program tries LV2 plugins, with itself as the child.
func useScan() {
    PluginScan.shared.use([ownExecutable(), "lv2", "scan-child"], cache: cachePath("lv2-scan"))
}

/// From now on this program lets a child read the data of LV2 plugins before it does.
func useDataTrial(cache: String?) {
    PluginScan.shared.useForData([ownExecutable(), "lv2", "scan-child"], cache: cache)
}

/// From now on this program can isolate nodes, with itself as the child.
func useIsolation() {
    let policy = IsolationPolicy(command: [ownExecutable(), "isolated-child"])
    Isolation.shared.use(policy)
}

/// From now on this program tries plugins that are not its own before it opens them, with itself as the child.
func usePluginTrial() { PluginTrial.use([ownExecutable(), "plugin-trial"]) }
